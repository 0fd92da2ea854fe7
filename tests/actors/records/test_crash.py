"""What several processes write, and what a killed one leaves behind."""

import multiprocessing
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from actors.records import open_records
from pipeline.messages import NewMessage, Role, Scope, TenantId

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
OLA = Scope(tenant=TenantId("acme"), collection="ola")

ACCEPT_FOR_EVER = """
import sys
from datetime import UTC, datetime
from actors.records import open_records
from pipeline.messages import NewMessage, Role, Scope, TenantId

records = open_records(sys.argv[1])
scope = Scope(tenant=TenantId("acme"), collection="ola")
noon = datetime(2024, 3, 1, 12, tzinfo=UTC)
for n in range(1_000_000):
    message = NewMessage(
        conversation="c", role=Role.USER, speaker="Ola", content=f"message {n}", said_at=noon
    )
    [accepted] = records.messages.accept(scope, [message], now=noon)
    print(accepted.sequence, flush=True)
"""


@pytest.fixture
def url(records_url: str) -> str:
    records = open_records(records_url)
    records.tenants.ensure_tenant(OLA.tenant, NOON)
    records.close()
    return records_url


def accept_hundred(url: str, who: str) -> None:
    records = open_records(url)
    for n in range(100):
        message = NewMessage(
            conversation=who, role=Role.USER, speaker=who, content=f"{who} {n}", said_at=NOON
        )
        records.messages.accept(OLA, [message], now=NOON)
    records.close()


def lease_all(url: str, worker: str, leased: "multiprocessing.Queue[list[str]]") -> None:
    records = open_records(url)
    found = []
    for _ in range(10):
        some = records.awake.lease(worker, limit=2, now=NOON, ttl_s=30, idle_s=60)
        found.extend(lease.scope.collection for lease in some)
    records.close()
    leased.put(found)


def test_a_killed_process_loses_no_acknowledged_message(url: str) -> None:
    command = [sys.executable, "-c", ACCEPT_FOR_EVER, url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(30)]
        process.kill()
        acknowledged += [int(line) for line in process.stdout.read().splitlines()]

    records = open_records(url)
    stored = [message.sequence for message in records.messages.messages(OLA, limit=10_000)]
    [lease] = records.awake.lease("w", limit=1, now=NOON, ttl_s=30, idle_s=60)
    state = records.awake.load(lease, limit=10_000, now=NOON, idle_s=60)
    records.close()

    assert stored == list(range(1, len(stored) + 1))
    assert len(stored) >= acknowledged[-1] >= 30
    assert [message.sequence for message in state.accepted] == stored


def test_two_processes_write_two_hundred_messages_without_an_error(url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=accept_hundred, args=(url, who)) for who in ("a", "b")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    records = open_records(url)
    stored = records.messages.messages(OLA)
    records.close()
    assert [process.exitcode for process in processes] == [0, 0]
    assert [message.sequence for message in stored] == list(range(1, 201))


def test_a_killed_writer_leaves_the_other_writing(url: str) -> None:
    command = [sys.executable, "-c", ACCEPT_FOR_EVER, url]
    spawn = multiprocessing.get_context("spawn")
    other = spawn.Process(target=accept_hundred, args=(url, "b"))
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        acknowledged = [int(process.stdout.readline()) for _ in range(10)]
        other.start()
        acknowledged += [int(process.stdout.readline()) for _ in range(20)]
        process.kill()
        acknowledged += [int(line) for line in process.stdout.read().splitlines()]
    other.join()

    records = open_records(url)
    stored = records.messages.messages(OLA, limit=10_000)
    records.close()
    assert other.exitcode == 0
    assert [message.sequence for message in stored] == list(range(1, len(stored) + 1))
    assert [m.content for m in stored if m.conversation == "b"] == [f"b {n}" for n in range(100)]
    killed = {message.sequence for message in stored if message.conversation == "c"}
    assert killed >= set(acknowledged)


def test_processes_that_lease_at_once_never_share_a_collection(url: str) -> None:
    records = open_records(url)
    names = [f"c{n:02}" for n in range(30)]
    message = NewMessage(conversation="c", role=Role.USER, speaker="Ola", content="x", said_at=NOON)
    for name in names:
        scope = Scope(tenant=OLA.tenant, collection=name)
        records.messages.accept(scope, [message], now=NOON)
    records.close()

    spawn = multiprocessing.get_context("spawn")
    leased = spawn.Queue()
    processes = [spawn.Process(target=lease_all, args=(url, who, leased)) for who in "ab"]
    for process in processes:
        process.start()
    found = [name for _ in processes for name in leased.get(timeout=60)]
    for process in processes:
        process.join()
    leased.close()
    leased.join_thread()

    assert sorted(found) == names
