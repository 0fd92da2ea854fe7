"""The record store: what was said, what is remembered, how it is worked on."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from pipeline.chat import Spent
from pipeline.entries import (
    Decision,
    Entry,
    EntryChange,
    EntryVersion,
    Kind,
    Status,
)
from pipeline.ids import EntryId, MessageId, RunId
from pipeline.messages import Json, Message, NewMessage, Scope, Segment, TenantId
from pipeline.runs import (
    DueCollection,
    EntryFilter,
    LedgerItem,
    LedgerRow,
    SleepRun,
    Snapshot,
    Stop,
    UndoItem,
)
from pipeline.state import AwakeCommit, AwakeState, CollectionInfo, Lease, Page
from pipeline.vectors import Vectors


class MessageLog(Protocol):
    """Accepting messages: durable before it returns, all or nothing."""

    def accept(
        self,
        scope: Scope,
        messages: Sequence[NewMessage],
        *,
        now: datetime,
        idempotency_key: str | None = None,
        body_digest: str = "",
        messages_per_minute: int | None = None,
    ) -> list[Message]:
        """The accepted messages with ids and sequences, in order.

        A known (conversation, external id) or idempotency key gives the message accepted then and
        counts against no quota.

        Raises:
            Conflict: the key or id came before with another body.
            AccessError: the tenant is disabled.
            LimitError: more new messages than its quota per minute.
        """
        ...

    def last_said_at(self, scope: Scope, conversation: str) -> datetime | None:
        """When the conversation's newest accepted message was said."""
        ...

    def messages(
        self, scope: Scope, *, after: int = 0, limit: int = 1000, newest: bool = False
    ) -> list[Message]:
        """Messages by sequence, those above ``after``; with ``newest`` the last ``limit``."""
        ...

    def messages_by_id(self, scope: Scope, ids: Sequence[MessageId]) -> dict[MessageId, Message]:
        """The messages of these ids that exist in the scope."""
        ...

    def around(self, scope: Scope, conversation: str, sequence: int, *, most: int) -> list[Message]:
        """The message, at most ``most`` of its conversation before it and after it, by sequence."""
        ...

    def must_exist(self, tenant: TenantId, names: Sequence[str]) -> None:
        """Raises NotFound for the first of the names that is no collection of the tenant."""
        ...

    def segments(self, scope: Scope) -> list[Segment]:
        """The collection's segments with their messages, by first sequence."""
        ...

    def request_flush(self, scope: Scope) -> int:
        """Asks that all accepted so far is extracted; returns the last sequence."""
        ...

    def request_end(self, scope: Scope, conversation: str) -> int:
        """Says that the conversation ended; returns its last sequence. Raises NotFound."""
        ...

    def collection(self, scope: Scope) -> CollectionInfo:
        """How far the collection is. Raises NotFound."""
        ...

    def settings(self, scope: Scope) -> Mapping[str, Json]:
        """The settings of the collection's own. Raises NotFound."""
        ...

    def change_settings(
        self,
        scope: Scope,
        change: Callable[[Mapping[str, Json]], Mapping[str, Json]],
        *,
        now: datetime,
    ) -> Mapping[str, Json]:
        """Sets what ``change`` makes of the settings of its own; the collection is made if new.

        They hold from the next step on.
        """
        ...

    def collections(self, tenant: TenantId) -> list[CollectionInfo]:
        """All collections of the tenant, by name."""
        ...


class AwakeStore(Protocol):
    """Leases and fenced commits of the ingest workers."""

    def lease(
        self, worker: str, *, limit: int, now: datetime, ttl_s: float, idle_s: float
    ) -> list[Lease]:
        """Up to ``limit`` collections with due work, each with a new epoch.

        Tenants take turns, the longest waiting first; so do the collections of each. Due:
        accepted messages, an unmet flush, or open messages idle for ``idle_s``, or as long as the
        collection's own settings say. One whose last two workers died or failed is to be stepped
        with care. A clock that was set back holds nothing up.
        """
        ...

    def heartbeat(self, leases: Sequence[Lease], *, now: datetime, ttl_s: float) -> list[Lease]:
        """Extends the leases still held and returns those."""
        ...

    def release(self, leases: Sequence[Lease]) -> None:
        """Gives them back; one already lost is no error."""
        ...

    def fail(self, leases: Sequence[Lease], reason: str) -> None:
        """Marks those still held as failed; the second time their steps are taken with care."""
        ...

    def claim(self, lease: Lease, ids: Sequence[MessageId]) -> dict[MessageId, int] | None:
        """Counts an attempt for each message before it is touched, and returns all of them so far.

        None, and nothing counted, when the lease is lost.
        """
        ...

    def unclaim(self, lease: Lease, ids: Sequence[MessageId]) -> None:
        """Takes back the attempt that was counted last, since what failed has nothing to do with
        the messages; one whose lease is lost keeps it.
        """
        ...

    def load(self, lease: Lease, *, limit: int, now: datetime, idle_s: float) -> AwakeState:
        """What the next step of the collection starts from; at most ``limit`` accepted messages,
        or about so many in windows where a flush finds none accepted.

        Only one of them while the first lies where workers died or failed.
        """
        ...

    def commit(self, lease: Lease, commit: AwakeCommit, *, now: datetime) -> bool:
        """Writes the step in one transaction, outbox included.

        False, and nothing written, when the epoch or the start step no longer hold. A statement
        identical to an active entry (text, speaker, kind) adds its sources to that entry.
        """
        ...


