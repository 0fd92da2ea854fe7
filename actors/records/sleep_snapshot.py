"""One collection as a sleep run sees it."""

from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, and_, select

from actors.records.rows import entry_of
from actors.records.sleep_due import IS_CURRENT, open_pairs, settled_pairs
from actors.records.sql import find_collection, in_scope
from actors.records.tables import entries, entry_vectors
from pipeline.errors import ConfigError
from pipeline.messages import Scope
from pipeline.runs import EntryFilter, Snapshot


def read_snapshot(
    connection: Connection, scope: Scope, *, model: str, only: EntryFilter
) -> Snapshot:
    """The collection's current entries in their order with vectors; one reading is one instant.

    An entry that took in a newer one shares its order key; their ids then decide.
    """
    place = find_collection(connection, scope)
    rows = list(connection.execute(_entries(scope, model).where(*_named(only))))
    missing = sum(row.vector is None for row in rows)
    if missing:
        raise ConfigError(
            f"{missing} entries of collection {scope.collection} have no vector of {model}",
            field="model",
        )
    pairs = open_pairs(connection, scope.tenant, collection=scope.collection)
    vectors = [row.vector for row in rows]
    present = tuple(entry_of(row) for row in rows)
    return Snapshot(
        scope=scope,
        entries=present,
        vectors=np.stack(vectors) if vectors else np.zeros((0, 0), dtype=np.float32),
        is_new=np.array([row.new_at > place.consolidated_through for row in rows], dtype=np.bool_),
        retry=frozenset((pair.target, pair.candidate) for pair in pairs),
        through=place.writes,
        settled=settled_pairs(
            connection,
            scope,
            {entry.id: entry.version for entry in present},
            since=place.consolidated_through,
        ),
    )


def _named(only: EntryFilter) -> list[ColumnElement[bool]]:
    """What a row must be where the filter names it."""
    asked = (
        (entries.c.kind, [kind.value for kind in only.kinds]),
        (entries.c.speaker, only.speakers),
        (entries.c.topic, only.topics),
    )
    return [column.in_(values) for column, values in asked if values]


def _entries(scope: Scope, model: str) -> Select[Any]:
    at_version = and_(
        entry_vectors.c.tenant == entries.c.tenant,
        entry_vectors.c.entry == entries.c.id,
        entry_vectors.c.version == entries.c.version,
        entry_vectors.c.model == model,
    )
    return (
        select(entries, entry_vectors.c.vector)
        .outerjoin(entry_vectors, at_version)
        .where(in_scope(entries, scope), IS_CURRENT)
        .order_by(
            entries.c.order_said_at, entries.c.order_sequence, entries.c.order_ordinal, entries.c.id
        )
    )
