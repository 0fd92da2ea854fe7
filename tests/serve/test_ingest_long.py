"""A long text holds up neither the collections it was leased with nor the next ones."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from actors.fakes import (
    FakeCompressor,
    FakeEmbedder,
    FakeExtractor,
    FakeTokenizer,
    FixedClock,
)
from actors.records import Records, migrate, open_records
from pipeline.messages import MessageState, NewMessage, Role, Scope, TenantId
from pipeline.state import Compressed
from serve.ingest import IngestWorker
from serve.inline import InlineModels
from serve.walk import Walk, WalkSettings

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
MARA = Scope(tenant=TenantId("t"), collection="mara")
LIN = Scope(tenant=TenantId("t"), collection="lin")
LONG = "long " * 15_000


class Gate(FakeCompressor):
    """Takes no long text through before it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = threading.Event()

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        if any(len(text) > 50_000 for text in texts):
            assert self.is_open.wait(timeout=30)
        return super().compress(texts, rate=rate)


class Breaks(FakeCompressor):
    """Fails in a way that nobody foresaw."""

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        raise ZeroDivisionError


class NoIndex:
    async def follow(self) -> None:
        return None


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    url = f"sqlite:///{tmp_path / 'records.sqlite'}"
    migrate(url)
    found = open_records(url)
    found.tenants.ensure_tenant(MARA.tenant, now=NOON)
    yield found
    found.close()


def worker(records: Records, compressor: FakeCompressor) -> IngestWorker:
    tokenizer = FakeTokenizer()
    walk = Walk(
        models=InlineModels(embedder=FakeEmbedder(), compressor=compressor, max_similarity=0.5),
        extractor=FakeExtractor(),
        tokenizer=tokenizer,
        settings=WalkSettings(
            compress=True, rate=0.5, window_tokens=10, shortterm_tokens=10, model="fake"
        ),
    )
    return IngestWorker(
        name="w",
        store=records.awake,
        walk=walk,
        clock=FixedClock(NOON),
        follow_index=NoIndex(),
        leases=8,
        messages=100,
        step_s=10,
        ttl_s=60,
        idle_s=3600,
        poll_s=0.01,
        attempts=3,
    )


def accept(records: Records, scope: Scope, text: str) -> None:
    said = NewMessage(conversation="c", role=Role.USER, speaker="Mara", content=text, said_at=NOON)
    records.messages.accept(scope, [said], now=NOON)


def waiting(records: Records, scope: Scope) -> int:
    """Messages of the collection that no step has taken."""
    found = records.messages.messages(scope, limit=100)
    return sum(message.state is MessageState.ACCEPTED for message in found)


async def walked_in(records: Records, scope: Scope) -> None:
    until = time.monotonic() + 30
    while await asyncio.to_thread(waiting, records, scope):
        assert time.monotonic() < until, f"{scope.collection} waits for ever"
        await asyncio.sleep(0.02)


def test_other_collections_are_walked_in_while_a_long_text_is_compressed(records: Records) -> None:
    gate = Gate()
    accept(records, MARA, LONG)
    accept(records, LIN, "first")

    async def run() -> list[int]:
        lane = asyncio.create_task(worker(records, gate).run())
        seen = []
        for text in ("second", "third"):
            await walked_in(records, LIN)
            seen.append(waiting(records, MARA))
            accept(records, LIN, text)
        await walked_in(records, LIN)
        gate.is_open.set()
        await walked_in(records, MARA)
        lane.cancel()
        await asyncio.wait([lane])
        return seen

    assert asyncio.run(run()) == [1, 1]


def test_a_round_alone_waits_for_its_long_texts(records: Records) -> None:
    accept(records, MARA, LONG)

    assert asyncio.run(worker(records, FakeCompressor()).round()) == 1
    assert waiting(records, MARA) == 0


def test_a_long_step_that_fails_unforeseen_ends_its_worker_and_gives_its_lease_back(
    records: Records,
) -> None:
    accept(records, MARA, LONG)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(asyncio.wait_for(worker(records, Breaks()).run(), timeout=30))

    [lease] = records.awake.lease("next", limit=1, now=NOON, ttl_s=60, idle_s=60)
    assert lease.scope == MARA
