"""What each stage of the sleep job does with one item, without Ray: values in, values out.

The decide stage has a module of its own, ``sleep_deciding``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from actors.clock import SystemClock
from pipeline.entries import Candidate, Case
from pipeline.errors import SlowwaveError
from pipeline.messages import Scope, TenantId
from pipeline.ports import AskingDecider, Clock, Decider, Embedder, Products, SleepStore
from pipeline.runs import EntryFilter, LedgerItem, LedgerRow, SleepRun, Snapshot, Stop
from pipeline.settings import ConsolidationSettings
from pipeline.sleep.neighbours import NumpyProducts, neighbours
from pipeline.sleep.packing import parts
from pipeline.sleep.queue import Links, Queued, links, queue, retried, without
from pipeline.vectors import Vectors
from serve.sleep_after import AfterParts
from serve.sleep_limits import Limits

EVERYTHING = EntryFilter()

BLOCK = 512
"""Rows whose products are in memory at a time."""

PRODUCTS = 200_000_000
"""Compared pairs in one part of a collection: some seconds of one core."""

TARGETS = 64
"""Targets that travel together to one decider."""

BUDGETED_TARGETS = 16
"""The same where tokens are limited: what one decider may use beyond the budget."""

PUBLISHED = ConsolidationSettings(neighbours=20, queue_length=10, min_similarity=0.9)
"""The numbers of the published full pass (lightmem.py@8fc9a91, scripts for LoCoMo; 0.8 in those for
LongMemEval)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepParts:
    """What a run works with: factories that travel to the workers, and the model's threshold.

    Vectors are those of ``model``; ``min_similarity`` is a cosine calibrated for it. ``calls`` is
    how many targets one worker has asked a chat model about at once. Without ``after`` a run ends
    with its decisions. ``open_products`` chooses where vectors are multiplied.
    """

    open_store: Callable[[], SleepStore]
    open_decider: Callable[[], Decider | AskingDecider]
    open_embedder: Callable[[], Embedder]
    model: str
    min_similarity: float
    calls: int = 16
    open_clock: Callable[[], Clock] = SystemClock
    absorb: bool = False
    after: AfterParts | None = None
    open_products: Callable[[Vectors], Products] = NumpyProducts


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A run and which entries it looks at."""

    run: SleepRun
    only: EntryFilter = EVERYTHING


Plans = Mapping[TenantId, RunPlan]
"""The runs of one job: one per tenant."""


def limits_of(plans: Plans, parts: SleepParts) -> Limits:
    """When the runs of the job stop, seen from where this is called."""
    runs = {tenant: plan.run for tenant, plan in plans.items()}
    return Limits(runs, store=parts.open_store(), clock=parts.open_clock())


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A collection that a stage could not read or write, and why."""

    scope: Scope
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """A collection that is left for the next run, and why."""

    scope: Scope
    stop: Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Rows ``start`` to ``stop`` of a collection, with the vectors up to there.

    The first part carries the snapshot for the stages that follow.
    """

    scope: Scope
    start: int
    stop: int
    vectors: NDArray[np.float32]
    is_new: NDArray[np.bool_]
    snapshot: Snapshot | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """The links of one part."""

    scope: Scope
    links: Links
    snapshot: Snapshot | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cases:
    """Some targets of a collection, newest first; ``of`` such chunks make the collection."""

    scope: Scope
    chunk: int
    of: int
    through: int
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """Decisions of one chunk; ``texts`` are what an update's entry is embedded as, else None.

    ``tokens`` are those that its model calls took.
    """

    scope: Scope
    chunk: int
    of: int
    through: int
    cases: tuple[Case, ...]
    items: tuple[LedgerItem, ...]
    texts: tuple[str | None, ...]
    model_calls: int
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a collection came to."""

    scope: Scope
    counts: Mapping[str, int]


# Read -------------------------------------------------------------------------------------------


def read(
    store: SleepStore,
    scope: Scope,
    *,
    model: str,
    only: EntryFilter = EVERYTHING,
    is_full: bool = False,
) -> Iterator[Part | Broken]:
    """The collection in parts of about equal work, all of one snapshot."""
    try:
        snapshot = store.snapshot(scope, model=model, only=only)
    except SlowwaveError as error:
        yield Broken(scope=scope, reason=error.message)
        return
    if is_full:
        snapshot = _as_new(snapshot)
    for start, stop in parts(snapshot.is_new, products=PRODUCTS, block=BLOCK):
        is_whole = stop - start == len(snapshot.entries)
        yield Part(
            scope=scope,
            start=start,
            stop=stop,
            # One object is packed once, a view of it a second time.
            vectors=snapshot.vectors if is_whole else snapshot.vectors[:stop],
            is_new=snapshot.is_new[:stop],
            snapshot=snapshot if start == 0 else None,
        )


def _as_new(snapshot: Snapshot) -> Snapshot:
    """The snapshot as if no run had been: every pair is compared."""
    everything = np.ones(len(snapshot.entries), dtype=np.bool_)
    return replace(snapshot, is_new=everything, retry=frozenset(), settled=frozenset())


# Neighbours -------------------------------------------------------------------------------------


def numbers(
    run: SleepRun, settings: ConsolidationSettings, *, min_similarity: float
) -> tuple[ConsolidationSettings, float]:
    """How many neighbours a run looks at, and from which cosine on."""
    asked = run.options.min_similarity
    if run.options.full:
        return PUBLISHED, asked if asked is not None else PUBLISHED.min_similarity or 0.0
    return settings, min_similarity if asked is None else asked


