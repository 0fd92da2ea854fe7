"""A clock that jumps while workers walk messages in: nothing waits for it, nothing doubles."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest

from actors.extractor_threads import ThreadedExtractor
from actors.fakes import FakeCalls, FakeCompressor, FakeEmbedder, FakeExtractor, FakeTokenizer
from actors.records import Records, open_records
from pipeline.messages import MessageState, NewMessage, Role, Scope, TenantId
from serve.ingest import IngestWorker
from serve.inline import InlineModels
from serve.walk import Walk, WalkSettings

WORKERS = 4
SCOPES = [Scope(tenant=TenantId(f"t{n % 3}"), collection=f"life-{n}") for n in range(9)]
TTL_S, IDLE_S = 1.0, 2.0
HOUR = timedelta(hours=1)
JUMPS = [timedelta(minutes=10), -HOUR, 3 * HOUR, -HOUR, -2 * HOUR, timedelta(seconds=2)]
"""Past a lease, an hour back, and so on: between any two of them some more is said."""

pytestmark = [pytest.mark.slow]


class JumpingClock:
    """A clock that goes on from wherever it was put."""

    def __init__(self) -> None:
        self._offset = datetime(2025, 6, 1, 12, tzinfo=UTC) - datetime.fromtimestamp(0, UTC)

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.monotonic(), UTC) + self._offset

    def jump(self, by: timedelta) -> None:
        self._offset += by


class NoIndex:
    """An index that is followed by nobody."""

    async def follow(self) -> None:
        return None


@pytest.fixture
def stores(records_url: str) -> Iterator[list[Records]]:
    """The record store as each worker opens it, and as the acceptance does."""
    with ExitStack() as stack:
        found = [open_records(records_url) for _ in range(WORKERS + 1)]
        for each in found:
            stack.callback(each.close)
        for scope in SCOPES:
            found[0].tenants.ensure_tenant(scope.tenant, JumpingClock().now())
        yield found


def worker(number: int, records: Records, clock: JumpingClock) -> IngestWorker:
    calls = FakeCalls(delay_s=0.02)
    models = InlineModels(
        embedder=FakeEmbedder(calls=calls),
        compressor=FakeCompressor(calls=calls),
        max_similarity=0.5,
    )
    settings = WalkSettings(
        compress=True, rate=0.6, window_tokens=10, shortterm_tokens=10, model="fake"
    )
    tokenizer = FakeTokenizer()
    extractor = ThreadedExtractor(FakeExtractor(calls=calls), threads=4)
    walk = Walk(models=models, extractor=extractor, tokenizer=tokenizer, settings=settings)
    return IngestWorker(
        name=f"w-{number}",
        store=records.awake,
        walk=walk,
        clock=clock,
        follow_index=NoIndex(),
        leases=2,
        messages=20,
        step_s=0.2,
        ttl_s=TTL_S,
        idle_s=IDLE_S,
        poll_s=0.02,
        attempts=5,
    )


def say(records: Records, clock: JumpingClock, part: int) -> None:
    for scope in SCOPES:
        batch = [
            NewMessage(
                conversation="talk",
                role=Role.USER,
                speaker="Mara",
                content=f"第{part}次，她的相机 {scope.collection} has number {part}{n}.",
                said_at=datetime(2025, 3, 1, part, n, tzinfo=UTC),
            )
            for n in range(5)
        ]
        records.messages.accept(scope, batch, now=clock.now())


def pending(records: Records) -> int:
    return sum(records.messages.collection(scope).pending for scope in SCOPES)


async def walk_in(stores: list[Records], clock: JumpingClock) -> None:
    """All is said and, by idleness alone, extracted; the clock jumps between the parts."""
    front, *others = stores
    workers = [worker(number, each, clock) for number, each in enumerate(others)]
    tasks = [asyncio.create_task(each.run()) for each in workers]
    for part, jump in enumerate(JUMPS):
        await asyncio.to_thread(say, front, clock, part)
        # A worker that dies now holds a lease that must run out all the same.
        await asyncio.to_thread(
            front.awake.lease,
            f"dead-{part}",
            limit=1,
            now=clock.now(),
            ttl_s=TTL_S,
            idle_s=IDLE_S,
        )
        await asyncio.sleep(0.3)
        clock.jump(jump)
        await asyncio.sleep(0.3)
    while await asyncio.to_thread(pending, front):
        assert not any(task.done() for task in tasks)
        await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_a_clock_that_jumps_hangs_nothing_and_doubles_nothing(stores: list[Records]) -> None:
    clock = JumpingClock()

    asyncio.run(asyncio.wait_for(walk_in(stores, clock), timeout=60))

    for scope in SCOPES:
        said = stores[0].messages.messages(scope)
        entries = stores[0].entries.entries(scope).entries
        assert [message.sequence for message in said] == list(range(1, len(JUMPS) * 5 + 1))
        assert {message.state for message in said} == {MessageState.EXTRACTED}
        assert [entry.text for entry in entries] == [message.content for message in said]
        assert [entry.sources for entry in entries] == [(message.id,) for message in said]
