"""A whole service in one process: real SQLite, real Qdrant engine, fake models."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from postgres_server import Database

from actors.extractive import ExtractiveSummariser
from actors.extractor_threads import ThreadedExtractor
from actors.fakes import (
    FakeAttention,
    FakeCompressor,
    FakeEmbedder,
    FakeTokenizer,
    FixedClock,
    ScriptedChat,
)
from actors.index_edge import EdgeIndex
from actors.records import Records, migrate, open_records
from pipeline.entries import Delete
from pipeline.messages import TenantId
from pipeline.runs import LedgerItem, SleepRun, Snapshot, Weighed
from pipeline.settings import (
    ForgettingSettings,
    LimitSettings,
    RecallSettings,
    ScratchpadSettings,
)
from pipeline.tenancy import KeyScope
from serve.gate import Access
from serve.index import InlineIndex
from serve.ingest import IngestWorker
from serve.ingress.api import build_api
from serve.inline import InlineModels
from serve.lifecycle import EmbeddingModel, Lifecycle
from serve.service import Memory
from serve.sleep_after import AfterParts, Tender, to_tend
from serve.sleep_limits import Limits
from serve.sleep_stages import RunPlan
from serve.sleeping import Runner, Sleep
from serve.walk import Walk, WalkSettings

BOSS = "sw_operators-key-of-the-tests-0123456789"
NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


class NoRunner:
    """Closes a run at once: consolidation itself is tested on Ray."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def run(self, plans: Sequence[RunPlan]) -> None:
        for run in (plan.run for plan in plans):
            self._records.sleep.close_run(
                run.tenant, run.id, status="completed", totals={"targets": 0}, error=None, now=NOW
            )


class TinyRunner:
    """Consolidates without Ray: in every due collection the newest entry is the end of the oldest.

    A preview records the same decisions and applies none.
    """

    def __init__(self, records: Records) -> None:
        self._records = records

    async def run(self, plans: Sequence[RunPlan]) -> None:
        for run in (plan.run for plan in plans):
            await asyncio.to_thread(self._run, run, run.options.collection)

    def _run(self, run: SleepRun, collection: str | None) -> None:
        sleep = self._records.sleep
        for due in sleep.due(run.tenant, collection=collection):
            seen = sleep.snapshot(due.scope, model=FakeEmbedder().model)
            if len(seen.entries) > 1:
                self._record(run, seen)
        self._tend(run, collection)
        sleep.close_run(
            run.tenant, run.id, status="completed", totals={"targets": 1}, error=None, now=NOW
        )

    def _tend(self, run: SleepRun, collection: str | None) -> None:
        clock = FixedClock(NOW)
        parts = AfterParts(
            open_store=lambda: self._records.tending,
            open_tokenizer=FakeTokenizer,
            open_clock=lambda: clock,
            scratchpad=ScratchpadSettings(),
            forgetting=ForgettingSettings(),
        )
        limits = Limits({run.tenant: run}, store=self._records.sleep, clock=clock)
        tender = Tender(parts, limits)
        for one in to_tend(run, parts, collection=collection):
            tender.tend(run, one.scope)

    def _record(self, run: SleepRun, seen: Snapshot) -> None:
        target, newer = seen.entries[0], seen.entries[-1]
        decision = Delete(superseded_by=newer.id, reason=f"replaced by {newer.text}")
        item = LedgerItem(
            target=target.id,
            target_version=target.version,
            candidates=(Weighed(entry=newer.id, version=newer.version, similarity=0.9),),
            decision=decision,
            decider="tiny",
        )
        sleep, model = self._records.sleep, FakeEmbedder().model
        scope, through = seen.scope, seen.through
        sleep.cache_decisions({target.id: decision}, scope=scope, through=through, now=NOW)
        sleep.record(
            run.id, scope, [item], through=through, model=model, dry_run=run.dry_run, now=NOW
        )


