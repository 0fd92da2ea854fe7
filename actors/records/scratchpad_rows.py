"""Scratchpad items as they lie in the tables, and the one way to write them.

The caller holds the collection's row, so that versions never race.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from actors.records.bulk import insert_rows, upsert
from actors.records.sql import among, chunks, in_place, in_scope, place_of
from actors.records.tables import scratchpad_items, scratchpad_versions
from pipeline.entries import Entry, Writer
from pipeline.errors import NotFound
from pipeline.ids import EntryId, ItemId, MessageId, RunId, item_id
from pipeline.messages import Scope
from pipeline.scratchpad import Arrivals, Item, ItemStatus, ItemVersion, ItemWrite
from pipeline.sleep.scratchpad import followed, new_item

_THESE = select(scratchpad_items).where(in_place(scratchpad_items), among(scratchpad_items.c.id))
_KEYS = {column.name for column in scratchpad_items.primary_key}
_CHANGING = [column.name for column in scratchpad_items.c if column.name not in _KEYS]


def item_of(row: Any) -> Item:
    """The item of a row; one of ``scratchpad_versions`` needs its ``item`` labelled ``id``."""
    newer = row.superseded_by
    return Item(
        id=ItemId(row.id),
        version=row.version,
        slot=row.slot,
        text=row.text,
        status=ItemStatus(row.status),
        said_at=row.said_at,
        sources=tuple(MessageId(source) for source in row.sources),
        entries=tuple(EntryId(entry) for entry in row.entries),
        conflicts=tuple(ItemId(other) for other in row.conflicts),
        superseded_by=None if newer is None else ItemId(newer),
        written_by=Writer(row.written_by),
        written_at=row.written_at,
    )


def item_version_of(row: Any) -> ItemVersion:
    """The version of a row of ``scratchpad_versions`` whose ``item`` is labelled ``id``."""
    run = None if row.run is None else RunId(row.run)
    return ItemVersion(item=item_of(row), why=row.why, run=run)


def _values(item: Item) -> dict[str, Any]:
    return {
        "version": item.version,
        "slot": item.slot,
        "text": item.text,
        "status": item.status.value,
        "said_at": item.said_at,
        "sources": list(item.sources),
        "entries": list(item.entries),
        "conflicts": list(item.conflicts),
        "superseded_by": item.superseded_by,
        "written_by": item.written_by.value,
        "written_at": item.written_at,
    }


def items_by_id(connection: Connection, scope: Scope, ids: Iterable[str]) -> dict[ItemId, Item]:
    """Those of the ids that are items of the collection."""
    found: dict[ItemId, Item] = {}
    for some in chunks(sorted(set(ids))):
        rows = connection.execute(_THESE, place_of(scope) | {"some": some})
        found.update({ItemId(row.id): item_of(row) for row in rows})
    return found


def find_item(connection: Connection, scope: Scope, item: ItemId) -> Item:
    """The item in its present version. Raises NotFound."""
    found = items_by_id(connection, scope, [item]).get(item)
    if found is None:
        raise NotFound(f"no scratchpad item {item!r}", field="item")
    return found


def item_versions(connection: Connection, scope: Scope, item: ItemId) -> list[ItemVersion]:
    """Every version of the item, oldest first."""
    versions = scratchpad_versions.c
    query = select(scratchpad_versions, versions.item.label("id")).where(
        in_scope(scratchpad_versions, scope), versions.item == item
    )
    rows = connection.execute(query.order_by(versions.version))
    return [item_version_of(row) for row in rows]


def write_items(
    connection: Connection, scope: Scope, writes: Sequence[ItemWrite], *, run: RunId | None = None
) -> None:
    """Makes each ``after`` its item's present version and keeps it in the history."""
    place = {"tenant": scope.tenant, "collection": scope.collection}
    rows = [place | {"id": write.after.id} | _values(write.after) for write in writes]
    fresh = [row for row, write in zip(rows, writes, strict=True) if write.before is None]
    changed = [row for row, write in zip(rows, writes, strict=True) if write.before is not None]
    insert_rows(connection, scratchpad_items, fresh)
    upsert(connection, scratchpad_items, changed, changes=_CHANGING)
    kept = [
        place | {"item": write.after.id} | _values(write.after) | {"why": write.why, "run": run}
        for write in writes
    ]
    insert_rows(connection, scratchpad_versions, kept)


def arrive(
    connection: Connection,
    scope: Scope,
    entries: Sequence[Entry],
    arrivals: Arrivals,
    *,
    now: datetime,
) -> None:
    """Brings the items of entries that ingestion has just written in line with them.

    A new entry of a kind that has a slot becomes an item there.
    """
    first = [one for one in entries if one.version == 1 and one.kind in arrivals]
    again = [one for one in entries if one.version > 1]
    known = items_by_id(connection, scope, [item_id(entry.id) for entry in again])
    writes = [
        ItemWrite(
            before=None,
            after=new_item(entry, arrivals[entry.kind], writer=Writer.INGEST, now=now),
            why="extracted",
        )
        for entry in first
    ]
    writes += _followed(known, again, arrivals, writer=Writer.INGEST, why="said again", now=now)
    write_items(connection, scope, writes)


def follow(connection: Connection, scope: Scope, entry: Entry, *, now: datetime) -> None:
    """Brings the item of an entry that a user has just corrected in line with it."""
    known = items_by_id(connection, scope, [item_id(entry.id)])
    why = "its entry was corrected"
    # Written as sleep writes it: what a user said is the entry, of which the item is a copy.
    writes = _followed(known, [entry], {}, writer=Writer.SLEEP, why=why, now=now)
    write_items(connection, scope, writes)


def _followed(
    known: dict[ItemId, Item],
    entries: Iterable[Entry],
    arrivals: Arrivals,
    *,
    writer: Writer,
    why: str,
    now: datetime,
) -> list[ItemWrite]:
    writes = []
    for entry in entries:
        item = known.get(item_id(entry.id))
        after = item if item is None else followed(item, entry, arrivals)
        if item is not None and after is not None and after != item:
            following = replace(after, version=item.version + 1, written_by=writer, written_at=now)
            writes.append(ItemWrite(before=item, after=following, why=why))
    return writes
