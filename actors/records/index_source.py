"""What the vector index must hold, read page by page from the record store."""

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, select, tuple_

from actors.records.engine import EVERY_TENANT, reading
from actors.records.outbox import sources_of, versions_of
from actors.records.sql import chunks, in_scope
from actors.records.tables import entries, entry_vectors, entry_versions, index_ops
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.ports import EntryKey
from pipeline.state import OutboxItem, StoredPoint


class SqlIndexSource:
    """The ``IndexSource`` over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def model(self) -> str | None:
        """The embedding model of the stored vectors; None while there are none."""
        with reading(self._engine, EVERY_TENANT) as connection:
            found: str | None = connection.execute(select(entry_vectors.c.model).limit(1)).scalar()
            return found

    def page(
        self, scope: Scope | None = None, *, after: EntryKey | None = None, limit: int = 500
    ) -> list[OutboxItem]:
        """Entries with all their versions, by tenant and id, those above ``after``."""
        place = (entries.c.tenant, entries.c.id)
        query = select(entries.c.tenant, entries.c.collection, entries.c.id)
        if scope is not None:
            query = query.where(in_scope(entries, scope))
        if after is not None:
            query = query.where(tuple_(*place) > tuple_(*after))
        tenant = EVERY_TENANT if scope is None else scope.tenant
        with reading(self._engine, tenant) as connection:
            rows = connection.execute(query.order_by(*place).limit(limit)).all()
            versions = versions_of(connection, [(row.tenant, row.id) for row in rows])
            sources = sources_of(connection, versions)
        return [
            OutboxItem(
                ids=(),
                scope=Scope(tenant=TenantId(row.tenant), collection=row.collection),
                entry=EntryId(row.id),
                versions=versions.get((row.tenant, row.id), ()),
                sources=sources.get(row.tenant, {}),
            )
            for row in rows
        ]

    def unknown(self, points: Sequence[StoredPoint]) -> list[StoredPoint]:
        """Those of the points that belong to no version of an entry of their scope."""
        by_scope: dict[Scope, list[StoredPoint]] = {}
        for point in points:
            by_scope.setdefault(point.scope, []).append(point)
        with reading(self._engine, EVERY_TENANT) as connection:
            known = {
                scope: _known(connection, scope, sorted({point.entry for point in some}))
                for scope, some in by_scope.items()
            }
        return [point for point in points if (point.entry, point.version) not in known[point.scope]]

    def pending(self, items: Sequence[OutboxItem]) -> set[EntryKey]:
        """The items' entries that have changes the index has not taken."""
        found: set[EntryKey] = set()
        with reading(self._engine, EVERY_TENANT) as connection:
            for tenant in {item.scope.tenant for item in items}:
                mine = [item.entry for item in items if item.scope.tenant == tenant]
                for some in chunks(mine):
                    query = select(index_ops.c.entry).where(
                        index_ops.c.tenant == tenant, index_ops.c.entry.in_(some)
                    )
                    rows = connection.execute(query).scalars()
                    found.update((tenant, EntryId(entry)) for entry in rows)
        return found


def _known(
    connection: Connection, scope: Scope, ids: Sequence[EntryId]
) -> set[tuple[EntryId, int]]:
    found: set[tuple[EntryId, int]] = set()
    for some in chunks(ids):
        query = select(entry_versions.c.entry, entry_versions.c.version).where(
            in_scope(entry_versions, scope), entry_versions.c.entry.in_(some)
        )
        found.update((EntryId(row.entry), row.version) for row in connection.execute(query))
    return found
