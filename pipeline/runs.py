"""The values of sleep runs that pass between the domain and the stores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from pipeline.entries import Decision, Entry, Kind
from pipeline.ids import EntryId, RunId
from pipeline.messages import Scope, TenantId


class Trigger(StrEnum):
    """What began a run: a caller, a window's cron, or a time without messages."""

    ASKED = "asked"
    WINDOW = "window"
    IDLE = "idle"


class Stop(StrEnum):
    """Why a run ended before it was through; what it left is due in the next one."""

    WINDOW = "window"  # the time was over
    TOKENS = "tokens"  # the budget was used up


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which entries a run looks at; nothing named is every entry. All that are named must hold."""

    kinds: tuple[Kind, ...] = ()
    speakers: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it lets every entry through."""
        return not (self.kinds or self.speakers or self.topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run differs from a nightly one.

    ``full`` compares every pair, whatever runs before it saw. ``min_similarity`` and ``absorb`` are
    the service's where None. ``is_filtered`` says that it looks at some entries only: the marks of
    its collections stay where they are, and a dead one is not gone on with.
    """

    collection: str | None = None
    full: bool = False
    min_similarity: float | None = None
    absorb: bool | None = None
    is_filtered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepRun:
    """One consolidation job; ``status`` is running, completed, stopped or failed.

    It ends at ``deadline`` and once ``tokens`` reach ``max_tokens``; ``stop`` says which it was.
    ``attempt`` counts its jobs: one that died is followed by another. ``seen_at`` is when the job
    was last known to live.
    """

    id: RunId
    tenant: TenantId
    window_start: datetime
    dry_run: bool
    status: str
    started_at: datetime
    finished_at: datetime | None = None
    totals: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None
    undone: bool = False
    trigger: Trigger = Trigger.ASKED
    options: RunOptions = RunOptions()
    deadline: datetime | None = None
    max_tokens: int | None = None
    tokens: int = 0
    attempt: int = 1
    seen_at: datetime | None = None
    stop: Stop | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCollection:
    """A collection for a run and its size in entries, for packing."""

    scope: Scope
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Current entries in their order (oldest first) with ``vectors`` ``(n, dim)``, float32.

    ``is_new`` ``(n,)`` marks entries written by ingestion or a user since the last completed run;
    ``retry`` are (target, candidate) pairs that the ledger left failed or skipped, ``settled``
    those that a run over some entries has decided since; ``through`` is the collection's write
    counter at the snapshot.
    """

    scope: Scope
    entries: tuple[Entry, ...]
    vectors: NDArray[np.float32]
    is_new: NDArray[np.bool_]
    retry: frozenset[tuple[EntryId, EntryId]]
    through: int
    settled: frozenset[tuple[EntryId, EntryId]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A candidate as the ledger keeps it."""

    entry: EntryId
    version: int
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerItem:
    """A decision on its way to the ledger.

    ``vector`` ``(dim,)`` embeds the new text of an update; ``failure`` replaces the decision when
    the decider failed on this target. ``absorbed`` are used candidates that the new text holds
    whole.
    """

    target: EntryId
    target_version: int
    candidates: tuple[Weighed, ...]
    decision: Decision | None
    vector: NDArray[np.float32] | None = None
    failure: str | None = None
    decider: str = ""
    absorbed: tuple[EntryId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """One durable decision.

    ``state`` is applied, ignored, skipped, failed, dry or undone; ``note`` says why it was
    skipped or failed. Texts are those of the target before and after. ``absorbed`` are candidates
    that the change made outdated with it.
    """

    id: int
    run: RunId
    scope: Scope
    target: EntryId
    target_version: int
    candidates: tuple[Weighed, ...]
    action: str
    reason: str
    state: str
    note: str | None
    text_before: str
    text_after: str | None
    version_after: int | None
    decided_at: datetime
    decider: str
    absorbed: tuple[EntryId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoItem:
    """What undo or redo did with one ledger row: ``refused`` holds the reason when it did not.

    ``kind`` is decision, archive, merge or item; of an item ``entry`` is the item's id.
    """

    ledger: int
    entry: EntryId
    done: bool
    refused: str | None = None
    kind: str = "decision"