@dataclass
class House:
    """The parts of one service in this process."""

    client: TestClient
    records: Records
    worker: IngestWorker
    home: Path
    clock: FixedClock
    embedder: FakeEmbedder
    edge: EdgeIndex
    memory: Memory

    def work(self) -> None:
        """Ingest rounds until nothing is due."""
        while asyncio.run(self.worker.round()):
            pass


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """The local profile: who has no key is the default tenant."""
    yield from _houses(tmp_path, keys_required=False)


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[House]:
    """A service that asks everybody for a key; the operator's is ``BOSS``."""
    for house in _houses(tmp_path, keys_required=True):
        house.records.keys.add(TenantId("default"), BOSS, scopes=list(KeyScope), now=NOW)
        yield house


@pytest.fixture
def each_closed(tmp_path: Path, database: Database) -> Iterator[House]:
    """As ``closed``, over SQLite and, where one is named, PostgreSQL; its nights write ledgers."""
    houses = _houses(tmp_path, keys_required=True, database=database, runner=TinyRunner)
    for house in houses:
        house.records.keys.add(TenantId("default"), BOSS, scopes=list(KeyScope), now=NOW)
        yield house


def _houses(
    tmp_path: Path,
    *,
    keys_required: bool,
    database: Database | None = None,
    runner: Callable[[Records], Runner] = NoRunner,
) -> Iterator[House]:
    place = database or Database(url=f"sqlite:///{tmp_path / 'records.sqlite'}")
    migrate(place.url, owner=place.owner)
    records = open_records(place.url)
    records.tenants.ensure_tenant(TenantId("default"), now=NOW)
    embedder, tokenizer, clock = FakeEmbedder(), FakeTokenizer(), FixedClock(NOW)
    edge = EdgeIndex(tmp_path / "index", dim=embedder.dim)
    index = InlineIndex(edge, records.outbox, records.index_source)
    models = InlineModels(
        embedder=embedder,
        compressor=FakeCompressor(),
        attention=FakeAttention(),
        max_similarity=0.5,
    )
    memory = Memory(
        records=records,
        index=index,
        models=models,
        model=embedder.model,
        tokenizer=tokenizer,
        clock=clock,
        access=Access(keys_required=keys_required, default_tenant=TenantId("default")),
        recall=RecallSettings(),
        chat=ScriptedChat("So it was said [1]."),
    )
    sleep = Sleep(
        store=records.sleep,
        schedules=records.schedules,
        runner=runner(records),
        index=index,
        clock=clock,
    )
    worker = _worker(records, models, clock=clock, index=index)
    lifecycle = Lifecycle(
        records=records,
        index=index,
        model=EmbeddingModel(name=embedder.model, width=embedder.dim),
        clock=clock,
    )
    limits = LimitSettings(batch_messages=50, message_chars=100_000, body_bytes=2_000_000)
    api = build_api(memory, sleep, lifecycle, limits=limits)
    with TestClient(api) as client:
        yield House(
            client=client,
            records=records,
            worker=worker,
            home=tmp_path,
            clock=clock,
            embedder=embedder,
            edge=edge,
            memory=memory,
        )
    edge.close()
    records.close()


def _worker(
    records: Records, models: InlineModels, *, clock: FixedClock, index: InlineIndex
) -> IngestWorker:
    tokenizer = FakeTokenizer()
    settings = WalkSettings(
        compress=True,
        rate=0.6,
        window_tokens=60,
        shortterm_tokens=60,
        model=FakeEmbedder().model,
    )
    extractor = ThreadedExtractor(ExtractiveSummariser(tokenizer=tokenizer), threads=4)
    walk = Walk(models=models, extractor=extractor, tokenizer=tokenizer, settings=settings)
    return IngestWorker(
        name="w",
        store=records.awake,
        walk=walk,
        clock=clock,
        follow_index=index,
        leases=8,
        messages=100,
        step_s=10,
        ttl_s=60,
        idle_s=3600,
        poll_s=0.01,
        attempts=3,
    )
