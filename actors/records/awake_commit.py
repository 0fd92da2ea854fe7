"""Writes one step of a collection, inside the transaction that holds its lease and its row."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select, update

from actors.records.awake_load import BUFFERED, EXTRACTED
from actors.records.bulk import insert_rows, upsert
from actors.records.said import write_statements
from actors.records.sql import among, chunks, in_place, in_scope, is_in_place, place_of
from actors.records.tables import collections, conversations, messages, quarantine, segments
from actors.records.usage import add_usage
from pipeline.ids import MessageId, SegmentId
from pipeline.messages import DONE, MessageState, Scope, Segment
from pipeline.state import AwakeCommit, Compressed

States = dict[MessageId, MessageState]

Cut = Mapping[MessageId, SegmentId]
"""The new segment of each message that a step cuts off a window."""

_MOVED = select(messages.c.id, messages.c.sequence, messages.c.state, messages.c.segment)
_BY_ID = _MOVED.where(in_place(messages), among(messages.c.id))
_BY_SEGMENT = _MOVED.where(in_place(messages), among(messages.c.segment))

_COMPRESS = (
    update(messages)
    .where(in_place(messages), messages.c.sequence == bindparam("at"))
    .values(
        state=bindparam("reached"),
        segment=bindparam("cut"),
        compressed=bindparam("kept"),
        fallback=bindparam("why"),
    )
)

_ADVANCE = (
    update(collections)
    .where(is_in_place())
    .values(
        step=bindparam("now_at"),
        accepted=bindparam("to_walk"),
        pending=bindparam("open"),
        flushed=bindparam("met"),
        waiting_since=bindparam("since"),
    )
)

_SEEN = (
    update(conversations)
    .where(
        in_place(conversations),
        conversations.c.name == bindparam("called"),
        conversations.c.ending_through == bindparam("through"),
    )
    .values(ending_through=0)
)

_END = (
    update(segments)
    .where(in_place(segments), among(segments.c.id))
    .values(state=EXTRACTED, extracted_at=bindparam("now"))
)


def write_step(
    connection: Connection, scope: Scope, row: Row[Any], commit: AwakeCommit, *, now: datetime
) -> None:
    """Moves messages and segments on, stores the statements and advances the collection.

    Messages that no longer exist are passed over.
    """
    _add_segments(connection, scope, commit.segments, now)
    cut = {message.id: segment.id for segment in commit.segments for message in segment.messages}
    before = _states(connection, scope, commit, cut)
    after = _moved(before, commit, cut)
    _write_messages(connection, scope, commit.compressed, cut, before, after)
    _update_messages(connection, scope, commit.survived, {"attempts": 0})
    _update_messages(connection, scope, commit.failed, {"attempts": messages.c.attempts + 1})
    _end_segments(connection, scope, commit.extracted, now)
    _end_conversations(connection, scope, commit.ended)
    _write_quarantine(connection, scope, commit, before, now)
    add_usage(connection, scope, commit.usage, commit.refused, now=now)
    write_statements(
        connection,
        scope,
        commit.statements,
        model=commit.model,
        arrivals=commit.arrivals,
        now=now,
    )
    moves = [(before[message].state, reached) for message, reached in after.items()]
    _advance(connection, scope, row, commit, moves)


def _add_segments(
    connection: Connection, scope: Scope, new: Sequence[Segment], now: datetime
) -> None:
    rows = [
        {
            "tenant": scope.tenant,
            "collection": scope.collection,
            "id": segment.id,
            "conversation": segment.conversation,
            "topic": segment.topic,
            "first_sequence": segment.messages[0].sequence,
            "last_sequence": segment.messages[-1].sequence,
            "state": BUFFERED,
            "created_at": now,
        }
        for segment in new
    ]
    insert_rows(connection, segments, rows)


def _end_conversations(connection: Connection, scope: Scope, ended: Mapping[str, int]) -> None:
    """Marks ends as seen; one that moved on meanwhile is to be seen again."""
    for name, through in ended.items():
        connection.execute(_SEEN, place_of(scope) | {"called": name, "through": through})


def _update_messages(
    connection: Connection, scope: Scope, ids: Sequence[MessageId], values: Mapping[str, Any]
) -> None:
    for some in chunks(ids):
        mine = (in_scope(messages, scope), messages.c.id.in_(some))
        connection.execute(update(messages).where(*mine).values(values))


def _states(
    connection: Connection, scope: Scope, commit: AwakeCommit, cut: Cut
) -> dict[MessageId, Row[Any]]:
    """The present rows of every message that the step may move."""
    ids = {*commit.compressed, *commit.quarantined, *commit.unused, *cut}
    wanted: list[tuple[Select[Any], Sequence[str]]] = [
        *((_BY_ID, some) for some in chunks(sorted(ids))),
        *((_BY_SEGMENT, some) for some in chunks(commit.extracted)),
    ]
    found: dict[MessageId, Row[Any]] = {}
    for query, some in wanted:
        rows = connection.execute(query, place_of(scope) | {"some": some})
        found.update({MessageId(row.id): row for row in rows})
    return found


def _moved(before: Mapping[MessageId, Row[Any]], commit: AwakeCommit, cut: Cut) -> States:
    """Where each message that is not done yet stands after the step."""
    extracted, unused = set(commit.extracted), set(commit.unused)
    after: States = {}
    for message, row in before.items():
        if row.state in DONE:
            continue
        if message in commit.quarantined:
            after[message] = MessageState.QUARANTINED
        elif message in unused or cut.get(message, row.segment) in extracted:
            after[message] = MessageState.EXTRACTED
        elif message in cut:
            after[message] = MessageState.SEGMENTED
        else:
            after[message] = MessageState.WINDOWED
    return after


def _write_messages(
    connection: Connection,
    scope: Scope,
    compressed: Mapping[MessageId, Compressed],
    cut: Cut,
    before: Mapping[MessageId, Row[Any]],
    after: States,
) -> None:
    """State and segment of every message that moves, with the text of those just compressed."""
    fresh: list[dict[str, Any]] = []
    groups: dict[tuple[str, str | None], list[MessageId]] = {}
    for message, row in before.items():
        state = after.get(message, MessageState(row.state)).value
        segment = cut.get(message, row.segment)
        kept = compressed.get(message)
        if kept is not None:
            place = {"at": row.sequence, "reached": state, "cut": segment}
            fresh.append(place | {"kept": kept.text, "why": kept.fallback})
        elif (state, segment) != (row.state, row.segment):
            groups.setdefault((state, segment), []).append(message)
    if fresh:
        connection.execute(_COMPRESS, [place_of(scope) | row for row in fresh])
    for (state, segment), ids in groups.items():
        _update_messages(connection, scope, ids, {"state": state, "segment": segment})


def _end_segments(
    connection: Connection, scope: Scope, extracted: Sequence[SegmentId], now: datetime
) -> None:
    for some in chunks(extracted):
        connection.execute(_END, place_of(scope) | {"some": some, "now": now})


def _write_quarantine(
    connection: Connection,
    scope: Scope,
    commit: AwakeCommit,
    before: Mapping[MessageId, Row[Any]],
    now: datetime,
) -> None:
    rows = [
        {
            "tenant": scope.tenant,
            "collection": scope.collection,
            "sequence": before[message].sequence,
            "message": message,
            "reason": reason,
            "raw": commit.raws.get(message),
            "quarantined_at": now,
        }
        for message, reason in commit.quarantined.items()
        if message in before
    ]
    upsert(connection, quarantine, rows, changes=("reason", "raw", "quarantined_at"))


def _advance(
    connection: Connection,
    scope: Scope,
    row: Row[Any],
    commit: AwakeCommit,
    moves: Sequence[tuple[str, MessageState]],
) -> None:
    accepted = row.accepted - sum(old == MessageState.ACCEPTED for old, _ in moves)
    pending = row.pending - sum(new in DONE for _, new in moves)
    met = row.flush_requested if pending == 0 else 0
    changes = {
        "now_at": row.step + 1,
        "to_walk": accepted,
        "open": pending,
        "met": max(row.flushed, commit.flushed_through or 0, met),
        "since": _waiting_since(connection, scope) if accepted else None,
    }
    connection.execute(_ADVANCE, place_of(scope) | changes)


def _waiting_since(connection: Connection, scope: Scope) -> datetime | None:
    query = (
        select(messages.c.accepted_at)
        .where(in_scope(messages, scope), messages.c.state == MessageState.ACCEPTED.value)
        .order_by(messages.c.sequence)
        .limit(1)
    )
    accepted_at: datetime | None = connection.execute(query).scalar()
    return accepted_at
