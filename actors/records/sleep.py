"""Sleep runs in the record store: what is due, snapshots, the ledger and its application.

A collection is written in one transaction per run, so a run that dies leaves each collection as
it was or as the finished run would leave it. What undo and redo do is in ``sleep_undo``.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, Engine, exists, insert, select
from sqlalchemy.exc import IntegrityError

from actors.records.bulk import upsert
from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.sleep_due import due_collections
from actors.records.sleep_keeping import RUNNING, beat, close, find_run, spend, take_over
from actors.records.sleep_rows import (
    count_decisions,
    decision_of,
    decision_to_json,
    ledger_row_of,
    run_of,
    run_values,
)
from actors.records.sleep_snapshot import read_snapshot
from actors.records.sleep_undo import redo_run, undo_run
from actors.records.sleep_write import record_items
from actors.records.sql import chunks, in_scope, is_collection
from actors.records.tables import collections, ledger, reply_cache, sleep_runs, tenants
from actors.records.tombstones import erased_since
from actors.records.usage import add_usage
from pipeline.chat import Spent
from pipeline.entries import Decision
from pipeline.errors import Conflict, NotFound
from pipeline.ids import RunId
from pipeline.messages import Scope, TenantId
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

EVERYTHING = EntryFilter()


@retrying
class SqlSleepStore:
    """Runs, their snapshots and their ledger on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # Runs -----------------------------------------------------------------------------------

    def open_run(self, run: SleepRun) -> SleepRun:
        """Stores the run. Raises Conflict when one for (tenant, window start) exists."""
        with writing(self._engine, run.tenant) as connection:
            known = select(exists().where(tenants.c.name == run.tenant))
            if not connection.execute(known).scalar_one():
                raise NotFound(f"no tenant {run.tenant}", field="tenant")
            try:
                connection.execute(insert(sleep_runs).values(**run_values(run)))
            except IntegrityError as exc:
                raise Conflict(
                    f"a run of {run.tenant} for the window of {run.window_start.isoformat()} "
                    "exists",
                    field="window_start",
                ) from exc
        return run

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
        """Writes how the run ended, once; of its jobs only ``attempt`` may. Raises NotFound."""
        with writing(self._engine, tenant) as connection:
            return close(
                connection,
                tenant,
                run,
                status=status,
                totals=totals,
                error=error,
                stop=stop,
                attempt=attempt,
                now=now,
            )

    def beat(self, tenant: TenantId, run: RunId, *, attempt: int, now: datetime) -> None:
        """That the run's job lives. Raises Conflict when another has taken its place."""
        with writing(self._engine, tenant) as connection:
            beat(connection, tenant, run, attempt=attempt, now=now)

    def spend(self, tenant: TenantId, run: RunId, *, tokens: int) -> int:
        """Adds tokens to what the run has used; the sum. Raises NotFound."""
        with writing(self._engine, tenant) as connection:
            return spend(connection, tenant, run, tokens)

    def take_over(self, *, silent_since: datetime, now: datetime) -> list[SleepRun]:
        """Running runs whose job fell silent, each the caller's from now on."""
        with writing(self._engine, EVERY_TENANT) as connection:
            return take_over(connection, silent_since=silent_since, now=now)

    def run(self, tenant: TenantId, run: RunId) -> SleepRun:
        """The run. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            return find_run(connection, tenant, run)

    def runs(self, tenant: TenantId, *, limit: int = 50) -> list[SleepRun]:
        """Runs, newest first."""
        query = (
            select(sleep_runs)
            .where(sleep_runs.c.tenant == tenant)
            .order_by(sleep_runs.c.started_at.desc(), sleep_runs.c.id)
            .limit(limit)
        )
        with reading(self._engine, tenant) as connection:
            return [run_of(row) for row in connection.execute(query)]

    # Reading --------------------------------------------------------------------------------

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
        with reading(self._engine, tenant) as connection:
            return due_collections(
                connection, tenant, collection=collection, is_full=is_full, but_of=but_of
            )

    def snapshot(self, scope: Scope, *, model: str, only: EntryFilter = EVERYTHING) -> Snapshot:
        """The collection's current entries in their order with vectors, as of one instant.

        Raises:
            NotFound: there is no such collection.
            ConfigError: some entries have no vector of this model.
        """
        with reading(self._engine, scope.tenant) as connection:
            return read_snapshot(connection, scope, model=model, only=only)

    def ledger(self, tenant: TenantId, run: RunId) -> list[LedgerRow]:
        """The rows of the tenant's run in the order they were written."""
        mine = (ledger.c.tenant == tenant, ledger.c.run == run)
        query = select(ledger).where(*mine).order_by(ledger.c.id)
        with reading(self._engine, tenant) as connection:
            return [ledger_row_of(row) for row in connection.execute(query)]

    def counts(self, tenant: TenantId, run: RunId) -> dict[str, int]:
        """The targets in the run's ledger by what became of them, and how many collections."""
        with reading(self._engine, tenant) as connection:
            return count_decisions(connection, tenant, run)

    # Writing --------------------------------------------------------------------------------

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
        with writing(self._engine, scope.tenant) as connection:
            return record_items(
                connection,
                find_run(connection, scope.tenant, run),
                scope,
                items,
                through=through,
                model=model,
                dry_run=dry_run,
                now=now,
            )

    def undo(self, tenant: TenantId, run: RunId, *, now: datetime) -> list[UndoItem]:
        """Takes back each applied row whose entry is unchanged since; refuses the rest per item.

        Raises:
            NotFound: there is no such run.
            Conflict: it is still running.
        """
        with writing(self._engine, tenant) as connection:
            return undo_run(connection, _ended(connection, tenant, run), now=now)

    def redo(self, tenant: TenantId, run: RunId, *, now: datetime) -> list[UndoItem]:
        """Applies each undone row again where its entry is as the undo left it.

        Raises:
            NotFound: there is no such run.
            Conflict: it is still running.
        """
        with writing(self._engine, tenant) as connection:
            return redo_run(connection, _ended(connection, tenant, run), now=now)

    # Replies --------------------------------------------------------------------------------

    def cached_decisions(self, keys: Sequence[str], *, scope: Scope) -> dict[str, Decision]:
        """Replies already given to (prompt hash, model) in the collection."""
        found = {}
        with reading(self._engine, scope.tenant) as connection:
            for some in chunks(keys):
                mine = (in_scope(reply_cache, scope), reply_cache.c.key.in_(some))
                query = select(reply_cache).where(*mine)
                for row in connection.execute(query):
                    found[row.key] = decision_of(row.decision)
        return found

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
        ``through``: they may be made of it.
        """
        place = {"tenant": scope.tenant, "collection": scope.collection, "created_at": now}
        rows = [
            place | {"key": key, "decision": decision_to_json(decision)}
            for key, decision in sorted(decisions.items())
        ]
        if not rows and not spent:
            return
        with writing(self._engine, scope.tenant) as connection:
            held = select(collections.c.name).where(is_collection(scope)).with_for_update()
            if connection.execute(held).first() is None:
                return
            add_usage(connection, scope, spent, refused or {}, now=now)
            if rows and not erased_since(connection, scope, through):
                upsert(connection, reply_cache, rows, changes=())


def _ended(connection: Connection, tenant: TenantId, run: RunId) -> SleepRun:
    found = find_run(connection, tenant, run)
    if found.status == RUNNING:
        raise Conflict(f"sleep run {run} is still running", field="run")
    return found
