"""The ledger's other part: what a run merged, archived and did to the scratchpad, and its undo.

Rows name versions and quote nothing. They are not decisions on pairs, so nothing of them is ever
due again, and a table of their own keeps them apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select, update

from actors.records.bulk import insert_rows
from actors.records.scratchpad_rows import item_versions, items_by_id, write_items
from actors.records.sleep_rows import copy_vectors, entries_by_id, entry_at, write_version
from actors.records.sql import chunks, in_scope
from actors.records.tables import entry_versions, ledger_changes, scratchpad_versions
from pipeline.entries import Entry, Writer
from pipeline.ids import EntryId, ItemId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import SleepRun, UndoItem
from pipeline.scratchpad import Item, ItemStatus, ItemWrite
from pipeline.sleep.apply import restore
from pipeline.sleep.tending import Change, ChangeKind

Dependants = Mapping[tuple[str, int], str]
"""Which other run rests on which version of an entry."""

_OF_ITEMS = (ChangeKind.ITEM, ChangeKind.SHORTEN)


def change_of(row: Any) -> Change:
    """The change of a row of ``ledger_changes``."""
    return Change(
        run=RunId(row.run),
        scope=Scope(tenant=TenantId(row.tenant), collection=row.collection),
        kind=ChangeKind(row.kind),
        subject=row.subject,
        version_before=row.version_before,
        version_after=row.version_after,
        partner=row.partner,
        reason=row.reason,
        state=row.state,
        changed_at=row.changed_at,
    )


def enter_changes(connection: Connection, changes: Sequence[Change]) -> None:
    """Writes the changes, all of one run and collection, behind those that are there.

    What the run changes once more goes on from where it began, so that undo takes back both; an
    item that it tended and then let give way is told as the latter.
    """
    if not changes:
        return
    first, ids = changes[0], [change.subject for change in changes]
    known = _known(connection, first.scope, first.run, ids)
    last = connection.execute(_last(first.scope, first.run)).scalar() or 0
    fresh = [change for change in changes if change.subject not in known]
    insert_rows(
        connection,
        ledger_changes,
        [_values(change, ordinal) for ordinal, change in enumerate(fresh, start=last + 1)],
    )
    for change in changes:
        if change.subject in known:
            values: dict[str, Any] = {
                "version_after": change.version_after,
                "reason": change.reason,
            }
            if change.kind is ChangeKind.SHORTEN:
                values["kind"] = change.kind.value
            connection.execute(update(ledger_changes).where(_is(change)).values(values))


def may_change(
    connection: Connection, scope: Scope, run: RunId, versions: Mapping[str, int]
) -> set[str]:
    """Those of the subjects, given with their versions, whose change the run can still tell.

    What it changed before and somebody else has changed since is not among them: one row could
    not say both.
    """
    known = _known(connection, scope, run, list(versions))
    return {
        subject
        for subject, version in versions.items()
        if subject not in known
        or (known[subject].state == "applied" and known[subject].version_after == version)
    }


def _known(connection: Connection, scope: Scope, run: RunId, ids: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for some in chunks(sorted(ids)):
        query = select(ledger_changes).where(
            in_scope(ledger_changes, scope),
            ledger_changes.c.run == run,
            ledger_changes.c.subject.in_(some),
        )
        found.update({row.subject: row for row in connection.execute(query)})
    return found


def _last(scope: Scope, run: RunId) -> Select[Any]:
    query = select(func.max(ledger_changes.c.ordinal))
    return query.where(in_scope(ledger_changes, scope), ledger_changes.c.run == run)


def _is(change: Change) -> Any:
    return (
        in_scope(ledger_changes, change.scope)
        & (ledger_changes.c.run == change.run)
        & (ledger_changes.c.subject == change.subject)
    )


def _values(change: Change, ordinal: int) -> dict[str, Any]:
    return {
        "tenant": change.scope.tenant,
        "collection": change.scope.collection,
        "run": change.run,
        "subject": change.subject,
        "ordinal": ordinal,
        "kind": change.kind.value,
        "version_before": change.version_before,
        "version_after": change.version_after,
        "version_undone": None,
        "partner": change.partner,
        "reason": change.reason,
        "state": change.state,
        "changed_at": change.changed_at,
    }


def changes_query(tenant: TenantId, run: RunId, *, state: str | None = None) -> Select[Any]:
    """The run's changes, by collection in the order they were made."""
    table = ledger_changes.c
    query = select(ledger_changes).where(table.tenant == tenant, table.run == run)
    query = query.order_by(table.collection, table.ordinal)
    return query if state is None else query.where(table.state == state)


