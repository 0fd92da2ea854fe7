"""Inserts of many rows, compiled once per set of columns.

SQLAlchemy compiles the statement and converts the values as everywhere else; only its bookkeeping
for every single row, which costs more than the database, is left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Table
from sqlalchemy.dialects import postgresql, sqlite

_Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    """A statement's text, its columns in the order of their marks, and what each value becomes."""

    text: str
    names: tuple[str, ...]
    converts: tuple[tuple[str, _Convert], ...]
    is_positional: bool

    def parameters(self, row: Mapping[str, Any]) -> tuple[Any, ...] | dict[str, Any]:
        """One row as the driver takes it."""
        values = dict(row)
        for name, convert in self.converts:
            values[name] = convert(values[name])
        return tuple([values[name] for name in self.names]) if self.is_positional else values


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts the rows, which all name the same columns; no rows are no work."""
    _run(connection, table, rows, changes=None)


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    changes: Sequence[str],
) -> None:
    """Inserts the rows; where the primary key exists sets ``changes`` (none: leaves the row)."""
    _run(connection, table, rows, changes=tuple(changes))


def _run(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    changes: tuple[str, ...] | None,
) -> None:
    if not rows:
        return
    compiled = _compiled(connection.dialect, table, tuple(rows[0]), changes)
    connection.exec_driver_sql(compiled.text, [compiled.parameters(row) for row in rows])


@lru_cache(maxsize=256)
def _compiled(
    dialect: Dialect, table: Table, names: tuple[str, ...], changes: tuple[str, ...] | None
) -> _Compiled:
    statement = _statement(dialect, table, changes)
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    order = compiled.positiontup
    kinds = {name: table.c[name].type.dialect_impl(dialect) for name in names}
    converts = [(name, kind.bind_processor(dialect)) for name, kind in kinds.items()]
    return _Compiled(
        text=str(compiled),
        names=tuple(order or names),
        converts=tuple((name, convert) for name, convert in converts if convert is not None),
        is_positional=order is not None,
    )


def _statement(dialect: Dialect, table: Table, changes: tuple[str, ...] | None) -> Insert:
    statement = postgresql.insert(table) if dialect.name == "postgresql" else sqlite.insert(table)
    keys = [column.name for column in table.primary_key]
    if changes is None:
        return statement
    if not changes:
        return statement.on_conflict_do_nothing(index_elements=keys)
    new = {name: statement.excluded[name] for name in changes}
    return statement.on_conflict_do_update(index_elements=keys, set_=new)
