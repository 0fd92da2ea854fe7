"""What each stage of the sleep job does with one item, without Ray: values in, values out."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from actors.clock import SystemClock
from pipeline.entries import Candidate, Case, Decision, Update
from pipeline.errors import SlowwaveError
from pipeline.messages import Scope
from pipeline.ports import Clock, Decider, Embedder, SleepStore
from pipeline.recall.text import index_text_of
from pipeline.settings import ConsolidationSettings
from pipeline.sleep.apply import apply
from pipeline.sleep.decide import case_key, validate
from pipeline.sleep.neighbours import neighbours
from pipeline.sleep.packing import parts
from pipeline.sleep.queue import Links, Queued, links, queue, retried
from pipeline.state import LedgerItem, LedgerRow, SleepRun, Snapshot, Weighed

log = logging.getLogger("slowwave.sleep")

BLOCK = 512
"""Rows whose products are in memory at a time."""

PRODUCTS = 500_000_000
"""Compared pairs in one part of a collection: some seconds of one core."""

TARGETS = 64
"""Targets that travel together to one decider."""

CASES = 16
"""Targets in one call to the decider, and with one failure at most decided singly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepParts:
    """What a run works with: factories that travel to the workers, and the model's threshold.

    Vectors are those of ``model``; ``min_similarity`` is a cosine calibrated for it.
    """

    open_store: Callable[[], SleepStore]
    open_decider: Callable[[], Decider]
    open_embedder: Callable[[], Embedder]
    model: str
    min_similarity: float
    open_clock: Callable[[], Clock] = SystemClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A collection that a stage could not read or write, and why."""

    scope: Scope
    reason: str


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
    """Decisions of one chunk; ``texts`` are what an update's entry is embedded as, else None."""

    scope: Scope
    chunk: int
    of: int
    through: int
    items: tuple[LedgerItem, ...]
    texts: tuple[str | None, ...]
    model_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a collection came to."""

    scope: Scope
    counts: Mapping[str, int]


# Read -------------------------------------------------------------------------------------------


def read(store: SleepStore, scope: Scope, *, model: str) -> Iterator[Part | Broken]:
    """The collection in parts of about equal work, all of one snapshot."""
    try:
        snapshot = store.snapshot(scope, model=model)
    except SlowwaveError as error:
        yield Broken(scope=scope, reason=error.message)
        return
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


# Neighbours -------------------------------------------------------------------------------------


def link(part: Part, *, settings: ConsolidationSettings, min_similarity: float) -> Linked:
    """The part's rows with the older entries that they may bear on."""
    indices, scores = neighbours(
        part.vectors,
        top_k=settings.neighbours,
        start=part.start,
        stop=part.stop,
        block=BLOCK,
        is_new=part.is_new,
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


def invert(linked: Sequence[Linked]) -> list[Cases]:
    """All targets of one collection in chunks; one empty chunk where there is no target.

    Raises:
        ValueError: the first part, which carries the snapshot, is not among them.
    """
    (snapshot,) = [one.snapshot for one in linked if one.snapshot is not None]
    places = {entry.id: place for place, entry in enumerate(snapshot.entries)}
    again = retried(
        ((places[a], places[b]) for a, b in snapshot.retry if a in places and b in places),
        snapshot.vectors,
    )
    queued = queue([*(one.links for one in linked), again])
    starts = range(0, len(queued), TARGETS) or range(1)
    return [
        Cases(
            scope=snapshot.scope,
            chunk=chunk,
            of=len(starts),
            through=snapshot.through,
            cases=tuple(_case(one, snapshot) for one in queued[start : start + TARGETS]),
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


# Decide -----------------------------------------------------------------------------------------


class Deciding:
    """Decides chunk after chunk with one decider; replies are cached before they are used."""

    def __init__(self, *, store: SleepStore, decider: Decider, clock: Clock) -> None:
        self._store = store
        self._decider = decider
        self._clock = clock

    def decide(self, chunk: Cases) -> Decided:
        """A decision, or the reason of its failure, for every case."""
        keys = [case_key(case, self._decider.name) for case in chunk.cases]
        known = self._store.cached_decisions(keys)
        open_cases = [case for key, case in zip(keys, chunk.cases, strict=True) if key not in known]
        asked, calls = self._ask(open_cases)
        replies: list[Decision | str] = [
            known[key] if key in known else asked[case.target.id]
            for key, case in zip(keys, chunk.cases, strict=True)
        ]
        pairs = list(zip(chunk.cases, replies, strict=True))
        return Decided(
            scope=chunk.scope,
            chunk=chunk.chunk,
            of=chunk.of,
            through=chunk.through,
            items=tuple(_item(case, reply, self._decider.name) for case, reply in pairs),
            texts=tuple(self._index_text(case, reply) for case, reply in pairs),
            model_calls=calls,
        )

    def _ask(self, cases: Sequence[Case]) -> tuple[dict[str, Decision | str], int]:
        replies: dict[str, Decision | str] = {}
        calls = 0
        for low in range(0, len(cases), CASES):
            some = cases[low : low + CASES]
            answers = self._answers(some)
            calls += len(some)
            if len(some) > 1 and any(isinstance(answer, str) for answer in answers):
                answers = [self._answers([case])[0] for case in some]
                calls += len(some)
            self._remember(some, answers)
            replies.update((case.target.id, a) for case, a in zip(some, answers, strict=True))
        return replies, calls

    def _answers(self, cases: Sequence[Case]) -> list[Decision | str]:
        """The decisions, or for every case why the call failed."""
        try:
            decisions = self._decider.decide(cases)
        except Exception as error:  # a decider is a plug-in: whatever it raises fails its targets
            log.warning("the decider failed on %d targets", len(cases), exc_info=True)
            return [f"{type(error).__name__}: {error}"] * len(cases)
        if len(decisions) != len(cases):
            return [f"expected {len(cases)} decisions, got {len(decisions)}"] * len(cases)
        return [validate(case, one) for case, one in zip(cases, decisions, strict=True)]

    def _remember(self, cases: Sequence[Case], answers: Sequence[Decision | str]) -> None:
        name = self._decider.name
        given = {
            case_key(case, name): answer
            for case, answer in zip(cases, answers, strict=True)
            if not isinstance(answer, str)
        }
        self._store.cache_decisions(given, now=self._clock.now())

    def _index_text(self, case: Case, reply: Decision | str) -> str | None:
        if not isinstance(reply, Update):
            return None
        candidates = {one.entry.id: one.entry for one in case.candidates}
        return index_text_of(apply(case.target, reply, candidates, now=self._clock.now()))


def _item(case: Case, reply: Decision | str, decider: str) -> LedgerItem:
    return LedgerItem(
        target=case.target.id,
        target_version=case.target.version,
        candidates=tuple(
            Weighed(entry=one.entry.id, version=one.entry.version, similarity=one.similarity)
            for one in case.candidates
        ),
        decision=None if isinstance(reply, str) else reply,
        failure=reply if isinstance(reply, str) else None,
        decider=decider,
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
        calls = sum(one.model_calls for one in ordered)
        return Written(scope=scope, counts={**counted(rows), "model_calls": calls})

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
    return {"targets": len(rows), **{name: counts[name] for name in names}}


def _outcome(row: LedgerRow) -> str:
    if row.state in ("skipped", "failed"):
        return row.state
    return "failed" if row.action == "none" else row.action