def changed_texts(
    connection: Connection, tenant: TenantId, run: RunId
) -> dict[tuple[str, int], str]:
    """By id and version what the run changed, before and after; what was erased is not among it."""
    made, found = ledger_changes.c, dict[tuple[str, int], str]()
    of_things = ((entry_versions, "entry", False), (scratchpad_versions, "item", True))
    for table, key, is_item in of_things:
        ours = and_(
            table.c.tenant == made.tenant,
            table.c.collection == made.collection,
            table.c[key] == made.subject,
            or_(table.c.version == made.version_before, table.c.version == made.version_after),
        )
        is_ours = made.kind.in_([one.value for one in _OF_ITEMS])
        query = select(made.subject, table.c.version, table.c.text).join(table, ours)
        query = query.where(made.tenant == tenant, made.run == run, is_ours.is_(is_item))
        found |= {(row.subject, row.version): row.text for row in connection.execute(query)}
    return found


def count_changes(
    connection: Connection, tenant: TenantId, run: RunId, *, collection: str | None
) -> dict[str, int]:
    """The run's changes by kind; of what was merged only what another took in."""
    table = ledger_changes.c
    query = select(table.kind, func.count(), func.count(table.partner))
    query = query.where(table.tenant == tenant, table.run == run).group_by(table.kind)
    if collection is not None:
        query = query.where(table.collection == collection)
    found = {kind: (rows, partners) for kind, rows, partners in connection.execute(query)}
    rows = {kind: found.get(kind.value, (0, 0))[0] for kind in ChangeKind}
    return {
        "archived": rows[ChangeKind.ARCHIVE],
        "merged": found.get(ChangeKind.MERGE.value, (0, 0))[1],
        "items": rows[ChangeKind.ITEM],
        "shortened": rows[ChangeKind.SHORTEN],
    }


# Undo and redo ----------------------------------------------------------------------------------


def undo_changes(
    connection: Connection, run: SleepRun, dependants: Dependants, *, now: datetime
) -> list[UndoItem]:
    """Takes back the run's changes, the last one first; before its decisions are."""
    rows = connection.execute(changes_query(run.tenant, run.id, state="applied")).all()
    return [_undo(connection, run, row, dependants, now) for row in reversed(rows)]


def redo_changes(connection: Connection, run: SleepRun, *, now: datetime) -> list[UndoItem]:
    """Makes the undone changes again, in their order; after its decisions were applied again."""
    rows = connection.execute(changes_query(run.tenant, run.id, state="undone")).all()
    return [_redo(connection, run, row, now) for row in rows]


def _undo(
    connection: Connection, run: SleepRun, row: Any, dependants: Dependants, now: datetime
) -> UndoItem:
    why = f"undo of run {run.id}"
    if row.kind in _OF_ITEMS:
        return _undo_item(connection, row, why, now)
    scope, subject = change_of(row).scope, EntryId(row.subject)
    current = entries_by_id(connection, scope, [subject]).get(subject)
    refused = _moved_on(current, row.version_after, "entry")
    refused = refused or dependants.get((row.subject, row.version_after))
    if current is None or refused:
        return _refused(row, refused)
    before = entry_at(connection, scope, subject, row.version_before)
    after = restore(current, before, now=now)
    return _restored(connection, row, current, after, before.version, why)


