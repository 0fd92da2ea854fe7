"""Sleep runs in the record store: what is due, snapshots, the ledger and its application.

A collection is written in one transaction per run, so a run that dies leaves each collection as
it was or as the finished run would leave it. What undo and redo do is in ``sleep_undo``.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, Engine, exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from actors.records.bulk import upsert
from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.sleep_due import due_collections
from actors.records.sleep_rows import decision_of, decision_to_json, ledger_row_of, run_of
from actors.records.sleep_snapshot import read_snapshot
from actors.records.sleep_undo import redo_run, undo_run
from actors.records.sleep_write import record_items
from actors.records.sql import chunks, in_scope, is_collection
from actors.records.tables import collections, ledger, reply_cache, sleep_runs, tenants
from actors.records.tombstones import erased_since
from pipeline.entries import Decision
from pipeline.errors import Conflict, NotFound
from pipeline.ids import RunId
from pipeline.messages import Scope, TenantId
from pipeline.state import (
    DueCollection,
    LedgerItem,
    LedgerRow,
    SleepRun,
    Snapshot,
    UndoItem,
)


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
                connection.execute(insert(sleep_runs).values(**_values(run)))
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
    ) -> SleepRun:
        """Writes how the run ended. Raises NotFound."""
        with writing(self._engine, tenant) as connection:
            connection.execute(
                update(sleep_runs)
                .where(sleep_runs.c.tenant == tenant, sleep_runs.c.id == run)
                .values(status=status, totals=dict(totals), error=error, finished_at=now)
            )
            return find_run(connection, tenant, run)

    def stop_running(self, *, now: datetime) -> int:
        """Closes runs whose job died with its service; returns how many that were."""
        ended = {"status": "stopped", "error": "the service ended", "finished_at": now}
        with writing(self._engine, EVERY_TENANT) as connection:
            result = connection.execute(
                update(sleep_runs).where(sleep_runs.c.status == "running").values(ended)
            )
            return result.rowcount

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

    def due(self, tenant: TenantId, *, collection: str | None = None) -> list[DueCollection]:
        """Collections with entries new since their last completed run, or unfinished decisions."""
        with reading(self._engine, tenant) as connection:
            return due_collections(connection, tenant, collection=collection)

    def snapshot(self, scope: Scope, *, model: str) -> Snapshot:
        """The collection's current entries in their order with vectors, as of one instant.

        Raises:
            NotFound: there is no such collection.
            ConfigError: some entries have no vector of this model.
        """
        with reading(self._engine, scope.tenant) as connection:
            return read_snapshot(connection, scope, model=model)

    def ledger(self, tenant: TenantId, run: RunId) -> list[LedgerRow]:
        """The rows of the tenant's run in the order they were written."""
        mine = (ledger.c.tenant == tenant, ledger.c.run == run)
        query = select(ledger).where(*mine).order_by(ledger.c.id)
        with reading(self._engine, tenant) as connection:
            return [ledger_row_of(row) for row in connection.execute(query)]

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
        run has seen it up to ``through``. A repeated item returns its first row unchanged.
        """
        with writing(self._engine, scope.tenant) as connection:
            find_run(connection, scope.tenant, run)
            return record_items(
                connection,
                run,
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
        self, decisions: Mapping[str, Decision], *, scope: Scope, through: int, now: datetime
    ) -> None:
        """Remembers replies; the first one stays.

        None is kept where something of the collection was erased after its write counter stood at
        ``through``: they may be made of it.
        """
        place = {"tenant": scope.tenant, "collection": scope.collection, "created_at": now}
        rows = [
            place | {"key": key, "decision": decision_to_json(decision)}
            for key, decision in sorted(decisions.items())
        ]
        if not rows:
            return
        with writing(self._engine, scope.tenant) as connection:
            held = select(collections.c.name).where(is_collection(scope)).with_for_update()
            if connection.execute(held).first() is None:
                return
            if not erased_since(connection, scope, through):
                upsert(connection, reply_cache, rows, changes=())


def _values(run: SleepRun) -> dict[str, object]:
    return {
        "id": run.id,
        "tenant": run.tenant,
        "window_start": run.window_start,
        "dry_run": run.dry_run,
        "status": run.status,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "totals": dict(run.totals),
        "error": run.error,
        "undone": run.undone,
    }


def find_run(connection: Connection, tenant: TenantId, run: RunId) -> SleepRun:
    """The tenant's run. Raises NotFound."""
    query = select(sleep_runs).where(sleep_runs.c.tenant == tenant, sleep_runs.c.id == run)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(f"no sleep run {run}", field="run")
    return run_of(row)


def _ended(connection: Connection, tenant: TenantId, run: RunId) -> SleepRun:
    found = find_run(connection, tenant, run)
    if found.status == "running":
        raise Conflict(f"sleep run {run} is still running", field="run")
    return found
