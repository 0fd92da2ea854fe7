"""The few statements that SQLite and PostgreSQL need in the same words."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, bindparam, select

from actors.records.tables import collections
from pipeline.errors import NotFound
from pipeline.messages import Scope

T = TypeVar("T")

CHUNK = 500
"""Values in one IN list, far below the limits of both databases."""


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """The values in runs short enough for one statement."""
    for low in range(0, len(values), CHUNK):
        yield values[low : low + CHUNK]


def in_scope(table: Table, scope: Scope) -> ColumnElement[bool]:
    """That a row of the table belongs to the collection."""
    return and_(table.c.tenant == scope.tenant, table.c.collection == scope.collection)


def in_place(table: Table) -> ColumnElement[bool]:
    """The same for a statement that is built once and gets its scope from ``place_of``."""
    return and_(
        table.c.tenant == bindparam("of_tenant"), table.c.collection == bindparam("of_collection")
    )


def place_of(scope: Scope) -> dict[str, Any]:
    """The scope as parameters of ``in_place``."""
    return {"of_tenant": scope.tenant, "of_collection": scope.collection}


def among(column: ColumnElement[Any], name: str = "some") -> ColumnElement[bool]:
    """That a column holds one of the values given as a parameter of that name."""
    return column.in_(bindparam(name, expanding=True))


def is_collection(scope: Scope) -> ColumnElement[bool]:
    """That a row of ``collections`` is the one of the scope."""
    return and_(collections.c.tenant == scope.tenant, collections.c.name == scope.collection)


def is_in_place() -> ColumnElement[bool]:
    """That a row of ``collections`` is the one of ``place_of``."""
    return and_(
        collections.c.tenant == bindparam("of_tenant"),
        collections.c.name == bindparam("of_collection"),
    )


_FIND = select(collections).where(is_in_place())
_FIND_LOCKED = _FIND.with_for_update()


def find_collection(connection: Connection, scope: Scope, *, lock: bool = False) -> Row[Any]:
    """The collection's row, locked until the transaction ends if asked.

    Whoever locks more than this row locks the lease before it and everything else after it.

    Raises:
        NotFound: the tenant has no such collection.
    """
    row = connection.execute(_FIND_LOCKED if lock else _FIND, place_of(scope)).first()
    if row is None:
        raise NotFound(f"no collection {scope.collection!r}", field="collection")
    return row
