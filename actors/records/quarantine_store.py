"""Messages that could not be extracted: shown, sent in again, or dropped."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    and_,
    delete,
    func,
    select,
    tuple_,
    update,
)

from actors.records.engine import reading, writing
from actors.records.failures import retrying
from actors.records.rows import message_of
from actors.records.sql import find_collection, in_scope, is_collection
from actors.records.tables import collections, messages, quarantine, segments
from pipeline.errors import Conflict, NotFound
from pipeline.ids import MessageId, segment_id
from pipeline.messages import MessageState, Scope, TenantId
from pipeline.tenancy import QuarantineItem, QuarantineState

_QUARANTINED = messages.c.state == MessageState.QUARANTINED.value
_IS: dict[QuarantineState, ColumnElement[bool]] = {
    QuarantineState.HELD: and_(_QUARANTINED, quarantine.c.dropped_at.is_(None)),
    QuarantineState.DROPPED: quarantine.c.dropped_at.is_not(None),
    QuarantineState.RETRIED: and_(~_QUARANTINED, quarantine.c.dropped_at.is_(None)),
}


@retrying
class SqlQuarantine:
    """The quarantine of each tenant, over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def items(
        self,
        tenant: TenantId,
        *,
        state: QuarantineState = QuarantineState.HELD,
        collection: str | None = None,
        after: MessageId | None = None,
        limit: int = 100,
    ) -> list[QuarantineItem]:
        """By collection and sequence; those behind the message ``after``, if it is given."""
        query = _query(tenant).where(_IS[state])
        if collection is not None:
            query = query.where(messages.c.collection == collection)
        if after is not None:
            query = query.where(_is_behind(tenant, after))
        query = query.order_by(messages.c.collection, messages.c.sequence).limit(limit)
        with reading(self._engine, tenant) as connection:
            return [_item(row) for row in connection.execute(query)]

    def retry(
        self, tenant: TenantId, message: MessageId, *, by: str, now: datetime
    ) -> QuarantineItem:
        """Sends the message in again, as if just accepted, at its own place in the order.

        Raises:
            NotFound: it is in no quarantine of the tenant.
            Conflict: it was sent in again or dropped before.
        """
        with writing(self._engine, tenant) as connection:
            held = _find_held(connection, tenant, message)
            scope = Scope(tenant=tenant, collection=held.collection)
            row = find_collection(connection, scope, lock=True)
            _leave_segment(connection, scope, held)
            back = _back_to_accepted(connection, scope, held)
            _settle(connection, scope, held, released_at=now, released_by=by)
            changes = {
                "step": row.step + 1,  # a step that began before knows nothing of this message
                "accepted": row.accepted + back,
                "pending": row.pending + 1,
                "flushed": min(row.flushed, held.sequence - 1),  # so a flush reaches it again
                "waiting_since": row.waiting_since if row.accepted else now,
            }
            connection.execute(update(collections).where(is_collection(scope)).values(changes))
            return _found(connection, tenant, message)

    def drop(
        self, tenant: TenantId, message: MessageId, *, by: str, now: datetime
    ) -> QuarantineItem:
        """Leaves the message unextracted for good; it stays readable, with who dropped it.

        Raises:
            NotFound: it is in no quarantine of the tenant.
            Conflict: it was sent in again or dropped before.
        """
        with writing(self._engine, tenant) as connection:
            held = _find_held(connection, tenant, message)
            scope = Scope(tenant=tenant, collection=held.collection)
            _settle(connection, scope, held, dropped_at=now, dropped_by=by)
            return _found(connection, tenant, message)


def _query(tenant: TenantId) -> Select[Any]:
    is_it = and_(
        quarantine.c.tenant == messages.c.tenant,
        quarantine.c.collection == messages.c.collection,
        quarantine.c.sequence == messages.c.sequence,
    )
    settled = ("released_at", "released_by", "dropped_at", "dropped_by")
    columns = [quarantine.c[name] for name in ("reason", "raw", "quarantined_at", *settled)]
    return (
        select(messages, *columns)
        .join_from(quarantine, messages, is_it)
        .where(quarantine.c.tenant == tenant)
    )


