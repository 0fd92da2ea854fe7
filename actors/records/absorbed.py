"""What an entry had absorbed and no longer holds since something was erased: it holds again."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, select

from actors.records.sleep_rows import copy_vectors, entries_by_id, entry_at, write_version
from actors.records.sql import in_scope
from actors.records.tables import ledger
from pipeline.entries import Entry, Status, Writer
from pipeline.ids import EntryId
from pipeline.messages import Scope


def wake_absorbed(connection: Connection, scope: Scope, gone: set[str], *, now: datetime) -> int:
    """Gives back what rested in the entries ``gone``, which were erased or lost merged words.

    Otherwise erasing one entry would take with it what another one said. How many were woken.
    """
    woken = 0
    for target, name, version in list(_resting(connection, scope, gone)):
        current = entries_by_id(connection, scope, [name]).get(name)
        if current is None or not _rests_in(current, target):
            continue
        before = entry_at(connection, scope, name, version)
        after = replace(
            current,
            version=current.version + 1,
            status=before.status,
            superseded_by=before.superseded_by,
            valid_to=before.valid_to,
            written_by=Writer.UNDO,
            written_at=now,
        )
        why = "what held it was erased"
        woken += write_version(connection, scope, current, after, why=why, run=None)
        copy_vectors(connection, scope, after, version=current.version)
    return woken


def _resting(
    connection: Connection, scope: Scope, gone: set[str]
) -> Iterator[tuple[str, EntryId, int]]:
    """Target, absorbed entry and its version before, of all that the ledger says of ``gone``."""
    query = select(ledger.c.target, ledger.c.absorbed).where(
        in_scope(ledger, scope), ledger.c.absorbed.is_not(None), ledger.c.state == "applied"
    )
    for row in connection.execute(query.order_by(ledger.c.id)):
        if row.target in gone:
            for name, before, *_ in row.absorbed:
                yield row.target, EntryId(name), before


def _rests_in(entry: Entry, target: str) -> bool:
    return entry.status is Status.OUTDATED and entry.superseded_by == target
