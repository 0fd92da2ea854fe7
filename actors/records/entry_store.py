"""Entries and their versions: reading them and a user's corrections."""

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    case,
    literal,
    select,
    tuple_,
    update,
)

from actors.records.engine import reading, writing
from actors.records.entry_writes import EntryWrite, write_entries
from actors.records.failures import retrying
from actors.records.revision import revised
from actors.records.rows import entry_of, version_of
from actors.records.scratchpad_rows import follow
from actors.records.sql import chunks, find_collection, in_scope, is_collection
from actors.records.tables import ORDER, collections, entries, entry_versions
from pipeline.entries import (
    CURRENT,
    Entry,
    EntryChange,
    EntryVersion,
    Kind,
    OrderKey,
    Status,
)
from pipeline.errors import Conflict, InputError, NotFound
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.sleep.forgetting import MOST_STRENGTH, USED_FACTOR, unarchived
from pipeline.state import Page

_PLACE = (*(entries.c[name] for name in ORDER), entries.c.id)
"""The total order. Two entries share an order key only after sleep gave one that of the other."""


@retrying
class SqlEntryStore:
    """The ``EntryStore`` over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def entries(
        self,
        scope: Scope,
        *,
        statuses: Sequence[Status] = (),
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page:
        """Entries in their order, oldest first; without ``statuses`` all of them.

        Raises:
            NotFound: there is no such collection.
            InputError: the cursor is none of ours, or the limit is below 1.
        """
        if limit < 1:
            raise InputError(f"expected a limit of at least 1, got {limit}", field="limit")
        query = select(entries).where(in_scope(entries, scope)).order_by(*_PLACE)
        if statuses:
            query = query.where(entries.c.status.in_([status.value for status in statuses]))
        if cursor is not None:
            query = query.where(_after(cursor))
        with reading(self._engine, scope.tenant) as connection:
            find_collection(connection, scope)
            rows = connection.execute(query.limit(limit + 1)).all()
        found = tuple(entry_of(row) for row in rows[:limit])
        return Page(entries=found, cursor=_cursor(found[-1]) if len(rows) > limit else None)

    def entry(self, tenant: TenantId, entry: EntryId) -> tuple[Scope, Entry]:
        """The entry in its present version. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            row = _find(connection, tenant, entry)
        return _scope_of(row), entry_of(row)

    def read_back(
        self,
        tenant: TenantId,
        collections: Sequence[str],
        ids: Sequence[EntryId],
        *,
        statuses: Sequence[Status],
    ) -> dict[EntryId, tuple[Scope, Entry]]:
        """Those of the ids that lie in one of the collections with one of the statuses."""
        wanted = [status.value for status in statuses]
        found: dict[EntryId, tuple[Scope, Entry]] = {}
        with reading(self._engine, tenant) as connection:
            for some in chunks(ids):
                mine = (entries.c.tenant == tenant, entries.c.id.in_(some))
                for row in connection.execute(select(entries).where(*mine)):
                    # Asked of SQLite, it would read whole collections.
                    if row.collection in collections and row.status in wanted:
                        found[EntryId(row.id)] = (_scope_of(row), entry_of(row))
        return found

    def versions(
        self, tenant: TenantId, collections: Sequence[str], ids: Sequence[EntryId]
    ) -> dict[EntryId, tuple[Scope, list[Entry]]]:
        """Every version, oldest first, of those of the ids that lie in one of the collections."""
        columns = entry_versions.c
        found: dict[EntryId, tuple[Scope, list[Entry]]] = {}
        with reading(self._engine, tenant) as connection:
            for some in chunks(ids):
                query = (
                    select(entry_versions, columns.entry.label("id"))
                    .where(columns.tenant == tenant, columns.entry.in_(some))
                    .order_by(columns.entry, columns.version)
                )
                for row in connection.execute(query):
                    if row.collection in collections:
                        of_entry = found.setdefault(EntryId(row.id), (_scope_of(row), []))
                        of_entry[1].append(entry_of(row))
        return found

    def of_kind(self, scope: Scope, kind: Kind, *, limit: int) -> list[Entry]:
        """Current entries of one kind, newest first."""
        query = (
            select(entries)
            .where(
                in_scope(entries, scope),
                entries.c.kind == kind.value,
                entries.c.status.in_([status.value for status in CURRENT]),
            )
            .order_by(*(column.desc() for column in _PLACE))
        )
        with reading(self._engine, scope.tenant) as connection:
            return [entry_of(row) for row in connection.execute(query.limit(limit))]

    def history(self, tenant: TenantId, entry: EntryId) -> list[EntryVersion]:
        """Every version, oldest first. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            _find(connection, tenant, entry)
            return [version_of(row) for row in connection.execute(_versions(tenant, entry))]

    def texts(self, tenant: TenantId, ids: Sequence[EntryId]) -> dict[tuple[str, int], str]:
        """The texts of the entries by id and version; what was erased has none."""
        found, table = dict[tuple[str, int], str](), entry_versions.c
        columns = (table.entry, table.version, table.text)
        with reading(self._engine, tenant) as connection:
            for some in chunks(sorted(ids)):
                mine = (table.tenant == tenant, table.entry.in_(some))
                for row in connection.execute(select(*columns).where(*mine)):
                    found[(row.entry, row.version)] = row.text
        return found

    def revise(
        self,
        tenant: TenantId,
        entry: EntryId,
        change: EntryChange,
        *,
        expected_version: int,
        vector: NDArray[np.float32] | None,
        model: str,
        why: str,
        now: datetime,
    ) -> Entry:
        """The user's correction as a new version; the same values again change nothing.

        A new text drops the attributes and entities that described the old one.

        Raises:
            Conflict: the entry is not at ``expected_version``.
            InputError: the change is empty, or a new text is blank or has no vector.
            NotFound: the tenant has no such entry.
        """
        with writing(self._engine, tenant) as connection:
            scope = _scope_of(_find(connection, tenant, entry))
            find_collection(connection, scope, lock=True)
            before = entry_of(_find(connection, tenant, entry))
            _check_version(before, expected_version)
            after = revised(before, change, now=now)
            if after == before:
                return before
            if after.text != before.text and vector is None:
                raise InputError("a new text needs its vector", field="vector")
            of_text = vector if after.text != before.text else None
            write = EntryWrite(entry=after, why=why, vector=of_text)
            write_entries(connection, scope, [write], model=model)
            follow(connection, scope, after, now=now)
            return after

    def restore(self, tenant: TenantId, entry: EntryId, *, model: str, now: datetime) -> Entry:
        """The archived entry as current as it was before, as a new version; a current one as it is.

        Raises:
            Conflict: it is neither archived nor current.
            NotFound: the tenant has no such entry.
        """
        with writing(self._engine, tenant) as connection:
            scope = _scope_of(_find(connection, tenant, entry))
            find_collection(connection, scope, lock=True)
            before = entry_of(_find(connection, tenant, entry))
            if before.status not in (Status.ARCHIVED, *CURRENT):
                raise Conflict(
                    f"expected an archived entry, got one that is {before.status.value}",
                    field="status",
                )
            past = [entry_of(row) for row in connection.execute(_versions(tenant, entry))]
            after = unarchived(before, past, now=now)
            if after != before:
                write = EntryWrite(entry=after, why="restored by a user")
                write_entries(connection, scope, [write], model=model)
                follow(connection, scope, after, now=now)
            return after

    def used(self, scope: Scope, ids: Sequence[EntryId], *, now: datetime) -> None:
        """Strengthens entries that an answer or context used (times 1.2, at most 5)."""
        stronger = entries.c.strength * USED_FACTOR
        values = {
            "strength": case((stronger > MOST_STRENGTH, MOST_STRENGTH), else_=stronger),
            "last_used_at": now,
        }
        with writing(self._engine, scope.tenant) as connection:
            # Whoever writes entries of a collection holds its row: then none wait in a circle.
            lock = select(collections.c.name).where(is_collection(scope)).with_for_update()
            connection.execute(lock).all()
            for some in chunks(ids):
                mine = (in_scope(entries, scope), entries.c.id.in_(some))
                connection.execute(update(entries).where(*mine).values(values))


def _versions(tenant: TenantId, entry: EntryId) -> Select[Any]:
    versions = entry_versions.c
    return (
        select(entry_versions, versions.entry.label("id"))
        .where(versions.tenant == tenant, versions.entry == entry)
        .order_by(versions.version)
    )


def _find(connection: Connection, tenant: TenantId, entry: EntryId) -> Row[Any]:
    query = select(entries).where(entries.c.tenant == tenant, entries.c.id == entry)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(f"no entry {entry!r}", field="entry")
    return row


def _scope_of(row: Row[Any]) -> Scope:
    return Scope(tenant=TenantId(row.tenant), collection=row.collection)


def _check_version(entry: Entry, expected: int) -> None:
    if entry.version != expected:
        raise Conflict(
            f"expected version {expected} of entry {entry.id}, it is at {entry.version}",
            field="If-Match",
        )


def _cursor(entry: Entry) -> str:
    order = entry.order
    place = [order.said_at.isoformat(), order.sequence, order.ordinal, entry.id]
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def _after(cursor: str) -> ColumnElement[bool]:
    order, entry = _parsed(cursor)
    place = (order.said_at, order.sequence, order.ordinal, entry)
    values = [literal(value, column.type) for value, column in zip(place, _PLACE, strict=True)]
    return tuple_(*_PLACE) > tuple_(*values)


def _parsed(cursor: str) -> tuple[OrderKey, str]:
    try:
        match json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True)):
            case [str(said_at), int(sequence), int(ordinal), str(entry)]:
                instant = datetime.fromisoformat(said_at)
                numbers_fit = max(abs(sequence), abs(ordinal)) < 2**63
                if instant.utcoffset() is not None and numbers_fit and "\x00" not in entry:
                    return OrderKey(said_at=instant, sequence=sequence, ordinal=ordinal), entry
    except (ValueError, binascii.Error) as exc:
        raise InputError(f"expected a cursor of a page, got {cursor!r}", field="cursor") from exc
    raise InputError(f"expected a cursor of a page, got {cursor!r}", field="cursor")
