"""What the index has still to follow, read from the outbox."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, Row, and_, delete, exists, func, insert, select

from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.rows import entry_of
from actors.records.sql import chunks, in_scope
from actors.records.tables import entries, entry_vectors, entry_versions, index_ops, messages
from pipeline.entries import Entry
from pipeline.ids import EntryId, MessageId
from pipeline.messages import Scope, TenantId
from pipeline.recall.filters import Origin
from pipeline.state import OutboxItem

_Key = tuple[str, str]
"""A tenant and an entry."""

Sources = Mapping[str, Mapping[MessageId, Origin]]
"""Per tenant what messages lend to entries."""

_Versions = tuple[tuple[Entry, NDArray[np.float32]], ...]

_LISTED = exists().where(index_ops.c.tenant == entries.c.tenant, index_ops.c.entry == entries.c.id)

_OWE_ALL = insert(index_ops).from_select(
    ["tenant", "collection", "entry", "created_at"],
    select(*(entries.c[name] for name in ("tenant", "collection", "id", "written_at"))).where(
        ~_LISTED
    ),
)


@retrying
class SqlOutbox:
    """The ``Outbox`` over a record store. One reader at a time keeps the index in order."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def pending(self, *, limit: int) -> list[OutboxItem]:
        """The oldest changed entries, each with the points it must have now."""
        oldest = select(index_ops).order_by(index_ops.c.id).limit(limit)
        with reading(self._engine, EVERY_TENANT) as connection:
            rows = connection.execute(oldest).all()
            changes = _by_entry(rows)
            if len(rows) == limit:  # there may be younger ones of the same entries
                changes = _changes(connection, list(changes))
            versions = versions_of(connection, list(changes))
            sources = sources_of(connection, versions)
        return [_item(mine, versions.get(key, ()), sources) for key, mine in changes.items()]

    def done(self, items: Sequence[OutboxItem]) -> None:
        """Forgets items that the index has taken; doing it twice changes nothing."""
        ids = [id_ for item in items for id_ in item.ids]
        with writing(self._engine, EVERY_TENANT) as connection:
            for some in chunks(ids):
                connection.execute(delete(index_ops).where(index_ops.c.id.in_(some)))

    def lag(self, scope: Scope) -> int:
        """How many changes of the scope the index has not taken."""
        query = select(func.count()).select_from(index_ops).where(in_scope(index_ops, scope))
        with reading(self._engine, scope.tenant) as connection:
            return int(connection.execute(query).scalar_one())

    def owe_all(self) -> int:
        """Lists every entry that is not listed yet as changed; how many that are."""
        with writing(self._engine, EVERY_TENANT) as connection:
            owed = connection.execute(_OWE_ALL, execution_options={"preserve_rowcount": True})
            return int(owed.rowcount)


def _key(row: Row[Any]) -> _Key:
    return row.tenant, row.entry


def _by_tenant(keys: Sequence[_Key]) -> Iterator[tuple[str, Sequence[str]]]:
    """The entries tenant by tenant: SQLite finds pairs only by reading the whole table."""
    tenants: dict[str, list[str]] = {}
    for tenant, entry in keys:
        tenants.setdefault(tenant, []).append(entry)
    for tenant, mine in tenants.items():
        for some in chunks(mine):
            yield tenant, some


def _by_entry(rows: Sequence[Row[Any]]) -> dict[_Key, list[Row[Any]]]:
    found: dict[_Key, list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(_key(row), []).append(row)
    return found


def _changes(connection: Connection, keys: Sequence[_Key]) -> dict[_Key, list[Row[Any]]]:
    """All outbox rows of the entries, in the order of the keys, the rows of each oldest first."""
    found: dict[_Key, list[Row[Any]]] = {key: [] for key in keys}
    for tenant, some in _by_tenant(keys):
        mine = (index_ops.c.tenant == tenant, index_ops.c.entry.in_(some))
        rows = connection.execute(select(index_ops).where(*mine)).all()
        for row in sorted(rows, key=lambda one: int(one.id)):
            found[_key(row)].append(row)
    return found


def versions_of(connection: Connection, keys: Sequence[_Key]) -> Mapping[_Key, _Versions]:
    """Per (tenant, entry) every version with its vector, oldest first."""
    found: dict[_Key, list[Row[Any]]] = {}
    versions, vectors = entry_versions.c, entry_vectors.c
    same = and_(
        vectors.tenant == versions.tenant,
        vectors.entry == versions.entry,
        vectors.version == versions.version,
    )
    for tenant, some in _by_tenant(keys):
        query = (
            select(entry_versions, versions.entry.label("id"), vectors.model, vectors.vector)
            .join_from(entry_versions, entry_vectors, same)
            .where(versions.tenant == tenant, versions.entry.in_(some))
            .order_by(versions.entry, versions.version, vectors.model)
        )
        for row in connection.execute(query):
            found.setdefault((row.tenant, row.id), []).append(row)
    return {key: _of_newest_model(rows) for key, rows in found.items()}


def _of_newest_model(rows: Sequence[Row[Any]]) -> _Versions:
    """Vectors of one model only, since an index holds one width: that of the present version."""
    model = rows[-1].model
    return tuple((entry_of(row), row.vector) for row in rows if row.model == model)


def sources_of(connection: Connection, versions: Mapping[_Key, _Versions]) -> Sources:
    """What the source messages of all the versions lend to them, per tenant by id."""
    wanted = dict.fromkeys(
        (tenant, source)
        for (tenant, _entry), some in versions.items()
        for entry, _vector in some
        for source in entry.sources
    )
    found: dict[str, dict[MessageId, Origin]] = {}
    columns = (messages.c.id, messages.c.conversation, messages.c.metadata)
    for tenant, some_ids in _by_tenant(list(wanted)):
        query = select(*columns).where(messages.c.tenant == tenant, messages.c.id.in_(some_ids))
        mine = found.setdefault(tenant, {})
        for row in connection.execute(query):
            mine[MessageId(row.id)] = Origin(conversation=row.conversation, metadata=row.metadata)
    return found


def _item(changes: Sequence[Row[Any]], versions: _Versions, sources: Sources) -> OutboxItem:
    removed = (point for row in changes for point in row.removed or ())
    return OutboxItem(
        ids=tuple(row.id for row in changes),
        scope=Scope(tenant=TenantId(changes[0].tenant), collection=changes[0].collection),
        entry=EntryId(changes[0].entry),
        versions=versions,
        removed=tuple(dict.fromkeys(removed)),
        sources=sources.get(changes[0].tenant, {}),
    )
