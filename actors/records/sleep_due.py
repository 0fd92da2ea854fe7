"""What is due for sleep: new entries, and decisions that the ledger left open."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, exists, func, or_, select

from actors.records.sql import chunks
from actors.records.tables import collections, entries, ledger, sleep_runs
from pipeline.entries import CURRENT, OrderKey
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.state import DueCollection

IS_CURRENT = entries.c.status.in_([status.value for status in CURRENT])
"""The statuses that sleep looks at."""


class Pair(NamedTuple):
    """A target and a candidate that the ledger left failed or skipped."""

    collection: str
    target: EntryId
    candidate: EntryId


def due_collections(
    connection: Connection, tenant: TenantId, *, collection: str | None
) -> list[DueCollection]:
    """Collections with new entries or open decisions, by name."""
    pending = {pair.collection for pair in open_pairs(connection, tenant, collection=collection)}
    return [
        DueCollection(scope=Scope(tenant=tenant, collection=row.name), entries=row.entries)
        for row in connection.execute(_sizes(tenant, collection))
        if row.is_new or row.name in pending
    ]


def _sizes(tenant: TenantId, collection: str | None) -> Select[Any]:
    here = and_(
        entries.c.tenant == collections.c.tenant,
        entries.c.collection == collections.c.name,
        IS_CURRENT,
    )
    is_new = exists().where(here, entries.c.new_at > collections.c.consolidated_through)
    size = select(func.count()).select_from(entries).where(here).scalar_subquery()
    query = select(collections.c.name, size.label("entries"), is_new.label("is_new"))
    query = query.where(collections.c.tenant == tenant).order_by(collections.c.name)
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
    later = ledger.alias()
    has_later = exists().where(
        later.c.tenant == ledger.c.tenant,
        later.c.collection == ledger.c.collection,
        later.c.target == ledger.c.target,
        later.c.id > ledger.c.id,
        later.c.state != "dry",
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
