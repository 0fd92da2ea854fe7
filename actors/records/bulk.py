"""Inserts of many rows, compiled once per set of columns.

SQLAlchemy compiles the statement and converts the values as everywhere else; only its bookkeeping
for every single row, which costs more than the database, is left out. PostgreSQL gets many rows as
one JSON document, which takes it and its driver two thirds of the time of as many parameters.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    JSON,
    Connection,
    Dialect,
    Insert,
    LargeBinary,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    column,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

_Convert = Callable[[Any], Any]

_ROWS = "rows"
"""The one parameter of a statement that takes a document."""


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
    if len(rows) > 1 and connection.dialect.name == "postgresql":
        document = _document(connection.dialect, table, tuple(rows[0]), changes)
        if document is not None and not document.has_json_null(rows):
            connection.exec_driver_sql(document.text, {_ROWS: document.of(rows)})
            return
    compiled = _compiled(connection.dialect, table, tuple(rows[0]), changes)
    connection.exec_driver_sql(compiled.text, [compiled.parameters(row) for row in rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """A statement over one JSON document of rows, and what each value becomes in it."""

    text: str
    converts: tuple[tuple[str, _Convert], ...]
    nested: tuple[str, ...]

    def has_json_null(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a document of a row is null: in one of rows it could not be told from none."""
        return any(row[name] is None for name in self.nested for row in rows)

    def of(self, rows: Sequence[Mapping[str, Any]]) -> str:
        """The rows as the statement takes them."""
        values = [dict(row) for row in rows]
        for row in values:
            for name, convert in self.converts:
                row[name] = convert(row[name])
        return json.dumps(values, default=_in_json, ensure_ascii=False)


def _in_json(value: date) -> str:
    return value.isoformat()


@lru_cache(maxsize=256)
def _document(
    dialect: Dialect, table: Table, names: tuple[str, ...], changes: tuple[str, ...] | None
) -> _Document | None:
    """None where a column holds bytes, which JSON does not."""
    kinds = {name: table.c[name].type.dialect_impl(dialect) for name in names}
    if any(isinstance(_plain(kind), LargeBinary) for kind in kinds.values()):
        return None
    nested = tuple(name for name, kind in kinds.items() if isinstance(_plain(kind), JSON))
    insert = _statement(dialect, table, changes).from_select(list(names), _unpacked(table, names))
    converts = [
        (name, kind.bind_processor(dialect)) for name, kind in kinds.items() if name not in nested
    ]
    return _Document(
        text=str(insert.compile(dialect=dialect)),
        converts=tuple((name, convert) for name, convert in converts if convert is not None),
        nested=nested,
    )


def _unpacked(table: Table, names: Sequence[str]) -> Select[Any]:
    """The rows of the document as rows of the table's types."""
    document = cast(bindparam(_ROWS, type_=Text), JSON)
    columns = [column(name, table.c[name].type) for name in names]
    rows = func.json_to_recordset(document).table_valued(*columns)
    return select(rows.render_derived(with_types=True))


def _plain(kind: Any) -> Any:
    """The type under one of ours."""
    return getattr(kind, "impl_instance", kind)


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