def _is_behind(tenant: TenantId, after: MessageId) -> ColumnElement[bool]:
    place = select(messages.c.collection, messages.c.sequence).where(
        messages.c.tenant == tenant, messages.c.id == after
    )
    here = tuple_(messages.c.collection, messages.c.sequence)
    return here > place.scalar_subquery()


def _found(connection: Connection, tenant: TenantId, message: MessageId) -> QuarantineItem:
    return _item(connection.execute(_query(tenant).where(messages.c.id == message)).one())


def _find_held(connection: Connection, tenant: TenantId, message: MessageId) -> Row[Any]:
    """The message's row, its collection locked. Raises NotFound and Conflict."""
    query = _query(tenant).where(messages.c.id == message)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(f"no message {message!r} in quarantine", field="message")
    find_collection(connection, Scope(tenant=tenant, collection=row.collection), lock=True)
    row = connection.execute(query).first()
    state = None if row is None else _state(row)
    if row is None or state is not QuarantineState.HELD:
        raise Conflict(f"message {message!r} was {state} before", field="message")
    return row


def _settle(connection: Connection, scope: Scope, held: Row[Any], **values: Any) -> None:
    mine = (in_scope(quarantine, scope), quarantine.c.sequence == held.sequence)
    connection.execute(update(quarantine).where(*mine).values(values))


def _leave_segment(connection: Connection, scope: Scope, held: Row[Any]) -> None:
    """Takes the message out of its segment, whose id is that of its first message.

    The message will begin or join another one, so the old id must be free.
    """
    if held.segment is None:
        return
    mine = (in_scope(messages, scope), messages.c.segment == held.segment)
    others = select(messages.c.id, messages.c.sequence).where(*mine, messages.c.id != held.id)
    left = connection.execute(others.order_by(messages.c.sequence)).all()
    here = (in_scope(segments, scope), segments.c.id == held.segment)
    if not left:
        connection.execute(delete(segments).where(*here))
        return
    new = segment_id(MessageId(left[0].id))
    bounds = {"first_sequence": left[0].sequence, "last_sequence": left[-1].sequence}
    connection.execute(update(segments).where(*here).values(id=new, **bounds))
    connection.execute(update(messages).where(*mine).values(segment=new))


def _back_to_accepted(connection: Connection, scope: Scope, held: Row[Any]) -> int:
    """Sends it and the open messages said after it back to the door; returns how many.

    Those behind it in its conversation's window must come after it again.
    """
    behind = and_(
        messages.c.conversation == held.conversation,
        messages.c.state == MessageState.WINDOWED.value,
        messages.c.sequence > held.sequence,
    )
    fresh = {
        "state": MessageState.ACCEPTED.value,
        "compressed": None,
        "fallback": None,
        "segment": None,
    }
    mine = in_scope(messages, scope)
    moved = connection.execute(update(messages).where(mine, behind).values(fresh)).rowcount
    it = messages.c.sequence == held.sequence
    connection.execute(update(messages).where(mine, it).values({**fresh, "attempts": 0}))
    return moved + 1


def _state(row: Row[Any]) -> QuarantineState:
    if row.dropped_at is not None:
        return QuarantineState.DROPPED
    is_held = row.state == MessageState.QUARANTINED.value
    return QuarantineState.HELD if is_held else QuarantineState.RETRIED


def _item(row: Row[Any]) -> QuarantineItem:
    state = _state(row)
    settled = {
        QuarantineState.HELD: (None, None),
        QuarantineState.RETRIED: (row.released_at, row.released_by),
        QuarantineState.DROPPED: (row.dropped_at, row.dropped_by),
    }
    at, by = settled[state]
    return QuarantineItem(
        scope=Scope(tenant=TenantId(row.tenant), collection=row.collection),
        message=message_of(row),
        state=state,
        reason=row.reason,
        quarantined_at=row.quarantined_at,
        settled_at=at,
        settled_by=by,
        raw=row.raw,
    )


def held_in(connection: Connection, scope: Scope) -> int:
    """How many messages of the collection are in quarantine."""
    held = _query(scope.tenant).where(
        quarantine.c.collection == scope.collection, _IS[QuarantineState.HELD]
    )
    counted = held.with_only_columns(func.count(), maintain_column_froms=True)
    return int(connection.execute(counted).scalar_one())
