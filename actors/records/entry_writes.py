"""The one way that ingestion and users write entries: entry, version, vectors and outbox together.

The caller holds the lock on the collection's row, so numbers of writes and versions never race.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Text, bindparam, insert, literal, select, update

from actors.records.bulk import insert_rows
from actors.records.rows import entry_values
from actors.records.sql import among, chunks, in_place, is_in_place, place_of
from actors.records.tables import collections, entries, entry_vectors, entry_versions, index_ops
from pipeline.entries import Entry
from pipeline.messages import Scope

_OWN = {"tenant", "collection", "version", "id", "new_at"}
SHARED = [column.name for column in entries.c if column.name not in _OWN]
"""The columns that an entry and each of its versions share."""

_THESE = (in_place(entries), among(entries.c.id))

_KEEP = insert(entry_versions).from_select(
    ["tenant", "collection", "entry", "version", *SHARED, "why"],
    select(
        *(entries.c[name] for name in ("tenant", "collection", "id", "version", *SHARED)),
        bindparam("reason", type_=Text),
    ).where(*_THESE),
)

_MARK = insert(index_ops).from_select(
    ["tenant", "collection", "entry", "created_at"],
    select(*(entries.c[name] for name in ("tenant", "collection", "id", "written_at"))).where(
        *_THESE
    ),
)

_COUNT = (
    update(collections)
    .where(is_in_place())
    .values(writes=collections.c.writes + bindparam("count"))
    .returning(collections.c.writes)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryWrite:
    """An entry in its next version and why.

    ``vector`` ``(dim,)`` is of its text; None keeps the vectors of the version before.
    """

    entry: Entry
    why: str
    vector: NDArray[np.float32] | None = None


def write_entries(
    connection: Connection, scope: Scope, writes: Sequence[EntryWrite], *, model: str
) -> None:
    """Writes the new versions, counts them and marks them for the index and for sleep."""
    if not writes:
        return
    first = _count_writes(connection, scope, len(writes)) - len(writes) + 1
    place: dict[str, Any] = {"tenant": scope.tenant, "collection": scope.collection}
    added: list[dict[str, Any]] = []
    for new_at, write in enumerate(writes, start=first):
        values = entry_values(write.entry) | {"new_at": new_at}
        if write.entry.version == 1:
            added.append(place | values | {"id": write.entry.id, "version": 1})
        else:
            _replace(connection, scope, write.entry, values)
    insert_rows(connection, entries, added)
    _keep_versions(connection, scope, writes)
    _write_vectors(connection, place, writes, model)
    _mark_for_index(connection, scope, writes)


def _keep_versions(connection: Connection, scope: Scope, writes: Sequence[EntryWrite]) -> None:
    """Copies the rows as they are now into their history."""
    for why in dict.fromkeys(write.why for write in writes):
        mine = [write.entry.id for write in writes if write.why == why]
        for some in chunks(mine):
            connection.execute(_KEEP, place_of(scope) | {"some": some, "reason": why})


def _mark_for_index(connection: Connection, scope: Scope, writes: Sequence[EntryWrite]) -> None:
    for some in chunks([write.entry.id for write in writes]):
        connection.execute(_MARK, place_of(scope) | {"some": some})


def _count_writes(connection: Connection, scope: Scope, count: int) -> int:
    return int(connection.execute(_COUNT, place_of(scope) | {"count": count}).scalar_one())


def _replace(connection: Connection, scope: Scope, entry: Entry, values: Mapping[str, Any]) -> None:
    connection.execute(
        update(entries)
        .where(entries.c.tenant == scope.tenant, entries.c.id == entry.id)
        .values(version=entry.version, **values)
    )


def _write_vectors(
    connection: Connection, place: dict[str, Any], writes: Sequence[EntryWrite], model: str
) -> None:
    vectors = [
        place
        | {
            "entry": write.entry.id,
            "version": write.entry.version,
            "model": model,
            "vector": write.vector,
        }
        for write in writes
        if write.vector is not None
    ]
    insert_rows(connection, entry_vectors, vectors)
    for write in writes:
        if write.vector is None:
            _carry_vectors(connection, place, write.entry)


def _carry_vectors(connection: Connection, place: dict[str, Any], entry: Entry) -> None:
    old = entry_vectors.c
    earlier = select(
        old.tenant, old.collection, old.entry, literal(entry.version), old.model, old.vector
    ).where(old.tenant == place["tenant"], old.entry == entry.id, old.version == entry.version - 1)
    names = ["tenant", "collection", "entry", "version", "model", "vector"]
    connection.execute(insert(entry_vectors).from_select(names, earlier))
