"""Stores statements: a new one becomes an entry, one said before adds its sources to that entry."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, select

from actors.records.entry_writes import EntryWrite, write_entries
from actors.records.revision import first_version, said_again
from actors.records.rows import entry_of
from actors.records.scratchpad_rows import arrive
from actors.records.sql import among, chunks, in_place, place_of
from actors.records.tables import entries
from pipeline.entries import Entry, Status, Writer
from pipeline.ids import EntryId, identity
from pipeline.messages import Scope
from pipeline.scratchpad import Arrivals
from pipeline.state import StoredStatement

_ACTIVE = select(entries).where(
    in_place(entries), among(entries.c.identity), entries.c.status == Status.ACTIVE.value
)
_TAKEN = select(entries.c.id).where(in_place(entries), among(entries.c.id))


def write_statements(
    connection: Connection,
    scope: Scope,
    statements: Sequence[StoredStatement],
    *,
    model: str,
    arrivals: Arrivals,
    now: datetime,
) -> None:
    """Stores the statements in order; ``model`` made their vectors.

    New entries of a kind named in ``arrivals`` become items of the scratchpad too.

    A statement whose id is taken is the same one extracted again, and what became of it stays.
    """
    said = [_identity(stored) for stored in statements]
    known = _active(connection, scope, said)
    taken = _taken(connection, scope, [stored.id for stored in statements])
    before = {entry.id: entry for entry in known.values()}
    after: dict[EntryId, Entry] = {}
    for stored, what in zip(statements, said, strict=True):
        earlier = known.get(what)
        if earlier is None and stored.id in taken:
            continue
        entry = (
            first_version(stored.id, stored.statement, now=now)
            if earlier is None
            else said_again(earlier, stored.statement)
        )
        if entry is not earlier:
            after[entry.id] = entry
        if entry.status is Status.ACTIVE:
            known[what] = entry
    vectors = {stored.id: stored.vector for stored in reversed(statements)}
    writes = [
        _repeated(entry, now)
        if entry.id in before
        else EntryWrite(entry=entry, why="extracted", vector=vectors[entry.id])
        for entry in after.values()
    ]
    write_entries(connection, scope, writes, model=model)
    arrive(connection, scope, [write.entry for write in writes], arrivals, now=now)


def _identity(stored: StoredStatement) -> str:
    statement = stored.statement
    return identity(statement.text, statement.speaker, statement.kind)


def _repeated(entry: Entry, now: datetime) -> EntryWrite:
    following = replace(entry, version=entry.version + 1, written_by=Writer.INGEST, written_at=now)
    return EntryWrite(entry=following, why="said again")


def _active(connection: Connection, scope: Scope, wanted: Sequence[str]) -> dict[str, Entry]:
    """Per identity the oldest active entry; sorted here, so that SQLite takes the right index."""
    found: list[tuple[Entry, str]] = []
    for some in chunks(wanted):
        rows = connection.execute(_ACTIVE, place_of(scope) | {"some": some})
        found.extend((entry_of(row), row.identity) for row in rows)
    newest_first = sorted(found, key=lambda one: (one[0].order, one[0].id), reverse=True)
    return {said: entry for entry, said in newest_first}


def _taken(connection: Connection, scope: Scope, wanted: Sequence[EntryId]) -> set[EntryId]:
    found: set[EntryId] = set()
    for some in chunks(wanted):
        rows = connection.execute(_TAKEN, place_of(scope) | {"some": some})
        found.update(EntryId(entry) for entry in rows.scalars())
    return found
