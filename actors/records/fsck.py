"""Whether the record store agrees with itself, collection by collection.

Counters are derived and are repaired, and so is an entry whose newest version vouches for itself;
what else contradicts itself is reported, for nobody knows which side is right.
"""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, and_, func, select, update

from actors.records.engine import reading, writing
from actors.records.fsck_entries import unlike_versions
from actors.records.sql import find_collection, in_scope, is_collection
from actors.records.tables import (
    collections,
    entries,
    entry_vectors,
    entry_versions,
    leases,
    messages,
    segments,
)
from pipeline.messages import MessageState, Scope
from pipeline.state import Difference

_OPEN = (MessageState.ACCEPTED, MessageState.WINDOWED, MessageState.SEGMENTED)


class SqlFsck:
    """Checks over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def check(self, scope: Scope, *, repair: bool) -> list[Difference]:
        """What does not agree in the collection. Raises NotFound."""
        if repair:
            with writing(self._engine, scope.tenant) as connection:
                return list(_differences(connection, scope, repair=True))
        with reading(self._engine, scope.tenant) as connection:
            return list(_differences(connection, scope, repair=False))


def _differences(connection: Connection, scope: Scope, *, repair: bool) -> Iterator[Difference]:
    row = find_collection(connection, scope, lock=repair)
    yield from _counters(connection, scope, row, repair=repair)
    yield from _versions(connection, scope)
    yield from unlike_versions(connection, scope, repair=repair)
    yield from _vectors(connection, scope)
    yield from _sources(connection, scope)
    yield from _segments(connection, scope)
    lease = select(leases.c.epoch).where(in_scope(leases, scope))
    if connection.execute(lease).first() is None:
        yield _difference("no lease", scope, "collection", "no worker can ever take it")


def _difference(kind: str, scope: Scope, subject: str, detail: str) -> Difference:
    return Difference(kind=kind, scope=scope, subject=subject, detail=detail)


def _counters(
    connection: Connection, scope: Scope, row: Any, *, repair: bool
) -> Iterator[Difference]:
    told = counted(connection, scope, row)
    wrong = {name: count for name, count in told.items() if getattr(row, name) != count}
    if repair and wrong:
        connection.execute(update(collections).where(is_collection(scope)).values(**wrong))
    for name, count in wrong.items():
        yield Difference(
            kind="wrong counter",
            scope=scope,
            subject=f"collection {name}",
            detail=f"expected {count}, found {getattr(row, name)}",
            repaired=repair,
        )


def counted(connection: Connection, scope: Scope, row: Any) -> dict[str, int]:
    """The counters of the collection whose row is given, as its messages say."""
    query = select(messages.c.state, func.count().label("number")).where(in_scope(messages, scope))
    states = {
        found.state: int(found.number)
        for found in connection.execute(query.group_by(messages.c.state))
    }
    highest = select(func.max(messages.c.sequence)).where(in_scope(messages, scope))
    last = connection.execute(highest).scalar() or 0
    numbered = max(int(last), row.last_sequence)  # erasure leaves gaps, never reuse
    return {
        "accepted": states.get(MessageState.ACCEPTED.value, 0),
        "pending": sum(states.get(state.value, 0) for state in _OPEN),
        "last_sequence": numbered,
        "erased": numbered - sum(states.values()),
    }


def _versions(connection: Connection, scope: Scope) -> Iterator[Difference]:
    """Entries whose versions are not 1 to the present one, each once."""
    counted = (
        select(
            entry_versions.c.entry,
            func.count().label("number"),
            func.max(entry_versions.c.version).label("newest"),
        )
        .where(in_scope(entry_versions, scope))
        .group_by(entry_versions.c.entry)
        .subquery()
    )
    query = (
        select(entries.c.id, entries.c.version, counted.c.number, counted.c.newest)
        .outerjoin(counted, counted.c.entry == entries.c.id)
        .where(in_scope(entries, scope))
        .order_by(entries.c.id)
    )
    for row in connection.execute(query):
        if row.newest != row.version:
            detail = (
                f"expected version {row.version} among its versions, the newest is {row.newest}"
            )
            yield _difference("wrong version", scope, f"entry {row.id}", detail)
        elif row.number != row.version:
            detail = f"expected {row.version} versions, found {row.number}"
            yield _difference("version gap", scope, f"entry {row.id}", detail)


def _vectors(connection: Connection, scope: Scope) -> Iterator[Difference]:
    """Versions without a vector; vectors that are not as wide as others of their model."""
    same = and_(
        entry_vectors.c.tenant == entry_versions.c.tenant,
        entry_vectors.c.entry == entry_versions.c.entry,
        entry_vectors.c.version == entry_versions.c.version,
    )
    query = (
        select(entry_versions.c.entry, entry_versions.c.version)
        .outerjoin(entry_vectors, same)
        .where(in_scope(entry_versions, scope), entry_vectors.c.entry.is_(None))
        .order_by(entry_versions.c.entry, entry_versions.c.version)
    )
    for row in connection.execute(query):
        where = f"entry {row.entry} version {row.version}"
        yield _difference("no vector", scope, where, "it cannot be found by search")
    length = func.length(entry_vectors.c.vector)
    widths = (
        select(entry_vectors.c.model, func.min(length), func.max(length))
        .where(in_scope(entry_vectors, scope))
        .group_by(entry_vectors.c.model)
    )
    for model, least, most in connection.execute(widths):
        if least != most:
            detail = f"expected one width, found {least // 2} and {most // 2}"
            yield _difference("vector width", scope, f"model {model}", detail)


def _sources(connection: Connection, scope: Scope) -> Iterator[Difference]:
    """Entries with sources that do not exist."""
    known = set(
        connection.execute(select(messages.c.id).where(in_scope(messages, scope))).scalars()
    )
    query = select(entries.c.id, entries.c.sources).where(in_scope(entries, scope))
    for row in connection.execute(query.order_by(entries.c.id)):
        for source in row.sources:
            if source not in known:
                yield _difference("unknown source", scope, f"entry {row.id}", f"message {source}")


def _segments(connection: Connection, scope: Scope) -> Iterator[Difference]:
    """Messages in a segment that does not exist; segments without any message."""
    same = and_(segments.c.tenant == messages.c.tenant, segments.c.id == messages.c.segment)
    lost = (
        select(messages.c.id, messages.c.segment)
        .outerjoin(segments, same)
        .where(in_scope(messages, scope), messages.c.segment.is_not(None), segments.c.id.is_(None))
        .order_by(messages.c.sequence)
    )
    for row in connection.execute(lost):
        yield _difference("unknown segment", scope, f"message {row.id}", f"segment {row.segment}")
    held = select(messages.c.segment).where(
        in_scope(messages, scope), messages.c.segment.is_not(None)
    )
    empty = select(segments.c.id).where(in_scope(segments, scope), segments.c.id.not_in(held))
    for row in connection.execute(empty.order_by(segments.c.first_sequence)):
        yield _difference("empty segment", scope, f"segment {row.id}", "no message lies in it")
