"""Collections as a run tends them after its decisions, over a record store.

A plan is made outside of any transaction and written by compare-and-set: what was changed
meanwhile, by whomever, wins over the run, and is looked at again the next time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, and_, case, exists, false, func, or_, select, update

from actors.records.engine import reading, writing
from actors.records.failures import retrying
from actors.records.rows import entry_of
from actors.records.scratchpad_rows import item_of, items_by_id, write_items
from actors.records.sleep_changes import (
    change_of,
    changed_texts,
    changes_query,
    count_changes,
    enter_changes,
    may_change,
)
from actors.records.sleep_due import IS_CURRENT
from actors.records.sleep_rows import copy_vectors, entries_by_id, write_version
from actors.records.sql import find_collection, in_scope, is_collection
from actors.records.tables import collections, entries, entry_versions, scratchpad_items
from actors.records.tombstones import erased_since
from actors.records.usage import add_usage
from pipeline.chat import Spent
from pipeline.entries import Kind
from pipeline.errors import InputError
from pipeline.ids import EntryId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import DueCollection
from pipeline.scratchpad import ItemWrite
from pipeline.settings import collection_settings
from pipeline.sleep.tending import Change, ChangeKind, Kept, Tending, Turn


@retrying
class SqlTending:
    """The ``TendingStore`` over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # Reading --------------------------------------------------------------------------------

    def untended(
        self,
        tenant: TenantId,
        *,
        collection: str | None = None,
        faded_before: Mapping[Kind, datetime] | None = None,
        capacity: int | None = None,
    ) -> list[DueCollection]:
        """Collections, by name, of which something was written since they were last tended.

        Also those with current entries last touched before ``faded_before`` of their kind, and
        those with more than their own capacity, or ``capacity``, of them.
        """
        with reading(self._engine, tenant) as connection:
            rows = connection.execute(_untended(tenant, collection, faded_before or {})).all()
        return [
            DueCollection(scope=Scope(tenant=tenant, collection=row.name), entries=row.entries)
            for row in rows
            if row.is_new or row.has_faded or _is_crowded(row, capacity)
        ]

    def kept(self, scope: Scope, *, run: RunId) -> Kept:
        """The collection as it is now. Raises NotFound."""
        with reading(self._engine, scope.tenant) as connection:
            row = find_collection(connection, scope)
            query = select(entries).where(in_scope(entries, scope))
            found = connection.execute(query).all()
            pad = select(scratchpad_items).where(in_scope(scratchpad_items, scope))
            return Kept(
                scope=scope,
                entries=tuple(entry_of(each) for each in found),
                items=tuple(item_of(each) for each in connection.execute(pad)),
                new=frozenset(EntryId(e.id) for e in found if e.new_at > row.tended_through),
                decided=_decided(connection, scope, run),
                settings=row.settings,
                through=row.writes,
            )

    def changes(self, tenant: TenantId, run: RunId) -> list[Change]:
        """What the run changed, by collection in the order it was done."""
        with reading(self._engine, tenant) as connection:
            return [change_of(row) for row in connection.execute(changes_query(tenant, run))]

    def texts(self, tenant: TenantId, run: RunId) -> dict[tuple[str, int], str]:
        """By id and version what the run changed, before and after; without what was erased."""
        with reading(self._engine, tenant) as connection:
            return changed_texts(connection, tenant, run)

    def changed(
        self, tenant: TenantId, run: RunId, *, collection: str | None = None
    ) -> dict[str, int]:
        """What the run has changed so far: archived, merged, items and shortened."""
        with reading(self._engine, tenant) as connection:
            return count_changes(connection, tenant, run, collection=collection)

    # Writing --------------------------------------------------------------------------------

    def tend(
        self,
        run: RunId,
        scope: Scope,
        plan: Tending,
        *,
        through: int,
        now: datetime,
        is_done: bool = True,
    ) -> None:
        """Writes the plan, made when the write counter stood at ``through``.

        With ``is_done`` the collection is tended up to there. A turn whose entry changed meanwhile
        is left out with its group, an item that changed meanwhile is left out. Where something was
        erased meanwhile nothing is written: the plan may be made of it.
        """
        with writing(self._engine, scope.tenant) as connection:
            row = find_collection(connection, scope, lock=True)
            if erased_since(connection, scope, through):
                return
            changes = _write_turns(connection, run, scope, plan.turns, now)
            changes += _write_items(connection, run, scope, plan.items, now)
            enter_changes(connection, changes)
            if is_done:
                _mark(connection, scope, row, through)

    def shorten(
        self,
        run: RunId,
        scope: Scope,
        groups: Sequence[Sequence[ItemWrite]],
        *,
        spent: Sequence[Spent],
        through: int,
        now: datetime,
    ) -> None:
        """Writes items that give way, each group as a whole or not at all.

        What the calls took is added to the usage in any case. Where something was erased since the
        write counter stood at ``through`` nothing else is written.
        """
        with writing(self._engine, scope.tenant) as connection:
            find_collection(connection, scope, lock=True)
            add_usage(connection, scope, spent, {}, now=now)
            if erased_since(connection, scope, through):
                return
            open_ones = _open(connection, run, scope, [one for some in groups for one in some])
            whole = [one for some in groups if _all_open(some, open_ones) for one in some]
            changes = _write_items(connection, run, scope, whole, now)
            enter_changes(connection, [replace(one, kind=ChangeKind.SHORTEN) for one in changes])


