"""A whole service in one process: real SQLite, real Qdrant engine, fake models."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from actors.extractive import ExtractiveSummariser
from actors.fakes import FakeAttention, FakeCompressor, FakeEmbedder, FakeTokenizer, FixedClock
from actors.index_edge import EdgeIndex
from actors.records import Records, migrate, open_records
from pipeline.messages import TenantId
from pipeline.settings import LimitSettings, RecallSettings
from pipeline.state import SleepRun
from serve.index import InlineIndex
from serve.ingest import IngestWorker, Walk, WalkSettings
from serve.ingress.api import build_api
from serve.inline import InlineModels
from serve.service import Access, Memory
from serve.sleeping import Sleep

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


class NoRunner:
    """Closes a run at once: consolidation itself is tested on Ray."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def run(self, run: SleepRun, *, collection: str | None) -> None:
        self._records.sleep.close_run(
            run.tenant, run.id, status="completed", totals={"targets": 0}, error=None, now=NOW
        )


@dataclass
class House:
    """The parts of one service in this process."""

    client: TestClient
    records: Records
    worker: IngestWorker

    def work(self) -> None:
        """Ingest rounds until nothing is due."""
        while asyncio.run(self.worker.round()):
            pass


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    url = f"sqlite:///{tmp_path / 'records.sqlite'}"
    migrate(url)
    records = open_records(url)
    records.tenants.ensure_tenant(TenantId("default"), now=NOW)
    embedder, tokenizer, clock = FakeEmbedder(), FakeTokenizer(), FixedClock(NOW)
    edge = EdgeIndex(tmp_path / "index", dim=embedder.dim)
    index = InlineIndex(edge, records.outbox)
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
        access=Access(keys_required=False, default_tenant=TenantId("default")),
        recall=RecallSettings(),
    )
    sleep = Sleep(store=records.sleep, runner=NoRunner(records), index=index, clock=clock)
    settings = WalkSettings(
        compress=True,
        rate=0.6,
        window_tokens=60,
        shortterm_tokens=60,
        model=embedder.model,
    )
    extractor = ExtractiveSummariser(tokenizer=tokenizer, max_entry_tokens=200)
    walk = Walk(models=models, extractor=extractor, tokenizer=tokenizer, settings=settings)
    worker = IngestWorker(
        name="w",
        store=records.awake,
        walk=walk,
        clock=clock,
        follow_index=index,
        leases=8,
        messages=100,
        ttl_s=60,
        idle_s=3600,
        poll_s=0.01,
    )
    api = build_api(memory, sleep, limits=LimitSettings(batch_messages=50, message_chars=100_000))
    with TestClient(api) as client:
        yield House(client=client, records=records, worker=worker)
    edge.close()