class EntryStore(Protocol):
    """Entries and their versions."""

    def entries(
        self,
        scope: Scope,
        *,
        statuses: Sequence[Status] = (),
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """Entries in their order, oldest first. Raises NotFound for an unknown collection."""
        ...

    def entry(self, tenant: TenantId, entry: EntryId) -> tuple[Scope, Entry]:
        """The entry in its present version. Raises NotFound."""
        ...

    def read_back(
        self,
        tenant: TenantId,
        collections: Sequence[str],
        ids: Sequence[EntryId],
        *,
        statuses: Sequence[Status],
    ) -> dict[EntryId, tuple[Scope, Entry]]:
        """Those of the ids that lie in one of the collections with one of the statuses."""
        ...

    def versions(
        self, tenant: TenantId, collections: Sequence[str], ids: Sequence[EntryId]
    ) -> dict[EntryId, tuple[Scope, list[Entry]]]:
        """Every version, oldest first, of those of the ids that lie in one of the collections."""
        ...

    def of_kind(self, scope: Scope, kind: Kind, *, limit: int) -> list[Entry]:
        """Current entries of one kind, newest first."""
        ...

    def history(self, tenant: TenantId, entry: EntryId) -> list[EntryVersion]:
        """Every version, oldest first. Raises NotFound."""
        ...

    def revise(
        self,
        tenant: TenantId,
        entry: EntryId,
        change: EntryChange,
        *,
        expected_version: int,
        vector: Vectors | None,
        model: str,
        why: str,
        now: datetime,
    ) -> Entry:
        """The user's correction as a new version; ``vector`` is of the new text when it changes.

        Raises:
            Conflict: the entry is not at ``expected_version``.
        """
        ...

    def used(self, scope: Scope, ids: Sequence[EntryId], *, now: datetime) -> None:
        """Strengthens entries that an answer or context used (times 1.2, at most 5)."""
        ...


class SleepStore(Protocol):
    """Runs, their snapshots and their ledger."""

    def open_run(self, run: SleepRun) -> SleepRun:
        """Stores the run. Raises Conflict when one for (tenant, window start) exists."""
        ...

    def close_run(
        self,
        tenant: TenantId,
        run: RunId,
        *,
        status: str,
        totals: Mapping[str, int],
        error: str | None,
        now: datetime,
        stop: Stop | None = None,
        attempt: int | None = None,
    ) -> SleepRun:
        """Writes how the run ended, once; of its jobs only ``attempt`` may where it is given."""
        ...

    def beat(self, tenant: TenantId, run: RunId, *, attempt: int, now: datetime) -> None:
        """That the run's job lives. Raises Conflict when another has taken its place."""
        ...

    def spend(self, tenant: TenantId, run: RunId, *, tokens: int) -> int:
        """Adds tokens to what the run has used; the sum."""
        ...

    def take_over(self, *, silent_since: datetime, now: datetime) -> list[SleepRun]:
        """Running runs whose job fell silent, each the caller's from now on, as one attempt more.

        Of several callers one gets a run.
        """
        ...

    def run(self, tenant: TenantId, run: RunId) -> SleepRun:
        """The run. Raises NotFound."""
        ...

    def runs(self, tenant: TenantId, *, limit: int = 50) -> list[SleepRun]:
        """Runs, newest first."""
        ...

    def due(
        self,
        tenant: TenantId,
        *,
        collection: str | None = None,
        is_full: bool = False,
        but_of: RunId | None = None,
    ) -> list[DueCollection]:
        """Collections with entries new since their last completed run, or unfinished decisions.

        All that hold an entry where the run is a full one. Those that the run ``but_of`` has
        recorded already are left to the next one.
        """
        ...

    def snapshot(self, scope: Scope, *, model: str, only: EntryFilter = ...) -> Snapshot:
        """The current entries that the filter lets through, in their order, as of one instant."""
        ...

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
        """Per item a ledger row, then the change by compare-and-set, in the order given.

        Skipped, with the reason, where the target or a used candidate is not in the version of
        the snapshot or not current. All in one transaction with the collection's mark that this
        run has seen it up to ``through``. A run records a collection once: repeated, it returns the
        rows that are there and changes nothing.
        """
        ...

    def counts(self, tenant: TenantId, run: RunId) -> dict[str, int]:
        """The targets in the run's ledger by what became of them, and how many collections.

        Counts targets, update, delete, ignore, skipped, failed, absorbed and collections.
        """
        ...

    def ledger(self, tenant: TenantId, run: RunId) -> list[LedgerRow]:
        """The run's rows in the order they were written."""
        ...

    def undo(self, tenant: TenantId, run: RunId, *, now: datetime) -> list[UndoItem]:
        """Takes back each applied row whose entry is unchanged since; refuses the rest per item."""
        ...

    def redo(self, tenant: TenantId, run: RunId, *, now: datetime) -> list[UndoItem]:
        """Applies each undone row again where its entry is as the undo left it."""
        ...

    def cached_decisions(self, keys: Sequence[str], *, scope: Scope) -> dict[str, Decision]:
        """Replies already given to (prompt hash, model) in the collection."""
        ...

    def cache_decisions(
        self,
        decisions: Mapping[str, Decision],
        *,
        scope: Scope,
        through: int,
        now: datetime,
        spent: Sequence[Spent] = (),
        refused: Mapping[str, int] | None = None,
    ) -> None:
        """Remembers replies, the first one stays; adds what they took to the day's usage.

        None is kept where something of the collection was erased after its write counter stood at
        ``through``.
        """
        ...
