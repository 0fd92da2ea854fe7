"""The stages of the sleep job by themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from actors.fakes import FakeEmbedder
from pipeline.entries import (
    Case,
    Decision,
    Delete,
    Entry,
    Ignore,
    Kind,
    OrderKey,
    Status,
    Update,
    Writer,
)
from pipeline.errors import ModelError, StoreError
from pipeline.ids import EntryId, MessageId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.ports import SleepStore, Vectors
from pipeline.runs import EntryFilter, LedgerItem, LedgerRow, RunOptions, SleepRun, Snapshot, Stop
from pipeline.settings import ConsolidationSettings
from serve import sleep_stages
from serve.sleep_deciding import Deciding
from serve.sleep_rows import by_collection, guarded, table
from serve.sleep_settling import REPLACED, settle
from serve.sleep_stages import (
    EVERYTHING,
    Broken,
    Cases,
    Decided,
    Part,
    SleepParts,
    Stopped,
    Writing,
    Written,
    invert,
    link,
    numbers,
    read,
)

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
HARBOUR = Scope(tenant=TenantId("acme"), collection="harbour")
SETTINGS = ConsolidationSettings(neighbours=5, queue_length=5)


class FixedNow:
    """A clock that stands still."""

    def now(self) -> datetime:
        """Always noon."""
        return NOON


class NotedStore(SleepStore):
    """Keeps replies and what is recorded, in this process."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        self.replies: dict[str, Decision] = {}
        self.recorded: list[LedgerItem] = []
        self._snapshot = snapshot

    def snapshot(self, scope: Scope, *, model: str, only: EntryFilter = EVERYTHING) -> Snapshot:
        """The one it was given."""
        if self._snapshot is None:
            raise StoreError("the disk is full")
        return self._snapshot

    def cached_decisions(self, keys: Sequence[str], *, scope: Scope) -> dict[str, Decision]:
        """Those remembered."""
        return {key: self.replies[key] for key in keys if key in self.replies}

    def cache_decisions(
        self, decisions: Mapping[str, Decision], *, scope: Scope, through: int, now: datetime
    ) -> None:
        """Remembers."""
        self.replies = {**decisions, **self.replies}

    def record(
        self,
        run: RunId,
        scope: Scope,
        items: Sequence[LedgerItem],
        *,
        through: int,
        model: str,
        dry_run: bool,
        now: datetime,
    ) -> list[LedgerRow]:
        """Refuses a second collection, as a store that has gone away."""
        if self.recorded:
            raise StoreError("the disk is full")
        self.recorded = list(items)
        return []


