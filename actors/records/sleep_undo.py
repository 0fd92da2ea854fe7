"""Taking a run back and applying it again, entry by entry and without a model."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, union, update

from actors.records.sleep_changes import redo_changes, undo_changes
from actors.records.sleep_rows import (
    copy_vectors,
    decision_of,
    entries_by_id,
    entry_at,
    write_version,
)
from actors.records.tables import (
    collections,
    entry_versions,
    ledger,
    ledger_changes,
    sleep_runs,
)
from pipeline.entries import CURRENT, Entry, Writer
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.runs import SleepRun, UndoItem
from pipeline.sleep.apply import restore, used_by


def undo_run(connection: Connection, run: SleepRun, *, now: datetime) -> list[UndoItem]:
    """Takes back the applied rows, the last one first."""
    _lock_collections(connection, run)
    rows, dependants = _rows(connection, run, "applied"), _dependants(connection, run)
    items = undo_changes(connection, run, dependants, now=now)
    for row in reversed(rows):
        dependant = dependants.get((row.target, row.version_after))
        item = _undo(connection, run, row, dependant, now)
        items += [item, *(_wake(connection, run, row, now) if item.done else ())]
    if any(item.done for item in items):
        _set_undone(connection, run, undone=True)
    return items


def redo_run(connection: Connection, run: SleepRun, *, now: datetime) -> list[UndoItem]:
    """Applies the undone rows again, in the order of the run."""
    _lock_collections(connection, run)
    items = []
    for row in _rows(connection, run, "undone"):
        item = _redo(connection, run, row, now)
        items += [item, *(_rest(connection, run, row, now) if item.done else ())]
    items += redo_changes(connection, run, now=now)
    if any(item.done for item in items):
        _set_undone(connection, run, undone=False)
    return items


def _lock_collections(connection: Connection, run: SleepRun) -> None:
    """Holds all that the run has written before anything of it changes, always in one order."""
    written = union(
        *(
            select(table.c.collection).where(table.c.tenant == run.tenant, table.c.run == run.id)
            for table in (ledger, ledger_changes)
        )
    )
    mine = (collections.c.tenant == run.tenant, collections.c.name.in_(written))
    query = select(collections.c.name).where(*mine).order_by(collections.c.name)
    connection.execute(query.with_for_update(of=collections)).all()


def _rows(connection: Connection, run: SleepRun, state: str) -> list[Any]:
    mine = (ledger.c.tenant == run.tenant, ledger.c.run == run.id, ledger.c.state == state)
    query = select(ledger).where(*mine)
    return list(connection.execute(query.order_by(ledger.c.id)))


def _set_undone(connection: Connection, run: SleepRun, *, undone: bool) -> None:
    mine = (sleep_runs.c.tenant == run.tenant, sleep_runs.c.id == run.id)
    connection.execute(update(sleep_runs).where(*mine).values(undone=undone))


def _scope_of(row: Any) -> Scope:
    return Scope(tenant=TenantId(row.tenant), collection=row.collection)


def _undo(
    connection: Connection, run: SleepRun, row: Any, dependant: str | None, now: datetime
) -> UndoItem:
    scope, target = _scope_of(row), EntryId(row.target)
    current = entries_by_id(connection, scope, [target]).get(target)
    refused = _moved_on(connection, run, current, row.version_after) or dependant
    if current is None or refused:
        return _refused(row, refused)
    before = entry_at(connection, scope, target, row.target_version)
    after = restore(current, before, now=now)
    why = f"undo of run {run.id}"
    if not write_version(connection, scope, current, after, why=why, run=run.id):
        return _refused(row, "changed meanwhile")
    copy_vectors(connection, scope, after, version=before.version)
    _set_state(connection, row, state="undone", version_undone=after.version)
    return UndoItem(ledger=row.id, entry=target, done=True)


def _redo(connection: Connection, run: SleepRun, row: Any, now: datetime) -> UndoItem:
    scope, target = _scope_of(row), EntryId(row.target)
    if row.decision is None:
        return _refused(row, "what it was made of was erased")
    seen = {EntryId(entry): version for entry, version, _similarity in row.candidates}
    used = used_by(decision_of(row.decision))
    present = entries_by_id(connection, scope, [target, *used])
    current = present.get(target)
    refused = _moved_on(connection, run, current, row.version_undone)
    for one in used:
        refused = refused or _unfit(connection, scope, one, present.get(one), seen[one])
    if current is None or refused:
        return _refused(row, refused)
    written = entry_at(connection, scope, target, row.version_after)
    after = replace(restore(current, written, now=now), written_by=Writer.SLEEP)
    why = f"redo of run {run.id}: {row.reason}"
    if not write_version(connection, scope, current, after, why=why, run=run.id):
        return _refused(row, "changed meanwhile")
    copy_vectors(connection, scope, after, version=written.version)
    _set_state(connection, row, state="applied", version_after=after.version)
    return UndoItem(ledger=row.id, entry=target, done=True)


def _set_state(connection: Connection, row: Any, **values: object) -> None:
    connection.execute(update(ledger).where(ledger.c.id == row.id).values(**values))


def _refused(row: Any, reason: str | None) -> UndoItem:
    return UndoItem(ledger=row.id, entry=EntryId(row.target), done=False, refused=reason)


def _moved_on(
    connection: Connection, run: SleepRun, entry: Entry | None, version: int
) -> str | None:
    """Why the entry is not as the run or its undo left it.

    What the same run wrote later, and was taken back before, leaves it as it was.
    """
    if entry is None:
        return "the entry was erased"
    if entry.version == version or _is_of(connection, run, entry, version):
        return None
    return (
        f"changed since by {entry.written_by.value}: expected version {version}, "
        f"got {entry.version}"
    )


def _is_of(connection: Connection, run: SleepRun, entry: Entry, version: int) -> bool:
    """Whether only the run wrote the entry after ``version``, and it says the same again."""
    written = entry_versions.c
    query = select(written.run).where(
        written.tenant == run.tenant, written.entry == entry.id, written.version > version
    )
    if any(one != run.id for one in connection.execute(query).scalars()):
        return False
    if entry.version < version:
        return False
    query = select(written.text, written.status).where(
        written.tenant == run.tenant, written.entry == entry.id, written.version == version
    )
    was = connection.execute(query).first()
    return was is not None and (was.text, was.status) == (entry.text, entry.status.value)


def _wake(connection: Connection, run: SleepRun, row: Any, now: datetime) -> list[UndoItem]:
    """Makes what the target had absorbed say again what it said before."""
    items, kept = [], []
    for name, before, after, *_ in row.absorbed or ():
        item, version = _turn(connection, run, row, name, was=after, to=before, now=now)
        items.append(item)
        kept.append([name, before, after, version])
    if kept:
        _set_state(connection, row, absorbed=kept)
    return items


def _rest(connection: Connection, run: SleepRun, row: Any, now: datetime) -> list[UndoItem]:
    """Lets rest again what the target absorbs, where undoing had woken it."""
    items, kept = [], []
    for name, before, after, *woken in row.absorbed or ():
        version = woken[0] if woken else None
        if version is None:
            kept.append([name, before, after])
            continue
        item, again = _turn(connection, run, row, name, was=version, to=after, now=now)
        items.append(item)
        kept.append([name, before, after if again is None else again])
    if kept:
        _set_state(connection, row, absorbed=kept)
    return items


def _turn(
    connection: Connection,
    run: SleepRun,
    row: Any,
    name: str,
    *,
    was: int,
    to: int,
    now: datetime,
) -> tuple[UndoItem, int | None]:
    """Makes an absorbed entry, if it is at version ``was``, say what version ``to`` said."""
    scope, entry = _scope_of(row), EntryId(name)
    current = entries_by_id(connection, scope, [entry]).get(entry)
    refused = _moved_on(connection, run, current, was)
    if current is None or refused:
        return UndoItem(ledger=row.id, entry=entry, done=False, refused=refused), None
    said = entry_at(connection, scope, entry, to)
    after = replace(restore(current, said, now=now), written_by=_writer(said))
    why = f"with entry {row.target} of run {run.id}"
    if not write_version(connection, scope, current, after, why=why, run=run.id):
        return _not_done(row, entry), None
    copy_vectors(connection, scope, after, version=said.version)
    return UndoItem(ledger=row.id, entry=entry, done=True), after.version


def _writer(said: Entry) -> Writer:
    return Writer.SLEEP if said.status not in CURRENT else Writer.UNDO


def _not_done(row: Any, entry: EntryId) -> UndoItem:
    return UndoItem(ledger=row.id, entry=entry, done=False, refused="changed meanwhile")


def _unfit(
    connection: Connection, scope: Scope, name: EntryId, candidate: Entry | None, version: int
) -> str | None:
    """Why a candidate no longer carries the decision.

    What undo and redo of the same run wrote over it counts by what it says: they number versions
    on, and a candidate can itself be a target of the run.
    """
    if candidate is None:
        return "a candidate was erased"
    if candidate.version != version:
        seen = entry_at(connection, scope, name, version)
        if (candidate.text, candidate.status) != (seen.text, seen.status):
            return f"candidate {candidate.id} changed since: expected version {version}"
    if candidate.status not in CURRENT:
        return f"candidate {candidate.id} is {candidate.status.value}"
    return None


def _dependants(connection: Connection, run: SleepRun) -> dict[tuple[str, int], str]:
    """Which other run rests on which entry version, in the collections of this run."""
    mine = (ledger.c.tenant == run.tenant, ledger.c.run == run.id)
    seen = select(ledger.c.collection).where(*mine)
    query = select(ledger).where(
        ledger.c.tenant == run.tenant,
        ledger.c.collection.in_(seen),
        ledger.c.run != run.id,
        ledger.c.state == "applied",
    )
    found = {}
    for row in connection.execute(query):
        # A decision whose words were erased may have rested on any of its candidates.
        used = None if row.decision is None else used_by(decision_of(row.decision))
        for entry, version, _similarity in row.candidates:
            if used is None or entry in used:
                found[(entry, version)] = f"run {row.run} decided on entry {row.target} with it"
    return found
