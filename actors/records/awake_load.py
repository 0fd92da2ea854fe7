"""Reads where a collection stands before a step."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, select

from actors.records.rows import message_of
from actors.records.sql import in_scope
from actors.records.tables import messages, segments
from pipeline.ids import SegmentId
from pipeline.messages import Message, MessageState, Scope, Segment
from pipeline.state import AwakeState

BUFFERED = "buffered"
"""The state of a segment before its extraction."""

EXTRACTED = "extracted"
"""The state of a segment after its extraction."""


def state_of(
    connection: Connection, scope: Scope, row: Row[Any], *, limit: int, is_idle: bool
) -> AwakeState:
    """The state of the collection whose row of ``collections`` is given."""
    accepted = _in_state(connection, scope, MessageState.ACCEPTED, limit)
    is_asked = row.flush_requested > row.flushed
    through = row.last_sequence if is_idle else row.flush_requested
    return AwakeState(
        step=row.step,
        accepted=tuple(accepted),
        windows=_by_conversation(_in_state(connection, scope, MessageState.WINDOWED, None)),
        buffered=_buffered(connection, scope),
        flush=(is_idle or is_asked) and not _is_beyond(row, accepted, through),
        flush_through=through,
        settings=row.settings,
    )


def _is_beyond(row: Row[Any], accepted: Sequence[Message], through: int) -> bool:
    """Whether accepted messages up to ``through`` did not fit into this step."""
    return row.accepted > len(accepted) and (not accepted or accepted[-1].sequence < through)


def _in_state(
    connection: Connection, scope: Scope, state: MessageState, limit: int | None
) -> list[Message]:
    query = (
        select(messages)
        .where(in_scope(messages, scope), messages.c.state == state.value)
        .order_by(messages.c.sequence)
        .limit(limit)
    )
    return [message_of(row) for row in connection.execute(query)]


def _by_conversation(found: Sequence[Message]) -> dict[str, tuple[Message, ...]]:
    windows: dict[str, list[Message]] = {}
    for message in found:
        windows.setdefault(message.conversation, []).append(message)
    return {name: tuple(window) for name, window in windows.items()}


def _buffered(connection: Connection, scope: Scope) -> tuple[Segment, ...]:
    query = (
        select(messages, segments.c.id.label("of"), segments.c.topic)
        .join_from(
            segments,
            messages,
            and_(messages.c.tenant == segments.c.tenant, messages.c.segment == segments.c.id),
        )
        .where(
            in_scope(segments, scope),
            segments.c.state == BUFFERED,
            messages.c.state == MessageState.SEGMENTED.value,
        )
        .order_by(segments.c.first_sequence, messages.c.sequence)
    )
    found: dict[str, list[Any]] = {}
    for row in connection.execute(query):
        found.setdefault(row.of, []).append(row)
    return tuple(_segment(rows) for rows in found.values())


def _segment(rows: Sequence[Any]) -> Segment:
    return Segment(
        id=SegmentId(rows[0].of),
        conversation=rows[0].conversation,
        topic=rows[0].topic,
        messages=tuple(message_of(row) for row in rows),
    )
