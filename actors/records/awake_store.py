"""Leases and fenced commits of the ingest workers."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    and_,
    func,
    or_,
    select,
    update,
)

from actors.records.awake_commit import write_step
from actors.records.awake_load import state_of
from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.sql import find_collection, in_scope
from actors.records.tables import collections, leases
from pipeline.messages import Scope, TenantId
from pipeline.state import AwakeCommit, AwakeState, Lease


@retrying
class SqlAwakeStore:
    """The ``AwakeStore`` over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def lease(
        self, worker: str, *, limit: int, now: datetime, ttl_s: float, idle_s: float
    ) -> list[Lease]:
        """Up to ``limit`` collections with due work, each with a new epoch; oldest work first.

        Due: accepted messages, an unmet flush, or open messages idle for ``idle_s``.
        """
        due = _due(now, idle_s).limit(limit)
        with reading(
            self._engine, EVERY_TENANT
        ) as connection:  # an idle poll must not hold up the writers
            if connection.execute(due).first() is None:
                return []
        with writing(self._engine, EVERY_TENANT) as connection:
            rows = connection.execute(due.with_for_update(of=leases, skip_locked=True)).all()
            expires_at = now + timedelta(seconds=ttl_s)
            return [_take(connection, row, worker, now, expires_at) for row in rows]

    def heartbeat(self, leases: Sequence[Lease], *, now: datetime, ttl_s: float) -> list[Lease]:
        """Extends the leases still held and returns those."""
        values = {"heartbeat_at": now, "expires_at": now + timedelta(seconds=ttl_s)}
        return self._change_held(leases, values)

    def release(self, leases: Sequence[Lease]) -> None:
        """Gives them back; one already lost is no error."""
        self._change_held(leases, {"worker": None, "heartbeat_at": None, "expires_at": None})

    def load(self, lease: Lease, *, limit: int, now: datetime, idle_s: float) -> AwakeState:
        """What the next step of the collection starts from; at most ``limit`` accepted messages.

        A flush, asked for or due by idleness, waits until no accepted message lies behind the
        limit, so that a long backlog is not cut into topics early.

        Raises:
            NotFound: the collection was erased meanwhile.
        """
        with reading(self._engine, lease.scope.tenant) as connection:
            row = find_collection(connection, lease.scope)
            is_idle = row.last_accepted_at <= now - timedelta(seconds=idle_s)
            return state_of(connection, lease.scope, row, limit=limit, is_idle=is_idle)

    def commit(self, lease: Lease, commit: AwakeCommit, *, now: datetime) -> bool:
        """Writes the step in one transaction, outbox included.

        False, and nothing written, when the epoch or the start step no longer hold. A statement
        identical to an active entry (text, speaker, kind) adds its sources to that entry.
        """
        with writing(self._engine, lease.scope.tenant) as connection:
            held = select(leases).where(_is_held(lease)).with_for_update()
            if connection.execute(held).first() is None:
                return False
            row = find_collection(connection, lease.scope, lock=True)
            if row.step != commit.start_step:
                return False
            write_step(connection, lease.scope, row, commit, now=now)
            connection.execute(update(leases).where(_is_held(lease)).values(takeovers=0))
            return True

    def _change_held(self, wanted: Sequence[Lease], values: dict[str, Any]) -> list[Lease]:
        held: list[Lease] = []
        with writing(self._engine, EVERY_TENANT) as connection:
            for lease in sorted(wanted, key=lambda one: (one.scope.tenant, one.scope.collection)):
                statement = update(leases).where(_is_held(lease)).values(values)
                if connection.execute(statement).rowcount:
                    held.append(lease)
        return [lease for lease in wanted if lease in held]


def _is_held(lease: Lease) -> ColumnElement[bool]:
    return and_(
        in_scope(leases, lease.scope),
        leases.c.epoch == lease.epoch,
        leases.c.worker == lease.worker,
    )


def _due(now: datetime, idle_s: float) -> Select[Any]:
    """Leases that nobody holds over collections with work, the longest waiting first."""
    is_idle = collections.c.last_accepted_at <= now - timedelta(seconds=idle_s)
    is_flush_unmet = collections.c.flush_requested > collections.c.flushed
    since = func.coalesce(collections.c.waiting_since, collections.c.last_accepted_at)
    return (
        select(leases)
        .join_from(
            leases,
            collections,
            and_(
                collections.c.tenant == leases.c.tenant,
                collections.c.name == leases.c.collection,
            ),
        )
        .where(
            collections.c.pending > 0,
            or_(collections.c.accepted > 0, is_flush_unmet, is_idle),
            or_(leases.c.expires_at.is_(None), leases.c.expires_at <= now),
        )
        .order_by(since, collections.c.tenant, collections.c.name)
    )


def _take(
    connection: Connection, row: Row[Any], worker: str, now: datetime, expires_at: datetime
) -> Lease:
    scope = Scope(tenant=TenantId(row.tenant), collection=row.collection)
    values = {
        "epoch": row.epoch + 1,
        "worker": worker,
        "heartbeat_at": now,
        "expires_at": expires_at,
        "takeovers": row.takeovers + (row.worker is not None),
    }
    connection.execute(update(leases).where(in_scope(leases, scope)).values(values))
    return Lease(scope=scope, worker=worker, epoch=row.epoch + 1)
