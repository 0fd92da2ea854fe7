"""A collection as lines of JSON: streamed in one instant, in constant memory.

The first line says what it is and counts the rows, the last one holds the SHA-256 of all before it.
The reading stays open while the lines are taken, so a slow reader holds the files of SQLite's log.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, func, select

from actors.records.engine import reading
from actors.records.sql import find_collection, in_scope
from actors.records.tables import entry_vectors
from actors.records.tombstones import origin_of
from actors.records.transfer_rows import exported, line_of, owned, rows_of
from pipeline.messages import Scope

FORMAT = "slowwave-collection"
VERSION = 1


class SqlExport:
    """Exports over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def lines(self, scope: Scope) -> Iterator[bytes]:
        """The collection's lines. Raises NotFound before the first one."""
        with reading(self._engine, scope.tenant) as connection:
            collection = find_collection(connection, scope)
            hashed = hashlib.sha256()
            count = 0
            for line in _lines(connection, scope, origin_of(collection)):
                hashed.update(line)
                count += 1
                yield line
            yield line_of({"lines": count, "sha256": hashed.hexdigest()})


def _lines(connection: Connection, scope: Scope, origin: str) -> Iterator[bytes]:
    yield line_of(_head(connection, scope, origin))
    for rule in exported():
        for row in rows_of(connection, rule.table, scope, origin):
            yield line_of({"table": rule.table.name, "row": row})


def _head(connection: Connection, scope: Scope, origin: str) -> dict[str, Any]:
    counts = {}
    for rule in exported():
        query = select(func.count()).select_from(rule.table).where(owned(rule.table, scope, origin))
        counts[rule.table.name] = int(connection.execute(query).scalar_one())
    return {
        "format": FORMAT,
        "version": VERSION,
        "origin": origin,
        "models": _models(connection, scope),
        "counts": counts,
    }


def _models(connection: Connection, scope: Scope) -> dict[str, int]:
    """Per model that made vectors their width."""
    width = func.min(func.length(entry_vectors.c.vector)) / 2
    query = select(entry_vectors.c.model, width.label("width")).where(
        in_scope(entry_vectors, scope)
    )
    rows = connection.execute(query.group_by(entry_vectors.c.model).order_by(entry_vectors.c.model))
    return {row.model: int(row.width) for row in rows}
