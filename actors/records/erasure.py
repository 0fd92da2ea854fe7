"""Erasure, the one hard delete: of an entry, a conversation, a collection or a tenant.

One transaction takes the rows out, in every table as the registry says, and leaves a tombstone
without any text. What stays in the files is wiped afterwards (``wiping``), which the tombstone
remembers as owed until it is done.

Whoever still holds what is erased can write none of it: the collection's step and write counter
move on, so that the commit of an ingest step, a sleep decision and a cached reply are refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, delete, select, update

from actors.records.doomed import Doomed, doomed_conversation, doomed_entry
from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.erased import blank_runs
from actors.records.erasure_parts import Receipt, erase_parts, forget_points
from actors.records.registry import Erasure, TableRule, children_first
from actors.records.sql import chunks, find_collection, in_scope, is_collection
from actors.records.tables import (
    collections,
    conversations,
    entries,
    entry_versions,
    erasures,
    index_ops,
    leases,
    tenants,
)
from actors.records.tombstones import marks_of, origin_of, subject, write_tombstone
from pipeline.errors import NotFound
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What was erased; ``id`` names the tombstone, which owes its wiping until ``wiped``.

    ``receipt`` counts per table the rows that went or whose texts went.
    """

    id: int
    receipt: Receipt


class SqlErasure:
    """Erases over a record store; a thing erased before, or never there, is NotFound."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def erase_entry(
        self, tenant: TenantId, entry: EntryId, *, siblings: bool, now: datetime
    ) -> Erased:
        """Erases the entry and redacts its source messages.

        Args:
            siblings: also erases every other entry that came from those messages.

        Raises:
            NotFound: the tenant has no such entry.
        """
        with writing(self._engine, tenant) as connection:
            scope = _scope_of_entry(connection, tenant, entry)
            find_collection(connection, scope, lock=True)
            doomed = doomed_entry(connection, scope, entry, siblings=siblings)
            return self._erase(connection, scope, doomed, kind="entry", name=entry, now=now)

    def erase_conversation(self, scope: Scope, conversation: str, *, now: datetime) -> Erased:
        """Erases the conversation's messages and every entry that came from them alone.

        Raises:
            NotFound: the collection has no such conversation.
        """
        with writing(self._engine, scope.tenant) as connection:
            find_collection(connection, scope, lock=True)
            known = select(conversations.c.name).where(
                in_scope(conversations, scope), conversations.c.name == conversation
            )
            if connection.execute(known).first() is None:
                raise NotFound(f"no conversation {conversation!r}", field="conversation")
            doomed = doomed_conversation(connection, scope, conversation)
            return self._erase(
                connection, scope, doomed, kind="conversation", name=conversation, now=now
            )

    def _erase(
        self,
        connection: Connection,
        scope: Scope,
        doomed: Doomed,
        *,
        kind: str,
        name: str,
        now: datetime,
    ) -> Erased:
        receipt = erase_parts(connection, scope, doomed, now=now)
        row = find_collection(connection, scope)
        return _erased(
            connection,
            scope,
            kind=kind,
            name=name,
            origin=origin_of(row),
            marks=marks_of(row, epoch=0),
            receipt=receipt,
            now=now,
        )

    def erase_collection(self, scope: Scope, *, now: datetime) -> Erased:
        """Erases everything of the collection and the collection itself.

        Raises:
            NotFound: there is no such collection.
        """
        with writing(self._engine, scope.tenant) as connection:
            marks, origin = _lock(connection, scope)
            receipt = _erase_collection(connection, scope, now)
            receipt["sleep_runs"] = blank_runs(connection, scope.tenant)
            return _erased(
                connection,
                scope,
                kind="collection",
                name=scope.collection,
                origin=origin,
                marks=marks,
                receipt=receipt,
                now=now,
            )

    def erase_tenant(self, tenant: TenantId, *, now: datetime) -> Erased:
        """Erases every collection of the tenant, its keys and runs, and the tenant itself.

        Raises:
            NotFound: there is no such tenant.
        """
        with writing(self._engine, EVERY_TENANT) as connection:
            known = select(tenants.c.name).where(tenants.c.name == tenant).with_for_update()
            if connection.execute(known).first() is None:
                raise NotFound(f"no tenant {tenant!r}", field="tenant")
            receipt: Receipt = {}
            for scope in _scopes(connection, tenant):
                self._erase_of_tenant(connection, scope, receipt, now)
            for rule in children_first():
                _add(receipt, rule.table.name, _erase_by_tenant(connection, rule, tenant))
            return _erased(
                connection,
                Scope(tenant=tenant, collection=""),
                kind="tenant",
                name=tenant,
                origin=None,
                marks={},
                receipt=receipt,
                now=now,
            )

    def _erase_of_tenant(
        self, connection: Connection, scope: Scope, receipt: Receipt, now: datetime
    ) -> None:
        marks, origin = _lock(connection, scope)
        part = _erase_collection(connection, scope, now)
        for name, rows in part.items():
            _add(receipt, name, rows)
        _erased(
            connection,
            scope,
            kind="collection",
            name=scope.collection,
            origin=origin,
            marks=marks,
            receipt=part,
            now=now,
        )

    # Wiping -------------------------------------------------------------------------------------

    def owed(self) -> list[int]:
        """The tombstones whose bytes may still lie in the files, oldest first."""
        query = select(erasures.c.id).where(erasures.c.cleaned_at.is_(None))
        with reading(self._engine, EVERY_TENANT) as connection:
            return list(connection.execute(query.order_by(erasures.c.id)).scalars())

    def wiped(self, ids: Sequence[int], *, now: datetime) -> None:
        """Notes that their bytes have gone; doing it twice changes nothing."""
        with writing(self._engine, EVERY_TENANT) as connection:
            for some in chunks(ids):
                unwiped = (erasures.c.id.in_(some), erasures.c.cleaned_at.is_(None))
                connection.execute(update(erasures).where(*unwiped).values(cleaned_at=now))


def _scope_of_entry(connection: Connection, tenant: TenantId, entry: EntryId) -> Scope:
    query = select(entries.c.collection).where(entries.c.tenant == tenant, entries.c.id == entry)
    collection = connection.execute(query).scalar()
    if collection is None:
        raise NotFound(f"no entry {entry!r}", field="entry")
    return Scope(tenant=tenant, collection=collection)


def _scopes(connection: Connection, tenant: TenantId) -> list[Scope]:
    query = select(collections.c.name).where(collections.c.tenant == tenant)
    names = connection.execute(query.order_by(collections.c.name)).scalars()
    return [Scope(tenant=tenant, collection=name) for name in names]


def _lock(connection: Connection, scope: Scope) -> tuple[dict[str, int], str]:
    """The collection's counters and origin, its lease and its row locked in that order."""
    lease = select(leases.c.epoch).where(in_scope(leases, scope)).with_for_update()
    epoch = connection.execute(lease).scalar() or 0
    row = find_collection(connection, scope, lock=True)
    return marks_of(row, epoch=epoch), origin_of(row)


