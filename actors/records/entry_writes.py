"""The one way that ingestion and users write entries: entry, version, vectors and outbox together.

The caller holds the lock on the collection's row, so numbers of writes and versions never race.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, insert, literal, select, update

from actors.records.rows import entry_values
from actors.records.sql import is_collection
from actors.records.tables import collections, entries, entry_vectors, entry_versions, index_ops
from pipeline.entries import Entry
from pipeline.messages import Scope


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
    numbered = list(enumerate(writes, start=first))
    place: dict[str, Any] = {"tenant": scope.tenant, "collection": scope.collection}
    shared = [place | entry_values(write.entry) for write in writes]
    added = [
        values | {"id": write.entry.id, "version": 1, "new_at": new_at}
        for (new_at, write), values in zip(numbered, shared, strict=True)
        if write.entry.version == 1
    ]
    if added:
        connection.execute(insert(entries), added)
    for (new_at, write), values in zip(numbered, shared, strict=True):
        if write.entry.version > 1:
            _replace(connection, scope, write.entry, values | {"new_at": new_at})
    versions = [
        values | {"entry": write.entry.id, "version": write.entry.version, "why": write.why}
        for write, values in zip(writes, shared, strict=True)
    ]
    connection.execute(insert(entry_versions), versions)
    _write_vectors(connection, place, writes, model)
    ops = [
        place | {"entry": write.entry.id, "created_at": write.entry.written_at} for write in writes
    ]
    connection.execute(insert(index_ops), ops)


def _count_writes(connection: Connection, scope: Scope, count: int) -> int:
    statement = (
        update(collections)
        .where(is_collection(scope))
        .values(writes=collections.c.writes + count)
        .returning(collections.c.writes)
    )
    return int(connection.execute(statement).scalar_one())


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
    if vectors:
        connection.execute(insert(entry_vectors), vectors)
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
