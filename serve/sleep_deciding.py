"""The decide stage of the sleep job, without Ray: cases in, ledger items out.

Apart from the other stages because checking a decision loads a Chinese lexicon.
"""

import logging
from collections.abc import Mapping, Sequence

from pipeline.entries import Case, Decision, Update
from pipeline.ports import AskingDecider, Clock, Decider, SleepStore
from pipeline.recall.text import index_text_of
from pipeline.runs import LedgerItem, Weighed
from pipeline.sleep.apply import apply
from pipeline.sleep.decide import case_key, validate
from serve.sleep_asking import Answered, Asking, Open
from serve.sleep_stages import Cases, Decided

log = logging.getLogger("slowwave.sleep")

CASES = 16
"""Targets in one call to a decider that asks nobody; after a failed call each is decided alone."""


class Deciding:
    """Decides chunks with one decider; replies are cached before they are used.

    Args:
        calls: how many targets a decider that asks a model has in flight.
    """

    def __init__(
        self,
        *,
        store: SleepStore,
        decider: Decider | AskingDecider,
        clock: Clock,
        calls: int = 16,
    ) -> None:
        self._store = store
        self._name = decider.name
        self._clock = clock
        self._answering: Asking | _Batches
        if isinstance(decider, AskingDecider):
            self._answering = Asking(store=store, decider=decider, clock=clock, calls=calls)
        else:
            self._answering = _Batches(store=store, decider=decider, clock=clock)

    def decide(self, chunk: Cases) -> Decided:
        """A decision, or the reason of its failure, for every case."""
        return self.decide_all([chunk])[0]

    def decide_all(self, chunks: Sequence[Cases]) -> list[Decided]:
        """The chunks decided together, so that small ones fill the calls in flight as well."""
        known = [self._known(chunk) for chunk in chunks]
        opened = [_open(chunk, cached) for chunk, cached in zip(chunks, known, strict=True)]
        answers = self._answering.answers(opened)
        return [
            self._decided(chunk, cached | answer.replies, answer)
            for chunk, cached, answer in zip(chunks, known, answers, strict=True)
        ]

    def _known(self, chunk: Cases) -> dict[str, Decision | str]:
        """By target what was decided before, as far as it may stand now."""
        keys = {case.target.id: case_key(case, self._name) for case in chunk.cases}
        cached = self._store.cached_decisions(list(keys.values()), scope=chunk.scope)
        return {
            case.target.id: validate(case, cached[keys[case.target.id]])
            for case in chunk.cases
            if keys[case.target.id] in cached
        }

    def _decided(
        self, chunk: Cases, replies: Mapping[str, Decision | str], taken: Answered
    ) -> Decided:
        pairs = [(case, replies[case.target.id]) for case in chunk.cases]
        return Decided(
            scope=chunk.scope,
            chunk=chunk.chunk,
            of=chunk.of,
            through=chunk.through,
            cases=chunk.cases,
            items=tuple(_item(case, reply, self._name) for case, reply in pairs),
            texts=tuple(self._index_text(case, reply) for case, reply in pairs),
            model_calls=taken.calls,
            tokens=taken.tokens,
        )

    def _index_text(self, case: Case, reply: Decision | str) -> str | None:
        if not isinstance(reply, Update):
            return None
        candidates = {one.entry.id: one.entry for one in case.candidates}
        return index_text_of(apply(case.target, reply, candidates, now=self._clock.now()))


class _Batches:
    """Asks a decider that waits for nobody, some cases in each call."""

    def __init__(self, *, store: SleepStore, decider: Decider, clock: Clock) -> None:
        self._store = store
        self._decider = decider
        self._clock = clock

    def answers(self, opened: Sequence[Open]) -> list[Answered]:
        """What became of the cases of each chunk."""
        return [self._chunk(one.chunk, one.cases) for one in opened]

    def _chunk(self, chunk: Cases, cases: Sequence[Case]) -> Answered:
        answered = Answered(replies={}, calls=0)
        for low in range(0, len(cases), CASES):
            some = cases[low : low + CASES]
            answers = self._answers(some)
            calls = len(some)
            if len(some) > 1 and any(isinstance(answer, str) for answer in answers):
                answers = [self._answers([case])[0] for case in some]
                calls += len(some)
            self._remember(chunk, some, answers)
            replies = {case.target.id: a for case, a in zip(some, answers, strict=True)}
            answered = Answered(replies=answered.replies | replies, calls=answered.calls + calls)
        return answered

    def _answers(self, cases: Sequence[Case]) -> list[Decision | str]:
        """The decisions, or for every case why the call failed."""
        try:
            decisions = self._decider.decide(cases)
        except Exception as error:  # a decider is a plug-in: whatever it raises fails its targets
            # Its message may quote what was remembered; the ledger keeps it, erasure reaches that.
            log.warning("the decider failed on %d targets: %s", len(cases), type(error).__name__)
            return [f"{type(error).__name__}: {error}"] * len(cases)
        if len(decisions) != len(cases):
            return [f"expected {len(cases)} decisions, got {len(decisions)}"] * len(cases)
        return [validate(case, one) for case, one in zip(cases, decisions, strict=True)]

    def _remember(
        self, chunk: Cases, cases: Sequence[Case], answers: Sequence[Decision | str]
    ) -> None:
        given = {
            case_key(case, self._decider.name): answer
            for case, answer in zip(cases, answers, strict=True)
            if not isinstance(answer, str)
        }
        self._store.cache_decisions(
            given, scope=chunk.scope, through=chunk.through, now=self._clock.now()
        )


def _open(chunk: Cases, known: Mapping[str, Decision | str]) -> Open:
    return Open(chunk=chunk, cases=tuple(c for c in chunk.cases if c.target.id not in known))


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
