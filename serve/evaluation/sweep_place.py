"""A memory in this process for a sweep: real stores in a folder, models that work once on a text.

Cells of a sweep ask the models for the same texts again and again. They are answered from what is
known, and what that would have taken is counted, so a cell's time is as if it had been alone.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from actors.clock import SystemClock
from actors.index_edge import EdgeIndex
from actors.records import Records, migrate, open_records
from pipeline.awake.segment import Rule
from pipeline.extraction import Extraction, ExtractionOptions
from pipeline.messages import Batch, TenantId
from pipeline.ports import (
    AttentionModel,
    Compressor,
    Embedder,
    Extractor,
    Purpose,
    Tokenizer,
    Vectors,
)
from pipeline.settings import RecallSettings
from pipeline.state import Compressed
from serve.gate import Access
from serve.index import InlineIndex
from serve.ingest import IngestWorker
from serve.segmenting import Segmenting
from serve.service import Memory
from serve.walk import Walk, WalkSettings

TENANT = TenantId("sweep")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models of a sweep, in this process; ``compressor`` None where nothing is compressed."""

    embedder: Embedder
    compressor: Compressor | None
    tokenizer: Tokenizer
    extractor: Extractor
    attention: AttentionModel | None = None
    rule: Rule = Rule.SIMILARITY
    min_shift: float
    max_similarity: float


class Known:
    """Answers by text; ``lent_s`` grows by the seconds that each one took when it was new."""

    def __init__(self) -> None:
        self._answers: dict[tuple[Hashable, str], tuple[object, float]] = {}
        self.lent_s = 0.0

    def of(
        self, kind: Hashable, texts: Sequence[str], ask: Callable[[Sequence[str]], Sequence[T]]
    ) -> list[T]:
        """One answer per text; ``ask`` is called with the new ones."""
        fresh = list(dict.fromkeys(text for text in texts if (kind, text) not in self._answers))
        began = time.monotonic()
        answers = ask(fresh) if fresh else ()
        each_s = (time.monotonic() - began) / max(1, sum(len(text) + 1 for text in fresh))
        for text, found in zip(fresh, answers, strict=True):
            self._answers[kind, text] = (found, each_s * (len(text) + 1))
        new = set(fresh)
        self.lent_s += sum(self._answers[kind, text][1] for text in texts if text not in new)
        return [self._answers[kind, text][0] for text in texts]  # type: ignore[misc]  # by kind


class SweepModels:
    """Implements serve.models.AsyncModels over what is known."""

    def __init__(self, models: Models, known: Known) -> None:
        self._models = models
        self._known = known
        self._segmenting = Segmenting(
            embed=self.embed,
            attention=models.attention,
            rule=models.rule,
            min_shift=models.min_shift,
            max_similarity=models.max_similarity,
        )

    async def embed(
        self, texts: Sequence[str], *, purpose: Purpose, owners: Sequence[str] = ()
    ) -> Vectors:
        def ask(some: Sequence[str]) -> Sequence[Vectors]:
            return list(self._models.embedder.embed(some, purpose=purpose))

        rows = self._known.of(("embed", purpose), texts, ask)
        return np.stack(rows) if rows else np.zeros((0, self._models.embedder.dim), np.float32)

    async def compress(
        self, texts: Sequence[str], *, rate: float, owners: Sequence[str] = ()
    ) -> list[Compressed]:
        compressor = self._models.compressor
        if compressor is None:
            return [Compressed(text=text) for text in texts]
        return self._known.of(
            ("compress", rate), texts, lambda some: compressor.compress(some, rate=rate)
        )

    async def boundaries(
        self,
        windows: Sequence[Sequence[str]],
        *,
        owners: Sequence[str] = (),
        min_shift: float | None = None,
    ) -> list[list[int]]:
        return await self._segmenting.boundaries(windows, owners=owners, min_shift=min_shift)


class Meter:
    """An extractor that counts: calls, what they were given to read, and what they said.

    Where the extractor is a language model, calls and tokens are those its server counted. Else
    given is each batch's compressed text, said are its statements; both in tokens of the settings'
    tokenizer.
    """

    def __init__(self, extractor: Extractor, tokenizer: Tokenizer) -> None:
        self._extractor = extractor
        self._tokenizer = tokenizer
        self.calls = self.input_tokens = self.output_tokens = self.messages = 0

    @property
    def name(self) -> str:
        """The name of what it counts for."""
        return self._extractor.name

    async def extract(self, batch: Batch, *, options: ExtractionOptions) -> Extraction:
        """What the extractor makes of the batch."""
        found = await self._extractor.extract(batch, options=options)
        self.messages += len(batch.messages)
        if found.spent:
            self.calls += sum(each.calls for each in found.spent)
            self.input_tokens += sum(each.tokens_in for each in found.spent)
            self.output_tokens += sum(each.tokens_out for each in found.spent)
            return found
        self.calls += 1
        self.input_tokens += sum(self._tokenizer.count([_shown(batch)]))
        self.output_tokens += sum(self._tokenizer.count([each.text for each in found.statements]))
        return found


def _shown(batch: Batch) -> str:
    return "\n".join(
        each.content if each.compressed is None else each.compressed for each in batch.messages
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A memory and the one worker that fills it."""

    memory: Memory
    worker: IngestWorker
    records: Records
    known: Known
    meter: Meter


@contextmanager
def place(folder: Path, models: Models, settings: WalkSettings) -> Iterator[Place]:
    """A memory under the folder; closed afterwards."""
    url, clock, known = f"sqlite:///{folder / 'records.sqlite'}", SystemClock(), Known()
    migrate(url)
    records = open_records(url)
    records.tenants.ensure_tenant(TENANT, now=clock.now())
    edge = EdgeIndex(folder / "index", dim=models.embedder.dim)
    index = InlineIndex(edge, records.outbox, records.index_source)
    meter = Meter(models.extractor, models.tokenizer)
    asked = SweepModels(models, known)
    memory = Memory(
        records=records,
        index=index,
        models=asked,
        model=models.embedder.model,
        tokenizer=models.tokenizer,
        clock=clock,
        access=Access(keys_required=False, default_tenant=TENANT),
        recall=RecallSettings(),
    )
    walk = Walk(models=asked, extractor=meter, tokenizer=models.tokenizer, settings=settings)
    worker = IngestWorker(
        name="sweep",
        store=records.awake,
        walk=walk,
        clock=clock,
        follow_index=index,
        leases=1,
        messages=1_000,
        step_s=60.0,
        ttl_s=3_600.0,
        idle_s=3_600.0,
        poll_s=0.01,
        attempts=1,
    )
    try:
        yield Place(memory=memory, worker=worker, records=records, known=known, meter=meter)
    finally:
        edge.close()
        records.close()
