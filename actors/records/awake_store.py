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
    Update,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    update,
)

from actors.records.awake_commit import write_step
from actors.records.awake_load import state_of
from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.sql import find_collection, in_place, in_scope, place_of
from actors.records.tables import collections, conversations, messages
from actors.records.tables import leases as table
from pipeline.awake.idle import NEVER
from pipeline.awake.shares import MOST_IN_STEP
from pipeline.ids import MessageId
from pipeline.messages import MessageState, Scope, TenantId
from pipeline.state import AwakeCommit, AwakeState, Lease

MOST_WAIT_S = 3600.0
"""No collection waits longer for an endpoint before it is tried again."""

_MARK = select(table).where(in_place(table))
_IS_HELD = and_(
    in_place(table),
    table.c.epoch == bindparam("of_epoch"),
    table.c.worker == bindparam("of_worker"),
)
_HELD = select(table).where(_IS_HELD).with_for_update()
_EXTEND = (
    update(table)
    .where(_IS_HELD)
    .values(heartbeat_at=bindparam("beat"), expires_at=bindparam("until"))
)
_TAKE = (
    update(table)
    .where(in_place(table))
    .values(
        epoch=bindparam("new_epoch"),
        worker=bindparam("taken_by"),
        heartbeat_at=bindparam("beat"),
        expires_at=bindparam("until"),
    )
)
_RELEASE = update(table).where(_IS_HELD).values(worker=None, heartbeat_at=None, expires_at=None)
_WENT_WELL = (
    update(table)
    .where(in_place(table), or_(table.c.takeovers > 0, table.c.retry_at.is_not(None)))
    .values(takeovers=0, retry_at=None)
)
_WAITS = (
    update(table)
    .where(in_place(table))
    .values(takeovers=0, retry_at=bindparam("not_before"), failure=bindparam("why"))
)


