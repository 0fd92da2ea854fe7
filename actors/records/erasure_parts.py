"""Erasing part of a collection, table by table as the registry says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, delete, func, insert, select, update

from actors.records.absorbed import wake_absorbed
from actors.records.doomed import Doomed
from actors.records.erased import (
    blank_entry_topics,
    blank_ledger,
    blank_quarantine,
    blank_runs,
    blank_topics,
    drop_raws,
    redact_messages,
)
from actors.records.merged import Traces, drop_reasons, take_out, traces
from actors.records.registry import children_first
from actors.records.rows import entry_of
from actors.records.sleep_rows import copy_vectors, write_version
from actors.records.sql import chunks, find_collection, in_scope, is_collection
from actors.records.tables import (
    collections,
    conversations,
    entries,
    entry_vectors,
    entry_versions,
    index_ops,
    ledger,
    messages,
    quarantine,
    recalls,
    reply_cache,
    scratchpad_items,
    scratchpad_versions,
    segments,
    sleep_runs,
)
from pipeline.entries import Writer
from pipeline.ids import EntryId, point_id
from pipeline.messages import MessageState, Scope

Receipt = dict[str, int]
"""Rows per table that went, or whose texts went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Erasing:
    """One erasure on its way.

    ``traces`` is what sleep made of the doomed entries, ``items`` the scratchpad items that were
    ever made of what goes.
    """

    connection: Connection
    scope: Scope
    doomed: Doomed
    traces: Traces
    items: list[str]
    now: datetime

    def delete(self, table: Table, column: str, values: Sequence[Any]) -> int:
        """Deletes the scope's rows with one of the values; how many."""
        gone = 0
        for some in chunks(values):
            mine = (in_scope(table, self.scope), table.c[column].in_(some))
            gone += self.connection.execute(delete(table).where(*mine)).rowcount
        return gone


def erase_parts(connection: Connection, scope: Scope, doomed: Doomed, *, now: datetime) -> Receipt:
    """Takes it out; the collection's row is locked by the caller and its counters move on."""
    found = traces(connection, scope, doomed.entries)
    for entry in found.lost:
        query = select(entry_versions.c.version).where(
            in_scope(entry_versions, scope), entry_versions.c.entry == entry
        )
        doomed.entries[entry] = list(connection.execute(query).scalars())
    touched = {*doomed.entries, *found.merged}
    erasing = _Erasing(
        connection=connection,
        scope=scope,
        doomed=doomed,
        traces=found,
        items=_items(connection, scope, touched, set(doomed.messages)),
        now=now,
    )
    receipt = {}
    for rule in children_first():
        step = STEPS.get(rule.table.name)
        if step is not None and (rows := step(erasing)):
            receipt[rule.table.name] = rows
    wake_absorbed(connection, scope, touched, now=now)
    _follow(erasing)
    _move_on(connection, scope)
    return receipt


def _entry_versions(erasing: _Erasing) -> int:
    connection, scope = erasing.connection, erasing.scope
    rows = drop_reasons(connection, scope, sorted(erasing.traces.reasons))
    rows += take_out(connection, scope, erasing.traces.merged, now=erasing.now)
    for entry in sorted(erasing.doomed.partly - set(erasing.doomed.entries)):
        rows += _forget_sources(erasing, entry)
    return rows + erasing.delete(entry_versions, "entry", list(erasing.doomed.entries))


def _forget_sources(erasing: _Erasing, entry: str) -> int:
    """Takes the erased messages out of the sources of an entry that others tell too."""
    connection, scope = erasing.connection, erasing.scope
    gone = set(erasing.doomed.messages)
    for table, column in ((entry_versions, "entry"), (entries, "id")):
        mine = (in_scope(table, scope), table.c[column] == entry)
        found = connection.execute(select(table.c.version, table.c.sources).where(*mine)).all()
        for row in found:
            left = [source for source in row.sources if source not in gone]
            connection.execute(
                update(table).where(*mine, table.c.version == row.version).values(sources=left)
            )
    present = entry_of(
        connection.execute(
            select(entries).where(in_scope(entries, scope), entries.c.id == entry)
        ).one()
    )
    after = replace(
        present, version=present.version + 1, written_by=Writer.UNDO, written_at=erasing.now
    )
    why = "an erased conversation was taken out"
    write_version(connection, scope, present, after, why=why, run=None)
    copy_vectors(connection, scope, after, version=present.version)
    return 1


def _entry_vectors(erasing: _Erasing) -> int:
    return erasing.delete(entry_vectors, "entry", list(erasing.doomed.entries))


def _entries(erasing: _Erasing) -> int:
    labelled = erasing.doomed.labelled - set(erasing.doomed.entries)
    rows = blank_entry_topics(erasing.connection, erasing.scope, labelled)
    return rows + erasing.delete(entries, "id", list(erasing.doomed.entries))


def _messages(erasing: _Erasing) -> int:
    ids = erasing.doomed.messages
    if erasing.doomed.conversation is None:
        return redact_messages(erasing.connection, erasing.scope, ids, now=erasing.now)
    return erasing.delete(messages, "id", ids)


def _segments(erasing: _Erasing) -> int:
    ids = erasing.doomed.segments
    if erasing.doomed.conversation is None:
        return blank_topics(erasing.connection, erasing.scope, ids)
    return erasing.delete(segments, "id", ids)


