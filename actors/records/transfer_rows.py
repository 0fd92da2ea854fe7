"""Rows as lines of an export, table by table as the registry says: what a line holds, and back.

A line leaves out whose the row is and numbers that mean something in one store only, so the same
rows give the same bytes in every store and under every name. Vectors travel as they lie, float16 in
base64.
"""

import base64
import binascii
import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Date,
    LargeBinary,
    Select,
    Table,
    Text,
    false,
    or_,
    select,
    type_coerce,
)

from actors.records.columns import HalfVector, UtcDateTime
from actors.records.registry import Export, TableRule, parents_first
from actors.records.sql import in_scope, is_collection
from actors.records.tables import (
    ORDER,
    collections,
    erasures,
    ledger,
    ledger_changes,
    run_collections,
    sleep_runs,
)
from pipeline.errors import InputError
from pipeline.messages import Scope
from pipeline.storable import HIGHEST, check_json, check_text

PAGE = 500
# A default of the service can take the place of when a collection is idle: it is worked out anew.
_LOCAL = {
    "ledger": {"id"},
    "sleep_runs": {"seen_at"},  # no job of another store is gone on with
    "erasures": {"id", "within", "cleaned_at"},
    "collections": {"origin", "idle_at"},
}
_SCOPE = {"tenant", "collection"}


def exported() -> list[TableRule]:
    """The tables that an export holds, in the order of its lines."""
    return [rule for rule in parents_first() if rule.export is Export.ROWS]


def columns_of(table: Table) -> list[Column[Any]]:
    """The columns that travel."""
    local = _SCOPE | _LOCAL.get(table.name, set())
    if table is collections:
        local = local | {"name"}
    return [column for column in table.columns if column.name not in local]


def key_of(table: Table) -> list[Column[Any]]:
    """The columns by which a row is known again inside a tenant or a collection."""
    if table is ledger:
        return [ledger.c.run, ledger.c.target]
    if table is erasures:
        return [erasures.c.kind, erasures.c.subject, erasures.c.erased_at]
    names = _SCOPE if table is not collections else _SCOPE | {"name"}
    return [column for column in table.primary_key if column.name not in names]


def owned(table: Table, scope: Scope, origin: str) -> ColumnElement[bool]:
    """That a row belongs to the collection: the row itself, its rows, the runs that saw it."""
    if table is collections:
        return is_collection(scope)
    if table is erasures:
        return (erasures.c.tenant == scope.tenant) & (erasures.c.origin == origin)
    if table is sleep_runs:
        seen = [
            select(part.c.run).where(in_scope(part, scope))
            for part in (run_collections, ledger, ledger_changes)
        ]
        return (sleep_runs.c.tenant == scope.tenant) & or_(
            false(), *(sleep_runs.c.id.in_(one) for one in seen)
        )
    return in_scope(table, scope)


def rows_query(table: Table, scope: Scope, origin: str, *, dialect: str) -> Select[Any]:
    """The collection's rows, raw, in an order that is the same in every store."""
    columns = [_raw(column) for column in columns_of(table)]
    keys = [table.c.id] if table in (ledger, erasures) else list(table.primary_key)
    order = [_by_bytes(key, dialect) for key in keys]
    return select(*columns).where(owned(table, scope, origin)).order_by(*order)


def _by_bytes(column: Column[Any], dialect: str) -> ColumnElement[Any]:
    """Texts ordered by their bytes, whatever the language of a PostgreSQL server."""
    is_text = isinstance(column.type, Text)
    return column.collate("C") if is_text and dialect == "postgresql" else column


def _raw(column: Column[Any]) -> ColumnElement[Any]:
    """The column as bytes where reading would change them: vectors are normalised on reading."""
    if isinstance(column.type, HalfVector):
        return type_coerce(column, LargeBinary).label(column.name)
    return column


def rows_of(
    connection: Connection, table: Table, scope: Scope, origin: str
) -> Iterator[dict[str, Any]]:
    """The rows as JSON values, some at a time."""
    names = [column.name for column in columns_of(table)]
    query = rows_query(table, scope, origin, dialect=connection.dialect.name)
    found = connection.execution_options(yield_per=PAGE).execute(query)
    for row in found:
        yield {name: _told(value) for name, value in zip(names, row, strict=True)}


def _told(value: Any) -> Any:
    match value:
        case datetime() | date():
            return value.isoformat()
        case np.ndarray():
            return base64.b64encode(value.astype("<f2").tobytes()).decode("ascii")
        case bytes() | memoryview():
            return base64.b64encode(bytes(value)).decode("ascii")
        case _:
            return value


def line_of(value: Mapping[str, Any]) -> bytes:
    """A line: keys in order, UTF-8, no spaces, a newline at the end."""
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return text.encode() + b"\n"


def values_of(table: Table, row: object) -> dict[str, Any]:
    """The values of a line's row as the table takes them, without the scope.

    Raises:
        InputError: it is no row of the table.
    """
    columns = columns_of(table)
    if not isinstance(row, dict) or set(row) != {column.name for column in columns}:
        raise InputError(f"expected a row of {table.name}", field="row")
    return {column.name: _meant(table, column, row[column.name]) for column in columns}


def _meant(table: Table, column: Column[Any], value: object) -> object:
    if value is None and column.nullable:
        return None
    try:
        parsed = _parsed(column, value)
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error) as exc:
        raise InputError(
            f"expected a {column.type.__class__.__name__} in {table.name}.{column.name}",
            field=f"{table.name}.{column.name}",
        ) from exc
    if type(parsed) is int:
        _check_whole(table, column, parsed)
    return parsed


def _parsed(column: Column[Any], value: object) -> object:
    kind = column.type
    if isinstance(kind, JSON):
        check_json(value)
        return value
    if isinstance(kind, UtcDateTime):
        return _instant(datetime.fromisoformat(_text(value)))
    if isinstance(kind, Date):
        return date.fromisoformat(_text(value))
    if isinstance(kind, HalfVector):
        return _vector(base64.b64decode(_text(value), validate=True))
    expected: type = kind.python_type
    if expected is float and type(value) is int:
        return float(value)
    if type(value) is not expected:
        raise ValueError(f"expected {expected.__name__}")
    if isinstance(value, str):
        check_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("expected a finite number")
    return value


def _instant(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise ValueError("expected a time with a zone")
    return value.astimezone(UTC)


def _check_whole(table: Table, column: Column[Any], value: int) -> None:
    """Raises InputError outside what the column counts: counters begin at 0, all else at 1."""
    is_from_zero = column.server_default is not None or column.name == ORDER[2]
    least = 0 if is_from_zero else 1
    most = HIGHEST if isinstance(column.type, BigInteger) else 2**31 - 1
    if not least <= value <= most:
        where = f"{table.name}.{column.name}"
        raise InputError(f"expected {least} to {most} in {where}, got {value}", field=where)


def _vector(stored: bytes) -> NDArray[np.float32]:
    vector = np.frombuffer(stored, dtype="<f2").astype(np.float32)
    if not np.isfinite(vector).all():
        raise ValueError("expected finite numbers")
    return vector


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a text")
    return value


def told(values: Mapping[str, Any]) -> bytes:
    """A row's values as its line says them."""
    return line_of({name: _told(value) for name, value in values.items()})
