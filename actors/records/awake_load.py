"""Reads where a collection stands before a step."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select

from actors.records.rows import message_of
from actors.records.sql import among, chunks, in_place, place_of
from actors.records.tables import conversations, messages, segments
from pipeline.ids import MessageId, SegmentId
from pipeline.messages import Message, MessageState, Scope, Segment
from pipeline.state import AwakeState

BUFFERED = "buffered"
"""The state of a segment before its extraction."""

MOST_BUFFERED = 1_000
"""Messages that wait in the short-term buffer of a collection at most, whatever its triggers."""

EXTRACTED = "extracted"
"""The state of a segment after its extraction."""

_ORDERED = select(messages).where(in_place(messages)).order_by(messages.c.sequence)
_IN_STATE = _ORDERED.where(messages.c.state == bindparam("state")).limit(bindparam("most"))
_WINDOWED = _ORDERED.where(messages.c.state == MessageState.WINDOWED.value)
_WINDOWED_OF = _WINDOWED.where(among(messages.c.conversation))

_ENDING = select(conversations.c.name, conversations.c.ending_through).where(
    in_place(conversations), conversations.c.ending_through > 0
)

_SEGMENTS = select(segments).where(in_place(segments)).order_by(segments.c.first_sequence)
_BUFFERED_SEGMENTS = _SEGMENTS.where(segments.c.state == BUFFERED)
_HELD = (
    select(messages)
    .where(in_place(messages), among(messages.c.segment))
    .order_by(messages.c.segment, messages.c.sequence)
)
_OPEN = _HELD.where(messages.c.state == MessageState.SEGMENTED.value)
_TRIED = select(messages.c.id, messages.c.attempts).where(
    in_place(messages),
    messages.c.state == MessageState.SEGMENTED.value,
    messages.c.attempts > 0,
)


def state_of(
    connection: Connection,
    scope: Scope,
    row: Row[Any],
    *,
    mark: Row[Any],
    limit: int,
    is_idle: bool,
) -> AwakeState:
    """The state of the collection whose rows of ``collections`` and ``leases`` are given."""
    accepted = _in_state(connection, scope, MessageState.ACCEPTED, limit)
    if accepted and accepted[0].sequence <= mark.careful_through:
        accepted = accepted[:1]
    is_asked = row.flush_requested > row.flushed
    ended = _ended(connection, scope, row, accepted)
    every = not accepted or is_asked or is_idle or _is_doubtful(connection, scope, mark)
    every = every or bool(ended)
    held = _by_conversation(_windowed(connection, scope, accepted, every=every))
    buffered, is_full, attempts = _buffered(connection, scope)
    undone = [*accepted, *itertools.chain(*held.values())]
    undone += [message for segment in buffered for message in segment.messages]
    through = row.last_sequence if is_idle else row.flush_requested
    flush = (is_idle or is_asked) and not _is_beyond(row, accepted, through)
    windows = _first(held, limit) if flush and not accepted else held
    return AwakeState(
        step=row.step,
        accepted=tuple(accepted),
        windows=windows,
        buffered=buffered,
        flush=flush and not (accepted and _size(held) > limit),
        is_partial=len(windows) < len(held),
        is_buffer_full=is_full,
        flush_through=through,
        settings=row.settings,
        attempts=attempts,
        ended=ended,
        is_careful=any(message.sequence <= mark.careful_through for message in undone),
        failure=mark.failure,
    )


def _ended(
    connection: Connection, scope: Scope, row: Row[Any], accepted: Sequence[Message]
) -> dict[str, int]:
    """The conversations that ended, once all that was said in them is at hand."""
    found = connection.execute(_ENDING, place_of(scope)).all()
    return {
        each.name: each.ending_through
        for each in found
        if not _is_beyond(row, accepted, each.ending_through)
    }


def _first(held: Mapping[str, tuple[Message, ...]], limit: int) -> dict[str, tuple[Message, ...]]:
    """The oldest windows with about ``limit`` messages in all, at least one window."""
    found: dict[str, tuple[Message, ...]] = {}
    for name, window in held.items():
        if found and _size(found) + len(window) > limit:
            break
        found[name] = window
    return found


def _size(windows: Mapping[str, tuple[Message, ...]]) -> int:
    return sum(len(window) for window in windows.values())


def _is_beyond(row: Row[Any], accepted: Sequence[Message], through: int) -> bool:
    """Whether accepted messages up to ``through`` did not fit into this step."""
    return row.accepted > len(accepted) and (not accepted or accepted[-1].sequence < through)


def _in_state(
    connection: Connection, scope: Scope, state: MessageState, limit: int
) -> list[Message]:
    wanted = place_of(scope) | {"state": state.value, "most": limit}
    return [message_of(row) for row in connection.execute(_IN_STATE, wanted)]


def _is_doubtful(connection: Connection, scope: Scope, mark: Row[Any]) -> bool:
    """Whether a window holds a message that is to be taken with care."""
    if mark.careful_through == 0:
        return False
    oldest = _in_state(connection, scope, MessageState.WINDOWED, 1)
    return bool(oldest) and oldest[0].sequence <= mark.careful_through


def _windowed(
    connection: Connection, scope: Scope, accepted: Sequence[Message], *, every: bool
) -> list[Message]:
    """Those in windows; without ``every`` only in windows that the accepted messages enter: the
    others are as they were when the last step left them.
    """
    place = place_of(scope)
    if every:
        return [message_of(row) for row in connection.execute(_WINDOWED, place)]
    found: list[Message] = []
    for some in chunks(sorted({message.conversation for message in accepted})):
        rows = connection.execute(_WINDOWED_OF, place | {"some": some})
        found += [message_of(row) for row in rows]
    return sorted(found, key=lambda message: message.sequence)


def _by_conversation(found: Sequence[Message]) -> dict[str, tuple[Message, ...]]:
    windows: dict[str, list[Message]] = {}
    for message in found:
        windows.setdefault(message.conversation, []).append(message)
    return {name: tuple(window) for name, window in windows.items()}


def _buffered(
    connection: Connection, scope: Scope
) -> tuple[tuple[Segment, ...], bool, dict[MessageId, int]]:
    """The first segments with about ``MOST_BUFFERED`` messages, whether that is full, and how often
    the extraction of messages of theirs failed."""
    rows = connection.execute(_BUFFERED_SEGMENTS, place_of(scope)).all()
    if not rows:
        return (), False, {}
    found: list[Segment] = []
    messages = 0
    for some in chunks(rows):
        if messages > MOST_BUFFERED:
            break
        fresh = _with_messages(connection, scope, some, _OPEN)
        messages += sum(len(segment.messages) for segment in fresh)
        found += fresh
    tried = connection.execute(_TRIED, place_of(scope)).all()
    attempts = {MessageId(row.id): row.attempts for row in tried}
    return tuple(found), messages > MOST_BUFFERED, attempts


def segments_of(connection: Connection, scope: Scope) -> tuple[Segment, ...]:
    """All segments of the collection with their messages, by first sequence."""
    rows = connection.execute(_SEGMENTS, place_of(scope)).all()
    return _with_messages(connection, scope, rows, _HELD)


def _with_messages(
    connection: Connection, scope: Scope, rows: Sequence[Row[Any]], query: Select[Any]
) -> tuple[Segment, ...]:
    held = _by_segment(connection, scope, [row.id for row in rows], query)
    return tuple(_segment(row, held[row.id]) for row in rows if row.id in held)


def _by_segment(
    connection: Connection, scope: Scope, ids: Sequence[str], query: Select[Any]
) -> dict[str, list[Message]]:
    found: dict[str, list[Message]] = {}
    for some in chunks(ids):
        for row in connection.execute(query, place_of(scope) | {"some": some}):
            found.setdefault(row.segment, []).append(message_of(row))
    return found


def _segment(row: Row[Any], held: Sequence[Message]) -> Segment:
    return Segment(
        id=SegmentId(row.id),
        conversation=row.conversation,
        topic=row.topic,
        messages=tuple(held),
    )