def link(
    part: Part,
    *,
    settings: ConsolidationSettings,
    min_similarity: float,
    open_products: Callable[[Vectors], Products] = NumpyProducts,
) -> Linked:
    """The part's rows with the older entries that they may bear on."""
    indices, scores = neighbours(
        part.vectors,
        top_k=settings.neighbours,
        start=part.start,
        stop=part.stop,
        block=BLOCK,
        is_new=part.is_new,
        products=open_products(part.vectors),
    )
    kept = links(
        indices,
        scores,
        start=part.start,
        queue_length=settings.queue_length,
        min_similarity=min_similarity,
    )
    return Linked(scope=part.scope, links=kept, snapshot=_lightened(part.snapshot))


def _lightened(snapshot: Snapshot | None) -> Snapshot | None:
    """The snapshot without vectors, which from here on only pairs to retry need."""
    if snapshot is None or snapshot.retry:
        return snapshot
    return replace(snapshot, vectors=np.zeros((0, 0), dtype=np.float32))


# Queue ------------------------------------------------------------------------------------------


def invert(linked: Sequence[Linked], *, targets: int | None = None) -> list[Cases]:
    """All targets of one collection in chunks; one empty chunk where there is no target.

    Args:
        targets: how many at most make a chunk.

    Raises:
        ValueError: the first part, which carries the snapshot, is not among them.
    """
    size = targets or TARGETS
    (snapshot,) = [one.snapshot for one in linked if one.snapshot is not None]
    places = {entry.id: place for place, entry in enumerate(snapshot.entries)}
    again = retried(
        ((places[a], places[b]) for a, b in snapshot.retry if a in places and b in places),
        snapshot.vectors,
    )
    settled = [(places[a], places[b]) for a, b in snapshot.settled if a in places and b in places]
    queued = queue([*(without(one.links, settled) for one in linked), again])
    starts = range(0, len(queued), size) or range(1)
    return [
        Cases(
            scope=snapshot.scope,
            chunk=chunk,
            of=len(starts),
            through=snapshot.through,
            cases=tuple(_case(one, snapshot) for one in queued[start : start + size]),
        )
        for chunk, start in enumerate(starts)
    ]


def _case(queued: Queued, snapshot: Snapshot) -> Case:
    return Case(
        target=snapshot.entries[queued.target],
        candidates=tuple(
            Candidate(entry=snapshot.entries[place], similarity=score)
            for place, score in zip(queued.candidates, queued.scores, strict=True)
        ),
    )


# Write ------------------------------------------------------------------------------------------


class Writing:
    """Records whole collections; the embedder is opened only where a text has changed."""

    def __init__(
        self, run: SleepRun, parts: SleepParts, *, store: SleepStore, clock: Clock
    ) -> None:
        self._run = run
        self._parts = parts
        self._store = store
        self._clock = clock
        self._embedder: Embedder | None = None

    def write(self, chunks: Sequence[Decided]) -> Written | Broken:
        """The collection's ledger rows, counted; all in one transaction, newest target first.

        Raises:
            ValueError: a chunk of the collection is missing.
        """
        ordered = sorted(chunks, key=lambda one: one.chunk)
        if [one.chunk for one in ordered] != list(range(ordered[0].of)):
            raise ValueError(f"expected {ordered[0].of} chunks, got {len(ordered)}")
        scope = ordered[0].scope
        try:
            rows = self._store.record(
                self._run.id,
                scope,
                self._embedded(ordered),
                through=ordered[0].through,
                model=self._parts.model,
                dry_run=self._run.dry_run,
                now=self._clock.now(),
            )
        except SlowwaveError as error:
            return Broken(scope=scope, reason=error.message)
        spent = {
            "model_calls": sum(one.model_calls for one in ordered),
            "tokens": sum(one.tokens for one in ordered),
        }
        return Written(scope=scope, counts={**counted(rows), **spent})

    def _embedded(self, chunks: Iterable[Decided]) -> list[LedgerItem]:
        items = [item for chunk in chunks for item in chunk.items]
        texts = [text for chunk in chunks for text in chunk.texts]
        changed = [place for place, text in enumerate(texts) if text is not None]
        if not changed or self._run.dry_run:
            return items
        try:
            vectors = self._embed([str(texts[place]) for place in changed])
        except SlowwaveError as error:
            for place in changed:
                items[place] = replace(items[place], decision=None, failure=error.message)
            return items
        for place, vector in zip(changed, vectors, strict=True):
            items[place] = replace(items[place], vector=vector)
        return items

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._embedder is None:
            self._embedder = self._parts.open_embedder()
        return self._embedder.embed(texts, purpose="passage")


def counted(rows: Sequence[LedgerRow]) -> dict[str, int]:
    """How many targets the rows hold and what became of them; a preview counts as decided."""
    counts = Counter(_outcome(row) for row in rows)
    names = ("update", "delete", "ignore", "skipped", "failed")
    absorbed = sum(len(row.absorbed) for row in rows)
    return {"targets": len(rows), **{name: counts[name] for name in names}, "absorbed": absorbed}


def _outcome(row: LedgerRow) -> str:
    if row.state in ("skipped", "failed"):
        return row.state
    return "failed" if row.action == "none" else row.action