def _quarantine(erasing: _Erasing) -> int:
    ids = erasing.doomed.messages
    if erasing.doomed.conversation is None:
        rows = blank_quarantine(erasing.connection, erasing.scope, ids)
    else:
        rows = erasing.delete(quarantine, "message", ids)
    return rows + drop_raws(erasing.connection, erasing.scope)


def _conversations(erasing: _Erasing) -> int:
    name = erasing.doomed.conversation
    return 0 if name is None else erasing.delete(conversations, "name", [name])


def _ledger(erasing: _Erasing) -> int:
    return blank_ledger(erasing.connection, erasing.scope, erasing.traces.ledger)


def _scratchpad_items(erasing: _Erasing) -> int:
    return erasing.delete(scratchpad_items, "id", erasing.items)


def _scratchpad_versions(erasing: _Erasing) -> int:
    return erasing.delete(scratchpad_versions, "item", erasing.items)


def _items(connection: Connection, scope: Scope, touched: set[str], said: set[str]) -> list[str]:
    found = set()
    for table, key in ((scratchpad_items, "id"), (scratchpad_versions, "item")):
        columns = (table.c[key].label("item"), table.c.entries, table.c.sources)
        for row in connection.execute(select(*columns).where(in_scope(table, scope))):
            if touched & set(row.entries) or said & set(row.sources):
                found.add(row.item)
    return sorted(found)


def _recalls(erasing: _Erasing) -> int:
    """Every recall of the collection: a question or an answer may hold any words."""
    return _every_row(erasing, recalls)


def _reply_cache(erasing: _Erasing) -> int:
    return _every_row(erasing, reply_cache)


def _every_row(erasing: _Erasing, table: Table) -> int:
    statement = delete(table).where(in_scope(table, erasing.scope))
    return erasing.connection.execute(statement).rowcount


def _sleep_runs(erasing: _Erasing) -> int:
    return blank_runs(erasing.connection, erasing.scope.tenant)


STEPS: Mapping[str, Callable[[_Erasing], int]] = {
    table.name: step
    for table, step in (
        (entry_vectors, _entry_vectors),
        (entry_versions, _entry_versions),
        (entries, _entries),
        (messages, _messages),
        (segments, _segments),
        (quarantine, _quarantine),
        (conversations, _conversations),
        (ledger, _ledger),
        (scratchpad_items, _scratchpad_items),
        (scratchpad_versions, _scratchpad_versions),
        (recalls, _recalls),
        (reply_cache, _reply_cache),
        (sleep_runs, _sleep_runs),
    )
}
"""How each table that holds texts is treated, by its name."""


def _follow(erasing: _Erasing) -> None:
    """Tells the index what is gone and what to write again."""
    connection, scope, doomed = erasing.connection, erasing.scope, erasing.doomed
    erasing.delete(index_ops, "entry", list(doomed.entries))
    forget_points(connection, scope, doomed.entries, now=erasing.now)
    place = {"tenant": scope.tenant, "collection": scope.collection, "created_at": erasing.now}
    again = sorted((doomed.labelled | doomed.partly) - set(doomed.entries))
    if again:
        connection.execute(insert(index_ops), [place | {"entry": entry} for entry in again])


def forget_points(
    connection: Connection, scope: Scope, points: Mapping[str, Sequence[int]], *, now: datetime
) -> None:
    """Tells the index which points must go: those of the entries' versions."""
    rows = [
        {
            "tenant": scope.tenant,
            "collection": scope.collection,
            "entry": entry,
            "removed": [
                point_id(scope.tenant, EntryId(entry), version) for version in sorted(versions)
            ],
            "created_at": now,
        }
        for entry, versions in sorted(points.items())
    ]
    if rows:
        connection.execute(insert(index_ops), rows)


def _move_on(connection: Connection, scope: Scope) -> None:
    """Counts the messages again; a step or decision made from what was there is refused."""
    row = find_collection(connection, scope)
    states = _states(connection, scope)
    done = (MessageState.EXTRACTED.value, MessageState.QUARANTINED.value)
    pending = sum(count for state, count in states.items() if state not in done)
    accepted = states.get(MessageState.ACCEPTED.value, 0)
    values: dict[str, Any] = {
        "step": row.step + 1,
        "erased": row.last_sequence - sum(states.values()),
        "writes": row.writes + 1,
        "accepted": accepted,
        "pending": pending,
        "flushed": row.flushed if pending else max(row.flushed, row.flush_requested),
        "waiting_since": _waiting_since(connection, scope) if accepted else None,
    }
    connection.execute(update(collections).where(is_collection(scope)).values(values))


def _states(connection: Connection, scope: Scope) -> dict[str, int]:
    query = select(messages.c.state, func.count().label("count")).where(in_scope(messages, scope))
    rows = connection.execute(query.group_by(messages.c.state))
    return {row.state: int(row.count) for row in rows}  # type: ignore[call-overload]


def _waiting_since(connection: Connection, scope: Scope) -> datetime | None:
    query = select(func.min(messages.c.accepted_at)).where(
        in_scope(messages, scope), messages.c.state == MessageState.ACCEPTED.value
    )
    waiting: datetime | None = connection.execute(query).scalar()
    return waiting
