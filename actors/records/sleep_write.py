"""Decisions into the ledger and onto their entries, by compare-and-set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from sqlalchemy import Connection, case, exists, insert, select, update

from actors.records.bulk import upsert
from actors.records.erased import ERASED
from actors.records.sleep_rows import (
    copy_vectors,
    decision_to_json,
    entries_by_id,
    ledger_row_of,
    write_vector,
    write_version,
)
from actors.records.sql import find_collection, in_scope, is_collection
from actors.records.tables import collections, ledger, run_collections
from actors.records.tombstones import erased_since
from pipeline.entries import CURRENT, Decision, Delete, Entry, Ignore, Update
from pipeline.errors import InputError, StoreError
from pipeline.ids import EntryId, RunId
from pipeline.messages import Scope
from pipeline.runs import LedgerItem, LedgerRow, SleepRun
from pipeline.sleep.absorb import absorbed
from pipeline.sleep.apply import apply, used_by


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What became of one decision; ``after`` is the target's next version where there is one.

    ``absorbed`` are the candidates that went with it: entry, version before and after.
    """

    state: str
    note: str | None = None
    after: Entry | None = None
    absorbed: tuple[tuple[EntryId, int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recording:
    """One run's writing of one collection; ``present`` follows what it has written so far.

    ``erased`` are the targets of items that may be made of what was erased since the snapshot.
    """

    connection: Connection
    run: RunId
    scope: Scope
    model: str
    dry_run: bool
    now: datetime
    present: dict[EntryId, Entry]
    erased: frozenset[EntryId]

    def record(self, item: LedgerItem) -> LedgerRow:
        """The item's new ledger row, its change applied."""
        before = self.present.get(item.target)
        if item.target in self.erased:
            item, before = replace(item, decision=None, vector=None), None
            return self._enter(item, before, _Outcome(state="skipped", note=ERASED))
        outcome = self._decided(item)
        if self.dry_run:
            outcome = replace(outcome, state="dry")
        elif before is not None and outcome.after is not None:
            outcome = self._write(item, before, outcome.after)
        return self._enter(item, before, outcome)

    def _decided(self, item: LedgerItem) -> _Outcome:
        match item.decision:
            case None:
                return _Outcome(state="failed", note=item.failure or "no decision came")
            case Ignore():
                return _Outcome(state="ignored")
            case Update() | Delete() as decision:
                return self._changed(item, decision)
            case _:
                assert_never(item.decision)

    def _changed(self, item: LedgerItem, decision: Update | Delete) -> _Outcome:
        seen = {one.entry: one.version for one in item.candidates}
        used = used_by(decision)
        unknown = [one for one in used if one not in seen]
        if unknown:
            return _Outcome(state="failed", note=f"expected a candidate, got entry {unknown[0]}")
        stale = _stale(item, decision, seen, self.present)
        if stale is not None:
            return _Outcome(state="skipped", note=stale)
        candidates = {one: self.present[one] for one in used}
        after = apply(self.present[item.target], decision, candidates, now=self.now)
        return _Outcome(state="applied", after=after)

    def _write(self, item: LedgerItem, before: Entry, after: Entry) -> _Outcome:
        """Applies the change and shows it to the items that follow."""
        reason = item.decision.reason if item.decision else ""
        if not write_version(self.connection, self.scope, before, after, why=reason, run=self.run):
            return _Outcome(state="skipped", note=f"target {before.id} changed meanwhile")
        if not isinstance(item.decision, Update):
            copy_vectors(self.connection, self.scope, after, version=before.version)
        elif item.vector is None:
            raise InputError(f"expected a vector of the new text of {before.id}", field="vector")
        else:
            write_vector(self.connection, self.scope, after, item.vector, self.model)
        self.present[item.target] = after
        gone = tuple(self._absorb(one, after) for one in item.absorbed)
        return _Outcome(state="applied", after=after, absorbed=gone)

    def _absorb(self, candidate: EntryId, target: Entry) -> tuple[EntryId, int, int]:
        """Lets a candidate rest that the target now holds; it was locked as it was decided on."""
        before = self.present[candidate]
        after = absorbed(before, target, now=self.now)
        why = f"held by entry {target.id}"
        if not write_version(self.connection, self.scope, before, after, why=why, run=self.run):
            raise StoreError(f"entry {candidate} changed while it was locked")
        copy_vectors(self.connection, self.scope, after, version=before.version)
        self.present[candidate] = after
        return candidate, before.version, after.version

    def _enter(self, item: LedgerItem, before: Entry | None, outcome: _Outcome) -> LedgerRow:
        decision = item.decision
        values = {
            "run": self.run,
            "tenant": self.scope.tenant,
            "collection": self.scope.collection,
            "target": item.target,
            "target_version": item.target_version,
            "candidates": [[one.entry, one.version, one.similarity] for one in item.candidates],
            "action": _action(decision),
            "reason": "" if decision is None else decision.reason,
            "state": outcome.state,
            "note": outcome.note,
            "text_before": "" if before is None else before.text,
            "text_after": decision.text if isinstance(decision, Update) else None,
            "version_after": outcome.after.version
            if outcome.after and outcome.state == "applied"
            else None,
            "decision": None if decision is None else decision_to_json(decision),
            "absorbed": [list(one) for one in outcome.absorbed] or None,
            "decider": item.decider,
            "decided_at": self.now,
        }
        written = self.connection.execute(insert(ledger).values(**values).returning(ledger)).one()
        return ledger_row_of(written)


def record_items(
    connection: Connection,
    run: SleepRun,
    scope: Scope,
    items: Sequence[LedgerItem],
    *,
    through: int,
    model: str,
    dry_run: bool,
    now: datetime,
) -> list[LedgerRow]:
    """The rows of the items, or those that an earlier try of the run has recorded.

    That try may have seen less than this one: what is new to it stays due.
    """
    # Writers of one collection wait for each other, so that counters and versions agree.
    find_collection(connection, scope, lock=True)
    if _is_recorded(connection, run.id, scope):
        return _rows_of(connection, run.id, scope)
    recording = _Recording(
        connection=connection,
        run=run.id,
        scope=scope,
        model=model,
        dry_run=dry_run,
        now=now,
        present=entries_by_id(connection, scope, _mentioned(items)),
        erased=_erased(connection, scope, items, through),
    )
    rows = [recording.record(item) for item in items]
    _mark(recording, through=through, is_filtered=run.options.is_filtered)
    return rows


def _erased(
    connection: Connection, scope: Scope, items: Sequence[LedgerItem], through: int
) -> frozenset[EntryId]:
    """Targets whose decision saw an entry that was erased, or changed by it, since ``through``."""
    if not erased_since(connection, scope, through):
        return frozenset()
    seen = {item.target: {(item.target, item.target_version)} for item in items}
    for item in items:
        seen[item.target] |= {(one.entry, one.version) for one in item.candidates}
    ids = [entry for pairs in seen.values() for entry, _version in pairs]
    present = entries_by_id(connection, scope, ids)
    now = {(entry, each.version) for entry, each in present.items()}
    return frozenset(target for target, pairs in seen.items() if not pairs <= now)


def _is_recorded(connection: Connection, run: RunId, scope: Scope) -> bool:
    known = exists().where(in_scope(run_collections, scope), run_collections.c.run == run)
    return bool(connection.execute(select(known)).scalar_one())


def _rows_of(connection: Connection, run: RunId, scope: Scope) -> list[LedgerRow]:
    query = select(ledger).where(ledger.c.run == run, in_scope(ledger, scope))
    return [ledger_row_of(row) for row in connection.execute(query.order_by(ledger.c.id))]


def _mentioned(items: Sequence[LedgerItem]) -> list[EntryId]:
    used = [one for item in items if item.decision for one in used_by(item.decision)]
    return [*(item.target for item in items), *used]


def _action(decision: Decision | None) -> str:
    return "none" if decision is None else str(decision_to_json(decision)["action"])


def _stale(
    item: LedgerItem,
    decision: Decision,
    seen: Mapping[EntryId, int],
    present: Mapping[EntryId, Entry],
) -> str | None:
    """Why the decision no longer applies; None while all it rests on is as the run saw it."""
    rests_on = [("target", item.target, item.target_version)]
    rests_on += [("candidate", one, seen[one]) for one in used_by(decision)]
    for role, one, version in rests_on:
        entry = present.get(one)
        if entry is None:
            return f"{role} {one} is no longer there"
        if entry.version != version:
            return f"{role} {one} is at version {entry.version}, decided at version {version}"
        if entry.status not in CURRENT:
            return f"{role} {one} is {entry.status.value}"
    return None


def _mark(recording: _Recording, *, through: int, is_filtered: bool) -> None:
    """That this run has seen the collection; the mark of a real run never goes back.

    A run over some entries moves no mark: it has not compared the others.
    """
    connection, scope = recording.connection, recording.scope
    row = {
        "tenant": scope.tenant,
        "collection": scope.collection,
        "run": recording.run,
        "through": through,
        "status": "dry" if recording.dry_run else "filtered" if is_filtered else "completed",
        "seen_at": recording.now,
    }
    upsert(connection, run_collections, [row], changes=())
    if recording.dry_run or is_filtered:
        return
    mark = collections.c.consolidated_through
    connection.execute(
        update(collections)
        .where(is_collection(scope))
        .values(consolidated_through=case((mark < through, through), else_=mark))
    )