def _untended(tenant: TenantId, collection: str | None, faded: Mapping[Kind, datetime]) -> Any:
    here = and_(
        entries.c.tenant == collections.c.tenant, entries.c.collection == collections.c.name
    )
    touched = case(
        (entries.c.last_used_at > entries.c.written_at, entries.c.last_used_at),
        else_=entries.c.written_at,
    )
    is_old = [and_(entries.c.kind == kind.value, touched < then) for kind, then in faded.items()]
    has_faded = exists().where(here, IS_CURRENT, or_(false(), *is_old))
    size = select(func.count()).select_from(entries).where(here, IS_CURRENT).scalar_subquery()
    query = select(
        collections.c.name,
        collections.c.settings,
        (collections.c.writes > collections.c.tended_through).label("is_new"),
        has_faded.label("has_faded"),
        size.label("entries"),
    )
    query = query.where(collections.c.tenant == tenant).order_by(collections.c.name)
    return query if collection is None else query.where(collections.c.name == collection)


def _is_crowded(row: Row[Any], capacity: int | None) -> bool:
    most = capacity_of(row.settings, capacity)
    return most is not None and row.entries > most


def capacity_of(settings: Mapping[str, Any], capacity: int | None) -> int | None:
    """How many current entries a collection may have; None is no limit."""
    try:
        own = collection_settings(settings).capacity_entries
    except InputError:  # nothing gets in unchecked; a damaged row keeps the service's
        return capacity
    return capacity if own is None else own


def _decided(connection: Connection, scope: Scope, run: RunId) -> frozenset[EntryId]:
    query = select(entry_versions.c.entry).where(
        in_scope(entry_versions, scope), entry_versions.c.run == run
    )
    return frozenset(EntryId(entry) for entry in connection.execute(query).scalars())


def _write_turns(
    connection: Connection,
    run: RunId,
    scope: Scope,
    groups: Sequence[Sequence[Turn]],
    now: datetime,
) -> list[Change]:
    turns = [turn for group in groups for turn in group]
    present = entries_by_id(connection, scope, [turn.before.id for turn in turns])
    versions: dict[str, int] = {turn.before.id: turn.before.version for turn in turns}
    may = may_change(connection, scope, run, versions)
    changes = []
    for group in groups:
        is_whole = all(
            turn.before.id in may
            and turn.before.id in present
            and present[turn.before.id].version == turn.before.version
            for turn in group
        )
        if is_whole:
            changes += [_written(connection, run, scope, turn, now) for turn in group]
    return changes


def _written(connection: Connection, run: RunId, scope: Scope, turn: Turn, now: datetime) -> Change:
    write_version(connection, scope, turn.before, turn.after, why=turn.why, run=run)
    copy_vectors(connection, scope, turn.after, version=turn.before.version)
    return Change(
        run=run,
        scope=scope,
        kind=turn.kind,
        subject=turn.before.id,
        version_before=turn.before.version,
        version_after=turn.after.version,
        partner=turn.partner,
        reason=turn.why,
        state="applied",
        changed_at=now,
    )


def _open(
    connection: Connection, run: RunId, scope: Scope, writes: Sequence[ItemWrite]
) -> set[str]:
    """The items that are still as the writes suppose, and that the run may still change."""
    present = items_by_id(connection, scope, [write.after.id for write in writes])
    versions: dict[str, int] = {
        one.after.id: 0 if one.before is None else one.before.version for one in writes
    }
    may = may_change(connection, scope, run, versions)
    return {
        write.after.id
        for write in writes
        if write.after.id in may and present.get(write.after.id) == write.before
    }


def _all_open(writes: Sequence[ItemWrite], open_ones: set[str]) -> bool:
    return all(write.after.id in open_ones for write in writes)


def _write_items(
    connection: Connection,
    run: RunId,
    scope: Scope,
    writes: Sequence[ItemWrite],
    now: datetime,
) -> list[Change]:
    open_ones = _open(connection, run, scope, writes)
    still = [write for write in writes if write.after.id in open_ones]
    write_items(connection, scope, still, run=run)
    return [
        Change(
            run=run,
            scope=scope,
            kind=ChangeKind.ITEM,
            subject=write.after.id,
            version_before=0 if write.before is None else write.before.version,
            version_after=write.after.version,
            partner=None,
            reason=write.why,
            state="applied",
            changed_at=now,
        )
        for write in still
    ]


def _mark(connection: Connection, scope: Scope, row: Row[Any], through: int) -> None:
    """How far the collection is tended: with the run's own writes where nobody else wrote."""
    written = find_collection(connection, scope).writes
    seen = written if row.writes == through else through
    reached = case((collections.c.tended_through < seen, seen), else_=collections.c.tended_through)
    connection.execute(
        update(collections).where(is_collection(scope)).values(tended_through=reached)
    )
