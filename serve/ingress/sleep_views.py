"""Sleep runs and their decisions as JSON."""

from collections.abc import Mapping
from typing import Self

from pipeline.runs import LedgerRow, SleepRun, UndoItem
from serve.ingress.views import Instant, View


class RunOut(View):
    """A sleep run and how it stands; ``stop`` says why it ended before it was through."""

    id: str
    status: str
    dry_run: bool
    window_start: Instant
    started_at: Instant
    finished_at: Instant | None
    totals: dict[str, int]
    error: str | None
    undone: bool
    trigger: str
    deadline: Instant | None
    max_tokens: int | None
    tokens: int
    attempt: int
    stop: str | None

    @classmethod
    def of(cls, run: SleepRun) -> Self:
        """The run's view."""
        return cls(
            id=run.id,
            status=run.status,
            dry_run=run.dry_run,
            window_start=run.window_start,
            started_at=run.started_at,
            finished_at=run.finished_at,
            totals=dict(run.totals),
            error=run.error,
            undone=run.undone,
            trigger=run.trigger.value,
            deadline=run.deadline,
            max_tokens=run.max_tokens,
            tokens=run.tokens,
            attempt=run.attempt,
            stop=None if run.stop is None else run.stop.value,
        )


class RunsOut(View):
    """Runs, newest first."""

    runs: list[RunOut]


class CandidateOut(View):
    """A newer entry that the decider saw, with its text then."""

    entry: str
    version: int
    similarity: float
    text: str | None


class DecisionOut(View):
    """One row of the ledger."""

    collection: str
    target: str
    target_version: int
    action: str
    reason: str
    state: str
    note: str | None
    text_before: str
    text_after: str | None
    candidates: list[CandidateOut]
    absorbed: list[str]
    decider: str
    decided_at: Instant

    @classmethod
    def of(cls, row: LedgerRow, texts: Mapping[tuple[str, int], str]) -> Self:
        """The row's view; ``texts`` gives the candidates' texts by (entry, version)."""
        return cls(
            collection=row.scope.collection,
            target=row.target,
            target_version=row.target_version,
            action=row.action,
            reason=row.reason,
            state=row.state,
            note=row.note,
            text_before=row.text_before,
            text_after=row.text_after,
            candidates=[
                CandidateOut(
                    entry=each.entry,
                    version=each.version,
                    similarity=each.similarity,
                    text=texts.get((each.entry, each.version)),
                )
                for each in row.candidates
            ],
            absorbed=list(row.absorbed),
            decider=row.decider,
            decided_at=row.decided_at,
        )


class DecisionsOut(View):
    """The ledger of a run, in the order it was written."""

    decisions: list[DecisionOut]


class UndoOut(View):
    """What undo or redo did with one entry; ``refused`` says why it did not.

    ``kind`` is decision, archive, merge, item or shorten; ``entry`` is an item's id in the last
    two.
    """

    kind: str
    entry: str
    done: bool
    refused: str | None

    @classmethod
    def of(cls, item: UndoItem) -> Self:
        """The item's view."""
        return cls(kind=item.kind, entry=item.entry, done=item.done, refused=item.refused)


class UndoneOut(View):
    """Undo or redo, item by item."""

    items: list[UndoOut]
