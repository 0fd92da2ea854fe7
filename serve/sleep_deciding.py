"""The decide stage of the sleep job, without Ray: cases in, ledger items out.

Apart from the other stages because checking a decision loads a Chinese lexicon.
"""

import logging
from collections.abc import Sequence

from pipeline.entries import Case, Decision, Update
from pipeline.ports import Clock, Decider, SleepStore
from pipeline.recall.text import index_text_of
from pipeline.sleep.apply import apply
from pipeline.sleep.decide import case_key, validate
from pipeline.state import LedgerItem, Weighed
from serve.sleep_stages import Cases, Decided

log = logging.getLogger("slowwave.sleep")

CASES = 16
"""Targets in one call to the decider; after a failed call each is decided by itself."""


class Deciding:
    """Decides chunk after chunk with one decider; replies are cached before they are used."""

    def __init__(self, *, store: SleepStore, decider: Decider, clock: Clock) -> None:
        self._store = store
        self._decider = decider
        self._clock = clock

    def decide(self, chunk: Cases) -> Decided:
        """A decision, or the reason of its failure, for every case."""
        keys = [case_key(case, self._decider.name) for case in chunk.cases]
        known = self._store.cached_decisions(keys, scope=chunk.scope)
        open_cases = [case for key, case in zip(keys, chunk.cases, strict=True) if key not in known]
        asked, calls = self._ask(chunk, open_cases)
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
            cases=chunk.cases,
            items=tuple(_item(case, reply, self._decider.name) for case, reply in pairs),
            texts=tuple(self._index_text(case, reply) for case, reply in pairs),
            model_calls=calls,
        )

    def _ask(self, chunk: Cases, cases: Sequence[Case]) -> tuple[dict[str, Decision | str], int]:
        replies: dict[str, Decision | str] = {}
        calls = 0
        for low in range(0, len(cases), CASES):
            some = cases[low : low + CASES]
            answers = self._answers(some)
            calls += len(some)
            if len(some) > 1 and any(isinstance(answer, str) for answer in answers):
                answers = [self._answers([case])[0] for case in some]
                calls += len(some)
            self._remember(chunk, some, answers)
            replies.update((case.target.id, a) for case, a in zip(some, answers, strict=True))
        return replies, calls

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
        name = self._decider.name
        given = {
            case_key(case, name): answer
            for case, answer in zip(cases, answers, strict=True)
            if not isinstance(answer, str)
        }
        self._store.cache_decisions(
            given, scope=chunk.scope, through=chunk.through, now=self._clock.now()
        )

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