def _redo(connection: Connection, run: SleepRun, row: Any, now: datetime) -> UndoItem:
    why = f"redo of run {run.id}: {row.reason}"
    if row.kind in _OF_ITEMS:
        return _redo_item(connection, row, why, now)
    scope, subject = change_of(row).scope, EntryId(row.subject)
    current = entries_by_id(connection, scope, [subject]).get(subject)
    refused = _moved_on(current, row.version_undone, "entry")
    if current is None or refused:
        return _refused(row, refused)
    if row.partner is not None and not _is_merged(connection, scope, row):
        return _refused(row, f"entry {row.partner} did not take it in again")
    written = entry_at(connection, scope, subject, row.version_after)
    after = replace(restore(current, written, now=now), written_by=Writer.SLEEP)
    return _restored(connection, row, current, after, written.version, why, redone=True)


def _is_merged(connection: Connection, scope: Scope, row: Any) -> bool:
    """Whether the entry that stayed has taken in the others, which it does first."""
    known = _known(connection, scope, RunId(row.run), [row.partner])
    return row.partner in known and known[row.partner].state == "applied"


def _restored(
    connection: Connection,
    row: Any,
    current: Entry,
    after: Entry,
    version: int,
    why: str,
    *,
    redone: bool = False,
) -> UndoItem:
    """Writes ``after`` with the vectors of ``version``, and what became of the row."""
    scope = change_of(row).scope
    if not write_version(connection, scope, current, after, why=why, run=RunId(row.run)):
        return _refused(row, "changed meanwhile")
    copy_vectors(connection, scope, after, version=version)
    return _done(connection, row, after.version, redone=redone)


def _undo_item(connection: Connection, row: Any, why: str, now: datetime) -> UndoItem:
    scope, subject = change_of(row).scope, ItemId(row.subject)
    current = items_by_id(connection, scope, [subject]).get(subject)
    refused = _moved_on(current, row.version_after, "item")
    if current is None or refused:
        return _refused(row, refused)
    if row.version_before:
        before = _item_at(connection, scope, subject, row.version_before)
    else:
        before = replace(current, status=ItemStatus.REMOVED)
    after = _item_again(current, before, Writer.UNDO, now)
    return _item_restored(connection, row, current, after, why, redone=False)


def _redo_item(connection: Connection, row: Any, why: str, now: datetime) -> UndoItem:
    scope, subject = change_of(row).scope, ItemId(row.subject)
    current = items_by_id(connection, scope, [subject]).get(subject)
    refused = _moved_on(current, row.version_undone, "item")
    if current is None or refused:
        return _refused(row, refused)
    written = _item_at(connection, scope, subject, row.version_after)
    after = _item_again(current, written, Writer.SLEEP, now)
    return _item_restored(connection, row, current, after, why, redone=True)


def _item_at(connection: Connection, scope: Scope, item: ItemId, version: int) -> Item:
    """The item as it was written in that version."""
    known = {one.item.version: one.item for one in item_versions(connection, scope, item)}
    return known[version]


def _item_again(current: Item, said: Item, writer: Writer, now: datetime) -> Item:
    return replace(said, version=current.version + 1, written_by=writer, written_at=now)


def _item_restored(
    connection: Connection, row: Any, current: Item, after: Item, why: str, *, redone: bool
) -> UndoItem:
    write = ItemWrite(before=current, after=after, why=why)
    write_items(connection, change_of(row).scope, [write], run=RunId(row.run))
    return _done(connection, row, after.version, redone=redone)


def _moved_on(found: Entry | Item | None, version: int, what: str) -> str | None:
    """Why the thing is not as the run or its undo left it."""
    if found is None:
        return f"the {what} was erased"
    if found.version != version:
        return (
            f"changed since by {found.written_by.value}: expected version {version}, "
            f"got {found.version}"
        )
    return None


def _done(connection: Connection, row: Any, version: int, *, redone: bool) -> UndoItem:
    values: dict[str, Any] = (
        {"state": "applied", "version_after": version}
        if redone
        else {"state": "undone", "version_undone": version}
    )
    connection.execute(update(ledger_changes).where(_is(change_of(row))).values(values))
    return _item(row, refused=None)


def _refused(row: Any, reason: str | None) -> UndoItem:
    return _item(row, refused=reason)


def _item(row: Any, *, refused: str | None) -> UndoItem:
    return UndoItem(
        ledger=row.ordinal,
        entry=EntryId(row.subject),
        done=refused is None,
        refused=refused,
        kind=row.kind,
    )
