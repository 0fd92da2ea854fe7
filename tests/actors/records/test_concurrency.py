"""Many workers and requests at once: disjoint leases, one order, no circle of waiting."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import numpy as np
import psycopg
import pytest

from actors.records import Records, open_records
from pipeline.entries import EntryChange, Kind, Statement
from pipeline.ids import EntryId
from pipeline.messages import NewMessage, Role, Scope, TenantId
from pipeline.state import AwakeCommit, Lease, StoredStatement

T = TypeVar("T")

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
OLA = Scope(tenant=TenantId("acme"), collection="ola")
EAST = np.array([1.0, 0.0], dtype=np.float32)


@pytest.fixture
def records(records_url: str) -> Iterator[Records]:
    stores = open_records(records_url)
    stores.tenants.ensure_tenant(OLA.tenant, NOON)
    yield stores
    stores.close()


def message(content: str, *, conversation: str = "c") -> NewMessage:
    return NewMessage(
        conversation=conversation, role=Role.USER, speaker="Ola", content=content, said_at=NOON
    )


def at_once(count: int, work: Callable[[int], T]) -> list[T]:
    """What ``work`` gives for 0..count-1, all begun at the same moment."""
    line = threading.Barrier(count)

    def begin(number: int) -> T:
        line.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def test_workers_that_lease_at_once_get_different_collections(records: Records) -> None:
    names = [f"c{number:02}" for number in range(40)]
    for name in names:
        records.messages.accept(Scope(tenant=OLA.tenant, collection=name), [message("x")], now=NOON)

    def lease_all(number: int) -> list[Lease]:
        found: list[Lease] = []
        while some := records.awake.lease(f"w{number}", limit=3, now=NOON, ttl_s=30, idle_s=60):
            found.extend(some)
        return found

    leased = [lease for found in at_once(8, lease_all) for lease in found]

    assert sorted(lease.scope.collection for lease in leased) == names
    assert {lease.epoch for lease in leased} == {1}


def test_sixteen_threads_fill_a_new_collection_without_a_gap(records: Records) -> None:
    def accept(number: int) -> list[tuple[int, str]]:
        found = []
        for turn in range(5):
            two = [message(f"{number} {turn} {part}", conversation=f"c{number}") for part in "ab"]
            reply = records.messages.accept(OLA, two, now=NOON)
            found.extend((accepted.sequence, accepted.content) for accepted in reply)
        return found

    replies = at_once(16, accept)

    stored = [(one.sequence, one.content) for one in records.messages.messages(OLA)]
    assert [sequence for sequence, _ in stored] == list(range(1, 161))
    assert sorted(pair for reply in replies for pair in reply) == stored
    assert all(reply == sorted(reply) for reply in replies)
    assert records.messages.collection(OLA).pending == 160


def test_parallel_requests_with_one_key_are_one_message(records: Records) -> None:
    def accept(_number: int) -> int:
        [accepted] = records.messages.accept(
            OLA, [message("yes")], now=NOON, idempotency_key="k", body_digest="d"
        )
        return accepted.sequence

    assert at_once(16, accept) == [1] * 16
    assert len(records.messages.messages(OLA)) == 1


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A collection with five entries."""

    records: Records
    ids: list[EntryId]


@pytest.fixture
def filled(records: Records) -> Filled:
    [said] = records.messages.accept(OLA, [message("five things")], now=NOON)
    [lease] = records.awake.lease("w", limit=1, now=NOON, ttl_s=30, idle_s=60)
    statements = [
        StoredStatement(
            id=EntryId(f"e{number}"),
            vector=EAST,
            statement=Statement(
                text=f"thing {number}",
                kind=Kind.FACT,
                speaker="Ola",
                said_at=NOON,
                zone="UTC",
                language="en",
                sources=(said.id,),
                sequence=said.sequence,
                ordinal=number,
            ),
        )
        for number in range(5)
    ]
    commit = AwakeCommit(start_step=0, model="m", statements=tuple(statements))
    assert records.awake.commit(lease, commit, now=NOON)
    return Filled(records=records, ids=[one.id for one in statements])


def test_readers_and_writers_of_the_same_entries_never_wait_in_a_circle(
    filled: Filled, records_url: str
) -> None:
    entries, ids = filled.records.entries, filled.ids
    before_all = deadlocks(records_url)

    def work(number: int) -> None:
        turned = ids if number % 2 else ids[::-1]
        for turn in range(6):
            now = NOON + timedelta(seconds=turn)
            entries.used(OLA, turned, now=now)
            mine = ids[number % len(ids)]
            if number < len(ids):  # one thread per entry corrects it
                _, before = entries.entry(OLA.tenant, mine)
                entries.revise(
                    OLA.tenant,
                    mine,
                    EntryChange(text=f"{before.text} {turn}"),
                    expected_version=before.version,
                    vector=EAST,
                    model="m",
                    why="corrected",
                    now=now,
                )
            filled.records.messages.accept(OLA, [message(f"{number} {turn}")], now=now)

    at_once(10, work)
    filled.records.close()

    assert deadlocks(records_url) == before_all
    after = open_records(records_url)
    found = [after.entries.entry(OLA.tenant, one)[1] for one in ids]
    after.close()
    assert [entry.version for entry in found] == [7] * 5
    assert {entry.strength for entry in found} == {5.0}


def deadlocks(url: str) -> int:
    """How many the database has seen; SQLite has one writer and knows none."""
    if not url.startswith("postgresql"):
        return 0
    with psycopg.connect(url) as connection:
        query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        found = connection.execute(query).fetchone()
    assert found is not None
    return int(found[0])