class Counting:
    """Merges with the first candidate, except where the target says so."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[int] = []

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """One decision per case, or none at all."""
        self.asked.append(len(cases))
        if any("fog" in case.target.text for case in cases):
            raise ModelError("timed out")
        return [self._decision(case) for case in cases]

    def _decision(self, case: Case) -> Decision:
        newest = case.candidates[0].entry
        if "tide" in newest.text:
            return Ignore(reason="another matter")
        return Update(text=f"{case.target.text} {newest.text}", used=(newest.id,), reason="adds")


class Terse:
    """Gives fewer decisions than it was asked for."""

    name = "terse"

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """None."""
        return []


class LostEmbedder(FakeEmbedder):
    """Cannot be reached."""

    def embed(self, texts: Sequence[str], *, purpose: object) -> Vectors:
        """Raises."""
        raise ModelError("no replica")


def _entry(day: int, text: str) -> Entry:
    said_at = NOON + timedelta(days=day)
    return Entry(
        id=EntryId(f"e{day}"),
        version=1,
        text=text,
        kind=Kind.FACT,
        status=Status.ACTIVE,
        speaker="Per",
        said_at=said_at,
        zone="UTC",
        language="en",
        order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
        valid_from=said_at,
        sources=(MessageId(f"m{day}"),),
        written_by=Writer.INGEST,
        written_at=said_at,
    )


def _snapshot(*texts: str, retry: frozenset[tuple[EntryId, EntryId]] = frozenset()) -> Snapshot:
    entries = tuple(_entry(day, text) for day, text in enumerate(texts))
    vectors = FakeEmbedder().embed(texts, purpose="passage") if texts else np.zeros((0, 0), "f4")
    return Snapshot(
        scope=HARBOUR,
        entries=entries,
        vectors=vectors,
        is_new=np.ones(len(texts), dtype=np.bool_),
        retry=retry,
        through=7,
    )


def _cases(snapshot: Snapshot, *, min_similarity: float = 0.5) -> list[Cases]:
    found = read(NotedStore(snapshot), HARBOUR, model="fake-embedder")
    linked = [
        link(part, settings=SETTINGS, min_similarity=min_similarity)
        for part in found
        if isinstance(part, Part)
    ]
    return invert(linked)


def _decided(snapshot: Snapshot, decider: Counting | Terse, store: NotedStore) -> Decided:
    (chunk,) = _cases(snapshot)
    return Deciding(store=store, decider=decider, clock=FixedNow()).decide(chunk)


def _writing(
    store: NotedStore, embedder: type[FakeEmbedder] = FakeEmbedder, *, dry_run: bool = False
) -> Writing:
    run = SleepRun(
        id=RunId("run"),
        tenant=HARBOUR.tenant,
        window_start=NOON,
        dry_run=dry_run,
        status="running",
        started_at=NOON,
    )
    parts = SleepParts(
        open_store=lambda: store,
        open_decider=Counting,
        open_embedder=embedder,
        open_clock=FixedNow,
        model="fake-embedder",
        min_similarity=0.5,
    )
    return Writing(run, parts, store=store, clock=FixedNow())


def test_a_large_collection_is_read_in_parts_and_comes_together_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    snapshot = _snapshot(*["the red boat", "the red ship", "the red boat", "the blue boat"] * 3)
    whole = _cases(snapshot)
    monkeypatch.setattr(sleep_stages, "BLOCK", 2)
    monkeypatch.setattr(sleep_stages, "PRODUCTS", 10)

    found = list(read(NotedStore(snapshot), HARBOUR, model="fake-embedder"))

    assert len(found) > 2
    assert _cases(snapshot) == whole


def test_a_collection_that_cannot_be_read_says_why() -> None:
    found = list(read(NotedStore(), HARBOUR, model="fake-embedder"))

    assert found == [Broken(scope=HARBOUR, reason="the disk is full")]


def test_a_collection_without_targets_is_still_one_chunk() -> None:
    for snapshot in (_snapshot(), _snapshot("the red boat"), _snapshot("the red boat", "雾")):
        (chunk,) = _cases(snapshot)

        assert (chunk.cases, chunk.of, chunk.through) == ((), 1, 7)


def test_a_pair_to_retry_becomes_a_case_below_the_threshold() -> None:
    pair = (EntryId("e0"), EntryId("e1"))

    (chunk,) = _cases(_snapshot("the red boat", "雾很大", retry=frozenset([pair])))

    assert [(case.target.id, case.candidates[0].entry.id) for case in chunk.cases] == [pair]


def test_many_targets_travel_in_chunks_newest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sleep_stages, "TARGETS", 2)

    chunks = _cases(_snapshot(*["the red boat"] * 6))

    assert [(one.chunk, one.of) for one in chunks] == [(0, 3), (1, 3), (2, 3)]
    targets = [case.target.id for one in chunks for case in one.cases]
    assert targets == ["e4", "e3", "e2", "e1", "e0"]


def test_a_cached_reply_is_no_call() -> None:
    snapshot, store, decider = (
        _snapshot("the red boat", "the red boat sails"),
        NotedStore(),
        Counting(),
    )

    first = _decided(snapshot, decider, store)
    second = _decided(snapshot, decider, store)

    assert (first.model_calls, second.model_calls) == (1, 0)
    assert first.items == second.items
    assert first.texts == ("Per: the red boat the red boat sails",)


def test_one_failing_target_does_not_fail_the_others_and_is_not_cached() -> None:
    store, decider = NotedStore(), Counting()
    snapshot = _snapshot("the red boat", "the red boat sails", "thick fog today", "thick fog today")

    decided = _decided(snapshot, decider, store)

    assert [item.failure for item in decided.items] == ["ModelError: timed out", None]
    assert decider.asked == [2, 1, 1]
    assert decided.model_calls == 4
    assert len(store.replies) == 1


def test_a_decider_that_answers_too_little_fails_its_targets() -> None:
    decided = _decided(_snapshot("the red boat", "the red boat sails"), Terse(), NotedStore())

    assert [item.failure for item in decided.items] == ["expected 1 decisions, got 0"]


def test_an_update_is_recorded_with_the_vector_of_its_new_text() -> None:
    decided = _decided(_snapshot("the red boat", "the red boat sails"), Counting(), NotedStore())
    store = NotedStore()

    result = _writing(store).write([decided])

    (item,) = store.recorded
    (expected,) = FakeEmbedder().embed([str(decided.texts[0])], purpose="passage")
    assert item.vector is not None
    assert item.vector.tolist() == expected.tolist()
    assert isinstance(result, Written)


def test_an_embedder_out_of_reach_fails_the_updates_only() -> None:
    snapshot = _snapshot(
        "the red boat", "the red boat sails", "high tide at noon", "low tide at noon"
    )
    decided = _decided(snapshot, Counting(), NotedStore())
    store = NotedStore()

    _writing(store, LostEmbedder).write([decided])

    assert [item.failure for item in store.recorded] == [None, "no replica"]


def test_a_preview_embeds_nothing() -> None:
    decided = _decided(_snapshot("the red boat", "the red boat sails"), Counting(), NotedStore())
    store = NotedStore()

    _writing(store, LostEmbedder, dry_run=True).write([decided])

    assert [(item.failure, item.vector) for item in store.recorded] == [(None, None)]


def test_a_store_that_refuses_breaks_the_collection() -> None:
    decided = _decided(_snapshot("the red boat", "the red boat sails"), Counting(), NotedStore())
    writing = _writing(NotedStore())
    writing.write([decided])

    assert writing.write([decided]) == Broken(scope=HARBOUR, reason="the disk is full")


def test_a_missing_chunk_is_never_written() -> None:
    decided = _decided(_snapshot("the red boat", "the red boat sails"), Counting(), NotedStore())

    with pytest.raises(ValueError, match="expected 2 chunks, got 1"):
        _writing(NotedStore()).write([replace(decided, of=2)])


def test_what_an_earlier_decision_overtook_is_decided_again_in_the_same_run() -> None:
    # e1 takes in e2; e0, whose nearest is e1, must see it as it then is.
    snapshot = _snapshot("the red boat", "the red boat sails", "the red boat sails north today")
    decider, store = Counting(), NotedStore()
    decided = _decided(snapshot, decider, store)
    deciding = Deciding(store=store, decider=decider, clock=FixedNow())

    (settled,) = settle([decided], deciding=deciding, clock=FixedNow())

    assert [item.target for item in settled.items] == ["e1", "e0"]
    oldest = settled.items[1]
    assert {one.entry: one.version for one in oldest.candidates}["e1"] == 2
    assert isinstance(oldest.decision, Update)
    assert oldest.decision.text == "the red boat the red boat sails the red boat sails north today"
    assert settled.model_calls == decided.model_calls + 1


class Deleting(Counting):
    """Lets the nearest candidate supersede every target."""

    name = "deleting"

    def _decision(self, case: Case) -> Decision:
        return Delete(superseded_by=case.candidates[0].entry.id, reason="newer")


def test_a_target_whose_only_candidate_went_in_the_same_run_is_left_alone() -> None:
    snapshot = _snapshot("the red boat", "the red boat")
    decided = _decided(snapshot, Deleting(), NotedStore())
    gone = replace(
        decided,
        cases=(_gone_case(decided), *decided.cases),
        items=(_gone_item(decided), *decided.items),
        texts=(None, *decided.texts),
    )

    (settled,) = settle(
        [gone],
        deciding=Deciding(store=NotedStore(), decider=Deleting(), clock=FixedNow()),
        clock=FixedNow(),
    )

    assert settled.items[1].decision == REPLACED
    assert settled.model_calls == decided.model_calls


def _gone_case(decided: Decided) -> Case:
    """The only candidate of the first case as a target itself, of something newer."""
    (candidate,) = decided.cases[0].candidates
    return Case(target=candidate.entry, candidates=(replace(candidate, entry=_entry(5, "new")),))


def _gone_item(decided: Decided) -> LedgerItem:
    target = _gone_case(decided).target
    decision = Delete(superseded_by=EntryId("e5"), reason="newer")
    return LedgerItem(target=target.id, target_version=1, candidates=(), decision=decision)


def test_a_pair_that_a_run_over_some_entries_decided_is_no_case_again() -> None:
    snapshot = _snapshot("the red boat", "the red boat sails", "the red boat sinks")
    settled = frozenset({(EntryId("e0"), EntryId("e1"))})

    before = [case for chunk in _cases(snapshot) for case in chunk.cases]
    after = [case for chunk in _cases(replace(snapshot, settled=settled)) for case in chunk.cases]

    assert [[one.entry.id for one in case.candidates] for case in before] == [["e2"], ["e1", "e2"]]
    assert [[one.entry.id for one in case.candidates] for case in after] == [["e2"], ["e2"]]


def test_a_full_run_compares_every_pair_with_the_published_numbers() -> None:
    run = _run(options=RunOptions(full=True))
    old = replace(_snapshot("the red boat", "the red boat"), is_new=np.zeros(2, dtype=np.bool_))

    (nothing,) = _parts_of(old, is_full=False)
    (everything,) = _parts_of(old, is_full=True)

    how, least = numbers(run, SETTINGS, min_similarity=0.5)
    assert (how.neighbours, how.queue_length, least) == (20, 10, 0.9)
    asked = replace(run, options=RunOptions(full=True, min_similarity=0.8))
    assert numbers(asked, SETTINGS, min_similarity=0.5)[1] == 0.8
    assert numbers(_run(), SETTINGS, min_similarity=0.5) == (SETTINGS, 0.5)
    assert not nothing.is_new.any()
    assert everything.is_new.all()


def test_what_an_update_holds_whole_rests_and_is_no_candidate_of_older_targets() -> None:
    store = NotedStore()
    (chunk,) = _cases(_snapshot("the red boat", "the red boat sails", "the red boat sails fast"))
    deciding = Deciding(store=store, decider=Counting(), clock=FixedNow())
    decided = deciding.decide(chunk)

    (apart,) = settle([decided], deciding=deciding, clock=FixedNow())
    (held,) = settle([decided], deciding=deciding, clock=FixedNow(), absorb=True)

    assert [item.absorbed for item in apart.items] == [(), ()]
    assert [item.absorbed for item in held.items] == [("e2",), ("e1",)]


def test_what_ends_a_collection_passes_through_alone_and_what_is_broken_comes_first() -> None:
    (chunk,) = _cases(_snapshot("the red boat", "the red boat"))
    left = Stopped(scope=HARBOUR, stop=Stop.TOKENS)
    broken = Broken(scope=HARBOUR, reason="the disk is full")
    lake = replace(chunk, scope=Scope(tenant=HARBOUR.tenant, collection="lake"))

    groups = list(by_collection(table([chunk, left, lake, broken])))

    assert groups[0] == [broken]
    assert [group[0].scope.collection for group in groups] == ["harbour", "lake"]


def test_whatever_is_wrong_with_a_collection_ends_that_collection_alone() -> None:
    def fails() -> Written:
        raise ZeroDivisionError("by nothing")

    assert guarded(HARBOUR, fails) == Broken(scope=HARBOUR, reason="ZeroDivisionError: by nothing")


def _run(*, options: RunOptions = RunOptions()) -> SleepRun:  # noqa: B008  (frozen)
    return SleepRun(
        id=RunId("run"),
        tenant=HARBOUR.tenant,
        window_start=NOON,
        dry_run=False,
        status="running",
        started_at=NOON,
        options=options,
    )


def _parts_of(snapshot: Snapshot, *, is_full: bool) -> list[Part]:
    found = read(NotedStore(snapshot), HARBOUR, model="fake-embedder", is_full=is_full)
    return [part for part in found if isinstance(part, Part)]
