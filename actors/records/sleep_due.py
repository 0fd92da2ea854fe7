"""What is due for sleep: new entries, and decisions that the ledger left open."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, exists, func, or_, select

from actors.records.sql import chunks, in_scope
from actors.records.tables import collections, entries, ledger, run_collections, sleep_runs
from pipeline.entries import CURRENT, OrderKey
from pipeline.ids import EntryId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import DueCollection

IS_CURRENT = entries.c.status.in_([status.value for status in CURRENT])
"""The statuses that sleep looks at."""


class Pair(NamedTuple):
    """A target and a candidate that the ledger left failed or skipped."""

    collection: str
    target: EntryId
    candidate: EntryId


def due_collections(
    connection: Connection,
    tenant: TenantId,
    *,
    collection: str | None,
    is_full: bool = False,
    but_of: RunId | None = None,
) -> list[DueCollection]:
    """Collections with new entries or open decisions, by name; all with entries if asked.

    What the run ``but_of`` has recorded is left out: it records a collection once, so that what
    came in since would get no row of its own.
    """
    pending = {pair.collection for pair in open_pairs(connection, tenant, collection=collection)}
    return [
        DueCollection(scope=Scope(tenant=tenant, collection=row.name), entries=row.entries)
        for row in connection.execute(_sizes(tenant, collection, but_of))
        if row.is_new or row.name in pending or (is_full and row.entries)
    ]


def _sizes(tenant: TenantId, collection: str | None, but_of: RunId | None) -> Select[Any]:
    here = and_(
        entries.c.tenant == collections.c.tenant,
        entries.c.collection == collections.c.name,
        IS_CURRENT,
    )
    is_new = exists().where(here, entries.c.new_at > collections.c.consolidated_through)
    size = select(func.count()).select_from(entries).where(here).scalar_subquery()
    query = select(collections.c.name, size.label("entries"), is_new.label("is_new"))
    query = query.where(collections.c.tenant == tenant).order_by(collections.c.name)
    if but_of is not None:
        query = query.where(
            ~exists().where(
                run_collections.c.tenant == collections.c.tenant,
                run_collections.c.collection == collections.c.name,
                run_collections.c.run == but_of,
            )
        )
    return query if collection is None else query.where(collections.c.name == collection)


def open_pairs(connection: Connection, tenant: TenantId, *, collection: str | None) -> list[Pair]:
    """Pairs left failed or skipped of which both still hold, the target still the older one.

    A target's later row replaces its earlier ones. What a run skipped is not due once the run
    was undone, since the next run would then go on with what the user took back.
    """
    pairs = list(_left_open(connection.execute(_open_rows(tenant, collection))))
    ids = {one for pair in pairs for one in (pair.target, pair.candidate)}
    order = _order_of(connection, tenant, sorted(ids))
    return [
        pair
        for pair in pairs
        if pair.target in order
        and pair.candidate in order
        and order[pair.target] < order[pair.candidate]
    ]


def _left_open(rows: Iterable[Any]) -> Iterator[Pair]:
    for row in rows:
        for candidate, _version, _similarity in row.candidates:
            yield Pair(row.collection, EntryId(row.target), EntryId(candidate))


def _open_rows(tenant: TenantId, collection: str | None) -> Select[Any]:
    later, saw = ledger.alias(), run_collections.alias()
    # Neither a preview nor a run over some entries has seen all that was left open.
    whole = and_(
        saw.c.tenant == later.c.tenant,
        saw.c.collection == later.c.collection,
        saw.c.run == later.c.run,
        saw.c.status == "completed",
    )
    has_later = exists().where(
        later.c.tenant == ledger.c.tenant,
        later.c.collection == ledger.c.collection,
        later.c.target == ledger.c.target,
        later.c.id > ledger.c.id,
        exists().where(whole),
    )
    of_run = and_(sleep_runs.c.tenant == ledger.c.tenant, sleep_runs.c.id == ledger.c.run)
    query = (
        select(ledger.c.collection, ledger.c.target, ledger.c.candidates)
        .join(sleep_runs, of_run)
        .where(
            ledger.c.tenant == tenant,
            or_(
                ledger.c.state == "failed",
                and_(ledger.c.state == "skipped", sleep_runs.c.undone.is_(False)),
            ),
            ~has_later,
        )
    )
    return query if collection is None else query.where(ledger.c.collection == collection)


def _order_of(
    connection: Connection, tenant: TenantId, ids: Sequence[EntryId]
) -> dict[EntryId, tuple[OrderKey, str]]:
    """Where those of the entries that are current stand in their collection."""
    found = {}
    place = entries.c
    for some in chunks(ids):
        query = select(
            place.id, place.order_said_at, place.order_sequence, place.order_ordinal
        ).where(place.tenant == tenant, place.id.in_(some), IS_CURRENT)
        for row in connection.execute(query):
            key = OrderKey(
                said_at=row.order_said_at, sequence=row.order_sequence, ordinal=row.order_ordinal
            )
            found[EntryId(row.id)] = (key, str(row.id))
    return found


def settled_pairs(
    connection: Connection, scope: Scope, versions: Mapping[EntryId, int], *, since: int
) -> frozenset[tuple[EntryId, EntryId]]:
    """Pairs that a run over some entries decided after the collection's mark ``since``.

    Such a run moves no mark, so its pairs still look new; only those count of which both sides are
    in ``versions`` as that run, or its undoing, left them.
    """
    saw = run_collections
    of_run = and_(
        saw.c.tenant == ledger.c.tenant,
        saw.c.collection == ledger.c.collection,
        saw.c.run == ledger.c.run,
    )
    query = (
        select(ledger)
        .join(saw, of_run)
        .where(in_scope(ledger, scope), saw.c.status == "filtered", saw.c.through > since)
        .where(ledger.c.state.in_(("applied", "ignored", "undone")))
    )
    return frozenset(
        (EntryId(row.target), EntryId(candidate))
        for row in connection.execute(query)
        if versions.get(row.target) == _left_at(row)
        for candidate, version, _similarity in row.candidates
        if versions.get(candidate) == version
    )


def _left_at(row: Any) -> int:
    """The version of the target that a decision left."""
    if row.state == "undone":
        return int(row.version_undone)
    return int(row.version_after if row.state == "applied" else row.target_version)