def _erase_collection(connection: Connection, scope: Scope, now: datetime) -> Receipt:
    """Every row of the collection, children first; its points are left to the outbox."""
    points = _points(connection, scope)
    receipt: Receipt = {}
    for rule in children_first():
        match rule.erasure:
            case Erasure.COLLECTION:
                mine = in_scope(rule.table, scope)
            case Erasure.SELF:
                mine = is_collection(scope)
            case _:
                continue
        _add(receipt, rule.table.name, connection.execute(delete(rule.table).where(mine)).rowcount)
    forget_points(connection, scope, points, now=now)
    return receipt


def _points(connection: Connection, scope: Scope) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    query = select(entry_versions.c.entry, entry_versions.c.version).where(
        in_scope(entry_versions, scope)
    )
    for row in connection.execute(query):
        found.setdefault(row.entry, []).append(row.version)
    return found


def _erase_by_tenant(connection: Connection, rule: TableRule, tenant: TenantId) -> int:
    if rule.erasure is Erasure.KEPT or rule.table is index_ops:
        return 0
    statement = delete(rule.table).where(rule.table.c[rule.tenant] == tenant)
    return connection.execute(statement).rowcount


def _add(receipt: Receipt, name: str, rows: int) -> None:
    if rows:
        receipt[name] = receipt.get(name, 0) + rows


def _erased(
    connection: Connection,
    scope: Scope,
    *,
    kind: str,
    name: str,
    origin: str | None,
    marks: dict[str, int],
    receipt: Receipt,
    now: datetime,
) -> Erased:
    told = {table: rows for table, rows in sorted(receipt.items()) if rows}
    made = write_tombstone(
        connection,
        scope,
        kind=kind,
        subject=name if kind == "entry" else subject(kind, name),
        origin=origin,
        marks=marks,
        receipt=told,
        now=now,
    )
    return Erased(id=made, receipt=told)
