"""Runs, decisions and ledger rows as they lie in the tables; the one way sleep writes an entry."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, insert, literal, select, update

from actors.records.rows import entry_of, entry_values
from actors.records.sql import chunks, in_scope, is_collection
from actors.records.tables import (
    collections,
    entries,
    entry_vectors,
    entry_versions,
    index_ops,
    ledger,
    run_collections,
)
from pipeline.entries import Decision, Delete, Entry, Ignore, Update
from pipeline.errors import StoreError
from pipeline.ids import EntryId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import LedgerRow, RunOptions, SleepRun, Stop, Trigger, Weighed


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """The decision as the ledger and the reply cache keep it."""
    match decision:
        case Update(text=text, used=used, reason=reason):
            return {"action": "update", "text": text, "used": list(used), "reason": reason}
        case Delete(superseded_by=newer, reason=reason):
            return {"action": "delete", "superseded_by": newer, "reason": reason}
        case Ignore(reason=reason):
            return {"action": "ignore", "reason": reason}
        case _:
            assert_never(decision)


def decision_of(stored: Mapping[str, Any]) -> Decision:
    """The decision that ``decision_to_json`` wrote. Raises StoreError for anything else."""
    match stored:
        case {"action": "update", "text": str(text), "used": list(used), "reason": str(reason)}:
            return Update(text=text, used=tuple(EntryId(one) for one in used), reason=reason)
        case {"action": "delete", "superseded_by": str(newer), "reason": str(reason)}:
            return Delete(superseded_by=EntryId(newer), reason=reason)
        case {"action": "ignore", "reason": str(reason)}:
            return Ignore(reason=reason)
        case _:
            raise StoreError(f"expected a stored decision, got {sorted(stored)}")


def run_of(row: Any) -> SleepRun:
    """The run of a row of ``sleep_runs``."""
    return SleepRun(
        id=RunId(row.id),
        tenant=TenantId(row.tenant),
        window_start=row.window_start,
        dry_run=row.dry_run,
        status=row.status,
        started_at=row.started_at,
        finished_at=row.finished_at,
        totals=row.totals,
        error=row.error,
        undone=row.undone,
        trigger=Trigger(row.trigger),
        options=options_of(row.options),
        deadline=row.deadline,
        max_tokens=row.max_tokens,
        tokens=row.tokens,
        attempt=row.attempt,
        # It does not travel with an export.
        seen_at=getattr(row, "seen_at", None),
        stop=None if row.stop is None else Stop(row.stop),
    )


def run_values(run: SleepRun) -> dict[str, Any]:
    """The run as a row of ``sleep_runs``."""
    plain = {each.name: getattr(run, each.name) for each in fields(run)}
    return plain | {
        "totals": dict(run.totals),
        "options": asdict(run.options),
        "trigger": run.trigger.value,
        "stop": None if run.stop is None else run.stop.value,
    }


def options_of(stored: Mapping[str, Any]) -> RunOptions:
    """The options that ``run_values`` wrote. Raises StoreError for anything else."""
    match stored:
        case {
            "collection": str() | None,
            "full": bool(),
            "min_similarity": int() | float() | None,
            "absorb": bool() | None,
            "is_filtered": bool(),
            **more,
        } if not more:
            return RunOptions(**stored)
        case _:
            raise StoreError("expected the stored options of a sleep run")


def ledger_row_of(row: Any) -> LedgerRow:
    """The decision of a row of ``ledger``."""
    return LedgerRow(
        id=row.id,
        run=RunId(row.run),
        scope=Scope(tenant=TenantId(row.tenant), collection=row.collection),
        target=EntryId(row.target),
        target_version=row.target_version,
        candidates=tuple(
            Weighed(entry=EntryId(entry), version=version, similarity=similarity)
            for entry, version, similarity in row.candidates
        ),
        action=row.action,
        reason=row.reason,
        state=row.state,
        note=row.note,
        text_before=row.text_before,
        text_after=row.text_after,
        version_after=row.version_after,
        decided_at=row.decided_at,
        decider=row.decider,
        absorbed=tuple(EntryId(one[0]) for one in row.absorbed or ()),
    )


def entries_by_id(
    connection: Connection, scope: Scope, ids: Sequence[EntryId]
) -> dict[EntryId, Entry]:
    """Those of the ids that lie in the scope, locked until the transaction ends."""
    found = {}
    for some in chunks(sorted(set(ids))):
        query = select(entries).where(in_scope(entries, scope), entries.c.id.in_(some))
        query = query.order_by(entries.c.id).with_for_update()
        found.update({EntryId(row.id): entry_of(row) for row in connection.execute(query)})
    return found


def entry_at(connection: Connection, scope: Scope, entry: EntryId, version: int) -> Entry:
    """The entry as it was written in that version. Raises StoreError where it is not kept."""
    query = select(entry_versions, entry_versions.c.entry.label("id")).where(
        in_scope(entry_versions, scope),
        entry_versions.c.entry == entry,
        entry_versions.c.version == version,
    )
    row = connection.execute(query).first()
    if row is None:
        raise StoreError(f"version {version} of entry {entry} is not kept")
    return entry_of(row)


def write_version(
    connection: Connection,
    scope: Scope,
    before: Entry,
    after: Entry,
    *,
    why: str,
    run: RunId | None,
) -> bool:
    """Makes ``after`` the entry's version; False, and nothing written, if ``before`` is not it.

    Its vectors are the caller's to write. Marks the entry for the index, never as new.
    """
    values = entry_values(after)
    changed = connection.execute(
        update(entries)
        .where(
            entries.c.tenant == scope.tenant,
            entries.c.id == before.id,
            entries.c.version == before.version,
        )
        .values(version=after.version, **values)
    )
    if changed.rowcount != 1:
        return False
    place = {"tenant": scope.tenant, "collection": scope.collection, "entry": after.id}
    connection.execute(
        insert(entry_versions).values(**place, version=after.version, **values, why=why, run=run)
    )
    connection.execute(insert(index_ops).values(**place, created_at=after.written_at))
    connection.execute(
        update(collections).where(is_collection(scope)).values(writes=collections.c.writes + 1)
    )
    return True


def write_vector(
    connection: Connection, scope: Scope, entry: Entry, vector: NDArray[np.float32], model: str
) -> None:
    """The vector of the entry's present version."""
    connection.execute(
        insert(entry_vectors).values(
            tenant=scope.tenant,
            collection=scope.collection,
            entry=entry.id,
            version=entry.version,
            model=model,
            vector=vector,
        )
    )


