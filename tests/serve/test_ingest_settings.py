"""Settings of a collection through worker and record store."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from noting import Noting, walk_with

from actors.fakes import (
    FakeExtractor,
    FixedClock,
)
from actors.records import Records, open_records
from pipeline.awake.shortterm import Granularity, Trigger
from pipeline.messages import Json, NewMessage, Role, Scope, TenantId
from serve.ingest import IngestWorker

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
MARA = Scope(tenant=TenantId("t"), collection="mara")
LIN = Scope(tenant=TenantId("t"), collection="lin")


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    stores = open_records(f"sqlite:///{tmp_path}/records.db")
    stores.tenants.ensure_tenant(TenantId("t"), NOON)
    yield stores
    stores.close()


class NoIndex:
    """An index that is followed by nobody."""

    async def follow(self) -> None:
        return None


def worker(records: Records, extractor: FakeExtractor, *, messages: int = 100) -> IngestWorker:
    return IngestWorker(
        name="w",
        store=records.awake,
        walk=walk_with(extractor),
        clock=FixedClock(NOON),
        follow_index=NoIndex(),
        leases=8,
        messages=messages,
        step_s=10,
        ttl_s=60,
        idle_s=3600,
        poll_s=0.01,
        attempts=3,
    )


def accept(records: Records, *rows: tuple[Role, str]) -> None:
    batch = [
        NewMessage(conversation="c", role=role, speaker=role.value, content=text, said_at=NOON)
        for role, text in rows
    ]
    records.messages.accept(MARA, batch, now=NOON)


def work(ingest: IngestWorker) -> None:
    async def run() -> None:
        for _ in range(100):
            if not await ingest.round():
                return
        raise AssertionError("it goes on for ever")

    asyncio.run(run())


def own(records: Records, settings: Mapping[str, Json]) -> None:
    records.messages.change_settings(MARA, lambda _before: settings, now=NOON)


CHANGES: list[dict[str, Json]] = [
    {},
    {"granularity": "turn"},
    {"granularity": "conversation", "triggers": ["flush"]},
    {"triggers": ["turns"], "turns": 2},
    {"roles": ["user"], "window_tokens": 5},
    {"triggers": ["topic_shift"], "short_term_tokens": 3},
]


@given(order=st.permutations(range(len(CHANGES))), sizes=st.lists(st.integers(1, 7), min_size=6))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_settings_that_change_between_steps_lose_and_double_nothing(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], sizes: list[int]
) -> None:
    records = open_records(f"sqlite:///{tmp_path_factory.mktemp('r')}/records.db")
    records.tenants.ensure_tenant(TenantId("t"), NOON)
    ingest = worker(records, FakeExtractor(), messages=3)
    number = 0

    for place, size in zip(order, sizes, strict=False):
        own(records, CHANGES[place])
        rows = []
        for _ in range(size):
            number += 1
            rows.append((Role.USER if number % 3 else Role.ASSISTANT, f"Word {number} 第{number}"))
        accept(records, *rows)
        work(ingest)
    own(records, {})
    records.messages.request_flush(MARA)
    work(ingest)

    info = records.messages.collection(MARA)
    assert (info.pending, info.quarantined, info.messages) == (0, 0, number)
    sources = [
        source for entry in records.entries.entries(MARA).entries for source in entry.sources
    ]
    assert len(sources) == len(set(sources))
    users = {each.id for each in records.messages.messages(MARA) if each.role is Role.USER}
    assert users <= set(sources)
    records.close()


def test_messages_of_unused_roles_are_done_at_once_and_stay_to_be_read(records: Records) -> None:
    own(records, {"roles": ["user"]})
    accept(records, (Role.ASSISTANT, "How can I help?"), (Role.ASSISTANT, "请问?"))

    work(worker(records, extractor := Noting()))

    assert records.messages.collection(MARA).pending == 0
    assert extractor.batches == []
    assert [each.content for each in records.messages.messages(MARA)] == [
        "How can I help?",
        "请问?",
    ]


def test_a_buffer_that_no_trigger_empties_leaves_when_it_holds_too_much(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.records.awake_load.MOST_BUFFERED", 10)
    own(records, {"triggers": ["flush"], "granularity": "turn"})
    ingest = worker(records, extractor := Noting(), messages=4)
    for number in range(30):
        accept(records, (Role.USER, f"Word {number}."))
        work(ingest)

    read = [each.sequence for batch in extractor.batches for each in batch.messages]
    assert read == list(range(1, len(read) + 1))
    assert records.messages.collection(MARA).pending <= 13

    records.messages.request_flush(MARA)
    work(ingest)

    info = records.messages.collection(MARA)
    assert (info.pending, info.flushed) == (0, 30)


TURNS = {
    "pairs": [(Role.USER, "I have a cat."), (Role.ASSISTANT, "Nice.")] * 3,
    "odd": [(Role.USER, "I have a cat."), (Role.ASSISTANT, "Nice."), (Role.USER, "我住在杭州。")],
    "two users in a row": [(Role.USER, "I like tea."), (Role.USER, "I live in Oslo.")] * 2,
    "assistant first": [(Role.ASSISTANT, "Hello!"), (Role.USER, "I like tea.")] * 2,
    "nearly nothing": [(Role.USER, "."), (Role.USER, "…"), (Role.USER, "I like tea.")],
}


@pytest.mark.parametrize("talk", TURNS, ids=str)
@pytest.mark.parametrize("compression", [True, False])
@pytest.mark.parametrize("granularity", list(Granularity))
@pytest.mark.parametrize("roles", [["user"], ["user", "assistant"]], ids=str)
def test_every_combination_of_flags_stores_something(
    records: Records, talk: str, compression: bool, granularity: Granularity, roles: list[str]
) -> None:
    for trigger in Trigger:
        if trigger is Trigger.TOPIC_SHIFT and granularity is Granularity.TURN:
            continue
        scope_settings: dict[str, Json] = {
            "triggers": [trigger.value],
            "compression": compression,
            "granularity": granularity.value,
            "roles": roles,
        }
        if trigger is Trigger.TURNS:
            scope_settings["turns"] = 1
        own(records, scope_settings)
        accept(records, *TURNS[talk])
        records.messages.request_flush(MARA)
        work(worker(records, FakeExtractor()))

        info = records.messages.collection(MARA)
        assert (info.pending, info.quarantined) == (0, 0)
        assert records.entries.entries(MARA).entries
