"""How far a collection is, counted from its rows."""

from typing import Any

from sqlalchemy import Connection, Row, Table, func, select

from actors.records.quarantine_store import held_in
from actors.records.sql import in_scope
from actors.records.tables import entries, index_ops
from pipeline.messages import Scope, TenantId
from pipeline.state import CollectionInfo


def info_of(connection: Connection, row: Row[Any]) -> CollectionInfo:
    """The state of the collection whose row of ``collections`` is given."""
    scope = Scope(tenant=TenantId(row.tenant), collection=row.name)
    return CollectionInfo(
        scope=scope,
        last_sequence=row.last_sequence,
        messages=row.last_sequence - row.erased,
        pending=row.pending,
        entries=_count(connection, entries, scope),
        quarantined=held_in(connection, scope),
        created_at=row.created_at,
        flushed=row.flushed,
        index_lag=_count(connection, index_ops, scope),
        settings=row.settings,
    )


def _count(connection: Connection, table: Table, scope: Scope) -> int:
    query = select(func.count()).select_from(table).where(in_scope(table, scope))
    return int(connection.execute(query).scalar_one())