def copy_vectors(connection: Connection, scope: Scope, entry: Entry, *, version: int) -> None:
    """Gives the entry's present version the vectors of an earlier one, of every model."""
    old = entry_vectors.c
    source = select(
        old.tenant, old.collection, old.entry, literal(entry.version), old.model, old.vector
    ).where(old.tenant == scope.tenant, old.entry == entry.id, old.version == version)
    names = ["tenant", "collection", "entry", "version", "model", "vector"]
    connection.execute(insert(entry_vectors).from_select(names, source))


def count_decisions(connection: Connection, tenant: TenantId, run: RunId) -> dict[str, int]:
    """The run's ledger by what became of each target; what is previewed counts as decided."""
    mine = (ledger.c.tenant == tenant, ledger.c.run == run)
    columns = (ledger.c.action, ledger.c.state, ledger.c.absorbed)
    counts: Counter[str] = Counter()
    for row in connection.execute(select(*columns).where(*mine)):
        counts["targets"] += 1
        counts[_outcome(row.action, row.state)] += 1
        counts["absorbed"] += len(row.absorbed or ())
    seen = select(func.count()).where(
        run_collections.c.tenant == tenant, run_collections.c.run == run
    )
    counts["collections"] = connection.execute(seen).scalar_one()
    names = ("targets", "update", "delete", "ignore", "skipped", "failed", "absorbed")
    return {name: counts[name] for name in (*names, "collections")}


def _outcome(action: str, state: str) -> str:
    if state in ("skipped", "failed"):
        return state
    return "failed" if action == "none" else action
