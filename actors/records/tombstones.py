"""What stays of something erased: ids, digests and numbers, and what they decide."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, insert, select

from actors.records.tables import erasures
from pipeline.ids import digest
from pipeline.messages import Scope

MARKS = ("last_sequence", "writes", "step")
"""The counters of a collection that one of the same name goes on from."""


def subject(kind: str, name: str) -> str:
    """The digest under which something with a name is remembered as erased."""
    return digest(kind, name)


def within(scope: Scope) -> str:
    """The digest of a collection's name."""
    return subject("collection", scope.collection)


def origin_of(row: Row[Any]) -> str:
    """Which collection a row of ``collections`` is: an imported one is the exported one."""
    made = row.created_at.isoformat()
    return str(row.origin or digest("origin", row.tenant, row.name, made))


def marks_of(row: Row[Any], *, epoch: int) -> dict[str, int]:
    """The counters of the collection's row and of its lease."""
    return {name: int(getattr(row, name)) for name in MARKS} | {"epoch": epoch}


def erased_before(connection: Connection, scope: Scope) -> dict[str, int] | None:
    """The counters of the newest erased collection of this name; None where there was none."""
    mine = _of_collection(scope)
    query = select(erasures.c.marks).where(mine, erasures.c.kind == "collection")
    found: dict[str, int] | None = connection.execute(
        query.order_by(erasures.c.id.desc()).limit(1)
    ).scalar()
    return found


def erased_since(connection: Connection, scope: Scope, through: int) -> bool:
    """Whether anything of the collection was erased after its write counter stood there."""
    query = select(erasures.c.marks).where(_of_collection(scope))
    newest = connection.execute(query.order_by(erasures.c.id.desc()).limit(1)).scalar()
    return newest is not None and newest["writes"] > through


def _of_collection(scope: Scope) -> ColumnElement[bool]:
    return and_(erasures.c.tenant == scope.tenant, erasures.c.within == within(scope))


def write_tombstone(
    connection: Connection,
    scope: Scope,
    *,
    kind: str,
    subject: str,
    origin: str | None,
    marks: Mapping[str, int],
    receipt: Mapping[str, int],
    now: datetime,
) -> int:
    """The number of the new tombstone; a scope without a collection's name is the tenant."""
    statement = insert(erasures).values(
        tenant=scope.tenant,
        kind=kind,
        subject=subject,
        within=within(scope) if scope.collection else None,
        origin=origin,
        marks=dict(marks),
        receipt=dict(receipt),
        erased_at=now,
    )
    return int(connection.execute(statement.returning(erasures.c.id)).scalar_one())