@retrying
class SqlAwakeStore:
    """The ``AwakeStore`` over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def lease(
        self, worker: str, *, limit: int, now: datetime, ttl_s: float, idle_s: float
    ) -> list[Lease]:
        """Up to ``limit`` collections with due work, each with a new epoch.

        Tenants take turns, the longest waiting first; so do the collections of each. Due:
        accepted messages, an unmet flush, an ended conversation, or open messages idle for
        ``idle_s``, or as long as the collection's own settings say. One whose last two workers died
        or failed is to be stepped with care.
        """
        long = timedelta(seconds=idle_s)
        when = {"now": now, "long_ago": now - long, "long_ahead": now + long, "most": limit}
        when["ahead"] = now + timedelta(seconds=ttl_s)
        when["latest"] = now + timedelta(seconds=MOST_WAIT_S)
        with reading(
            self._engine, EVERY_TENANT
        ) as connection:  # an idle poll must not hold up the writers
            if connection.execute(_DUE, when).first() is None:
                return []
        with writing(self._engine, EVERY_TENANT) as connection:
            rows = connection.execute(_TO_TAKE, when).all()
            expires_at = now + timedelta(seconds=ttl_s)
            return [_take(connection, row, worker, now, expires_at) for row in rows]

    def heartbeat(self, leases: Sequence[Lease], *, now: datetime, ttl_s: float) -> list[Lease]:
        """Extends the leases still held and returns those."""
        values = {"beat": now, "until": now + timedelta(seconds=ttl_s)}
        return self._change_held(leases, _EXTEND, values)

    def release(self, leases: Sequence[Lease]) -> None:
        """Gives them back; one already lost is no error."""
        self._change_held(leases, _RELEASE, {})

    def fail(self, leases: Sequence[Lease], reason: str) -> None:
        """Marks those still held as failed; the second time their steps are taken with care."""
        with writing(self._engine, EVERY_TENANT) as connection:
            for lease in leases:
                values = {"failure": reason, **_marked(connection, lease.scope)}
                connection.execute(update(table).where(_IS_HELD).values(values), _held(lease))

    def claim(self, lease: Lease, ids: Sequence[MessageId]) -> dict[MessageId, int] | None:
        """Counts an attempt for each message before it is touched, and returns all of them so far.

        None, and nothing counted, when the lease is lost.
        """
        return self._count(lease, ids, 1)

    def unclaim(self, lease: Lease, ids: Sequence[MessageId]) -> None:
        """Takes back the attempt that was counted last, since what failed has nothing to do with
        the messages; one whose lease is lost keeps it.
        """
        self._count(lease, ids, -1)

    def _count(
        self, lease: Lease, ids: Sequence[MessageId], more: int
    ) -> dict[MessageId, int] | None:
        mine = (in_scope(messages, lease.scope), messages.c.id.in_(ids))
        with writing(self._engine, lease.scope.tenant) as connection:
            if connection.execute(_HELD, _held(lease)).first() is None:
                return None
            count = {"attempts": messages.c.attempts + more}
            connection.execute(update(messages).where(*mine).values(count))
            rows = connection.execute(select(messages.c.id, messages.c.attempts).where(*mine))
            return {MessageId(row.id): row.attempts for row in rows}

    def load(self, lease: Lease, *, limit: int, now: datetime, idle_s: float) -> AwakeState:
        """What the next step of the collection starts from; at most ``limit`` accepted messages,
        or about so many in windows where a flush finds none accepted.

        Only one of them while the first lies where a worker died or failed.

        A flush, asked for or due by idleness, waits until no accepted message lies behind the
        limit, so that a long backlog is not cut into topics early.

        Raises:
            NotFound: the collection was erased meanwhile.
        """
        with reading(self._engine, lease.scope.tenant) as connection:
            row = find_collection(connection, lease.scope)
            mark = connection.execute(_MARK, place_of(lease.scope)).one()
            is_idle = _is_idle(row, now, timedelta(seconds=idle_s))
            return state_of(connection, lease.scope, row, mark=mark, limit=limit, is_idle=is_idle)

    def commit(self, lease: Lease, commit: AwakeCommit, *, now: datetime) -> bool:
        """Writes the step in one transaction, outbox included.

        False, and nothing written, when the epoch or the start step no longer hold. A statement
        identical to an active entry (text, speaker, kind) adds its sources to that entry.
        """
        with writing(self._engine, lease.scope.tenant) as connection:
            if connection.execute(_HELD, _held(lease)).first() is None:
                return False
            row = find_collection(connection, lease.scope, lock=True)
            if row.step != commit.start_step:
                return False
            write_step(connection, lease.scope, row, commit, now=now)
            _mark_end(connection, lease.scope, commit, now)
            return True

    def _change_held(
        self, wanted: Sequence[Lease], change: Update, values: dict[str, Any]
    ) -> list[Lease]:
        held: list[Lease] = []
        with writing(self._engine, EVERY_TENANT) as connection:
            for lease in sorted(wanted, key=lambda one: (one.scope.tenant, one.scope.collection)):
                if connection.execute(change, _held(lease) | values).rowcount:
                    held.append(lease)
        return [lease for lease in wanted if lease in held]


def _mark_end(connection: Connection, scope: Scope, commit: AwakeCommit, now: datetime) -> None:
    """Forgets that earlier steps went wrong; one that must be tried again leaves when and why."""
    if commit.retry_after_s is None:
        connection.execute(_WENT_WELL, place_of(scope))
        return
    wait = timedelta(seconds=min(commit.retry_after_s, MOST_WAIT_S))
    connection.execute(_WAITS, place_of(scope) | {"not_before": now + wait, "why": commit.failure})


def _held(lease: Lease) -> dict[str, Any]:
    """The parameters of ``_IS_HELD``."""
    return place_of(lease.scope) | {"of_epoch": lease.epoch, "of_worker": lease.worker}


def _due() -> Select[Any]:
    """Leases that nobody holds over collections with work; tenants take turns, oldest work first.

    Whether a lease is free is asked twice: PostgreSQL looks again at the row it locks, not at the
    rows that were ranked.
    """
    work = _ranked().where(_is_free()).subquery()
    of_work = and_(work.c.tenant == table.c.tenant, work.c.name == table.c.collection)
    return (
        select(table, work.c.waiting)
        .join_from(table, work, of_work)
        .where(_is_free())
        .order_by(work.c.turn, work.c.since, work.c.tenant, work.c.name)
        .limit(bindparam("most"))
    )


def _ranked() -> Select[Any]:
    """Collections with work and their leases; ``turn`` counts those of a tenant, oldest first."""
    of = collections.c
    is_idle = or_(
        of.idle_at <= bindparam("now"),
        and_(of.idle_at.is_(None), of.last_accepted_at <= bindparam("long_ago")),
        # As far in the future means that the clock was set back: nothing may wait until it is then.
        and_(
            of.last_accepted_at >= bindparam("long_ahead"),
            or_(of.idle_at.is_(None), of.idle_at < NEVER),
        ),
    )
    is_flush_unmet = of.flush_requested > of.flushed
    since = func.coalesce(of.waiting_since, of.last_accepted_at)
    is_to_retry = table.c.retry_at.is_not(None)
    has_ended = exists().where(
        conversations.c.tenant == of.tenant,
        conversations.c.collection == of.name,
        conversations.c.ending_through > 0,
    )
    waiting = case((of.accepted > 0, of.accepted), else_=of.pending).label("waiting")
    turn = func.row_number().over(partition_by=of.tenant, order_by=(since, of.name))
    of_lease = and_(of.tenant == table.c.tenant, of.name == table.c.collection)
    return (
        select(of.tenant, of.name, waiting, since.label("since"), turn.label("turn"))
        .join_from(collections, table, of_lease)
        .where(
            of.pending > 0,
            or_(of.accepted > 0, is_flush_unmet, is_idle, is_to_retry, has_ended),
        )
    )


def _is_idle(row: Row[Any], now: datetime, long: timedelta) -> bool:
    """The same of one row of ``collections``."""
    if row.idle_at == NEVER:
        return False
    after = row.idle_at or row.last_accepted_at + long
    return bool(after <= now or row.last_accepted_at - now >= long)


def _is_free() -> ColumnElement[bool]:
    """Never taken, run out, or last held further in the future than clocks of machines differ;
    and not waiting for an endpoint.

    The clock was set back then. A holder that lives is fenced off, or beats before it is looked at.
    """
    is_set_back = table.c.heartbeat_at > bindparam("ahead")
    is_free = or_(table.c.expires_at.is_(None), table.c.expires_at <= bindparam("now"), is_set_back)
    at = table.c.retry_at
    return and_(is_free, or_(at.is_(None), at <= bindparam("now"), at > bindparam("latest")))


_DUE = _due()
_TO_TAKE = _DUE.with_for_update(of=table, skip_locked=True)


def _take(
    connection: Connection, row: Row[Any], worker: str, now: datetime, expires_at: datetime
) -> Lease:
    scope = Scope(tenant=TenantId(row.tenant), collection=row.collection)
    if row.worker is not None:  # nobody gave it back: that worker died, or is taken for dead
        marks = {"failure": None, **_marked(connection, scope)}
        connection.execute(update(table).where(in_scope(table, scope)).values(marks))
    taken = {"taken_by": worker, "new_epoch": row.epoch + 1, "beat": now, "until": expires_at}
    connection.execute(_TAKE, place_of(scope) | taken)
    return Lease(scope=scope, worker=worker, epoch=row.epoch + 1, waiting=row.waiting)


def _marked(connection: Connection, scope: Scope) -> dict[str, Any]:
    """The marks of a collection whose last step did not end well.

    Machines go down and are replaced far more often than a message is deadly, and care is slow: so
    the first time is forgiven, and from the second in a row on steps are taken with care.

    A step holds at most so many accepted messages, and all that was in windows and buffers.
    """
    row = find_collection(connection, scope)
    query = (
        select(messages.c.sequence)
        .where(in_scope(messages, scope), messages.c.state == MessageState.ACCEPTED.value)
        .order_by(messages.c.sequence)
        .offset(MOST_IN_STEP - 1)
        .limit(1)
    )
    through = connection.execute(query).scalar() or row.last_sequence
    is_second = table.c.takeovers > 0
    careful = case((is_second, through), else_=table.c.careful_through)
    return {"takeovers": table.c.takeovers + 1, "careful_through": careful}
