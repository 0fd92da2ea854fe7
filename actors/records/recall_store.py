"""Recalls: a row per recall and collection, what a tenant keeps of them, and for how long.

A question to several collections is kept as a digest only: its words would outlive one of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    delete,
    insert,
    select,
    tuple_,
    update,
)

from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.retention import MOST_DAYS, days_of
from actors.records.sql import chunks
from actors.records.tables import collections, erasures, recalls, tenants
from actors.records.tenants import find_tenant
from actors.records.tombstones import subject
from pipeline.errors import InputError, NotFound
from pipeline.ids import EntryId, RecallId
from pipeline.messages import TenantId
from pipeline.recalls import (
    KEPT_DAYS,
    KeptQuery,
    Recall,
    RecalledEntry,
    RecallKeeping,
    RecallKind,
    part_id,
    recall_of,
)

_SETTING = "recalls"
MOST_COLLECTIONS = 100
"""Collections that one recall can ask."""


@retrying
class SqlRecalls:
    """The recalls of a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # What is kept -------------------------------------------------------------------------------

    def keeping(self, tenant: TenantId) -> RecallKeeping:
        """What the tenant keeps of its recalls. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            return _keeping(find_tenant(connection, tenant).settings)

    def keep(self, tenant: TenantId, keeping: RecallKeeping) -> None:
        """Sets it; with digests only, the words of earlier questions go.

        Raises:
            InputError: not 1 to ``MOST_DAYS`` days. NotFound: there is no such tenant.
        """
        if not 1 <= keeping.days <= MOST_DAYS:
            raise InputError(f"expected 1 to {MOST_DAYS} days, got {keeping.days}", field="days")
        setting = {"query": keeping.query.value, "days": keeping.days}
        with writing(self._engine, tenant) as connection:
            settings = find_tenant(connection, tenant, lock=True).settings | {_SETTING: setting}
            connection.execute(
                update(tenants).where(tenants.c.name == tenant).values(settings=settings)
            )
            if keeping.query is KeptQuery.HASH:
                mine = (recalls.c.tenant == tenant, recalls.c.query != "")
                connection.execute(update(recalls).where(*mine).values(query=""))

    def forget_old(self, tenant: TenantId, *, now: datetime) -> int:
        """Deletes the rows of recalls kept long enough; how many. Raises NotFound.

        No longer than the tenant keeps raw messages.
        """
        with writing(self._engine, tenant) as connection:
            settings = find_tenant(connection, tenant).settings
            days = min(_keeping(settings).days, days_of(settings) or MOST_DAYS)
            old = recalls.c.created_at < now - timedelta(days=days)
            return connection.execute(
                delete(recalls).where(recalls.c.tenant == tenant, old)
            ).rowcount

    # Rows ---------------------------------------------------------------------------------------

    def write(self, tenant: TenantId, made: Sequence[Recall]) -> int:
        """Rows added. What was recalled before something of its collection was erased is left out,
        and so is what was recalled from a collection that is no more. Raises NotFound.
        """
        if not made:
            return 0
        with writing(self._engine, tenant) as connection:
            keeping = _keeping(find_tenant(connection, tenant).settings)
            there = _present(connection, tenant, made)
            erased = _erasures(connection, tenant, since=min(one.created_at for one in made))
            rows = [
                row for one in made for row in _rows(one, keeping) if row["collection"] in there
            ]
            kept = [row | {"tenant": tenant} for row in rows if not _is_erased(row, erased)]
            if kept:
                connection.execute(insert(recalls), kept)
            return len(kept)

    def recalls(
        self,
        tenant: TenantId,
        *,
        collection: str | None = None,
        limit: int = 100,
        before: RecallId | None = None,
    ) -> list[Recall]:
        """Recalls, newest first; ``before`` is the last one of the page above. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            mine: list[ColumnElement[bool]] = [recalls.c.tenant == tenant]
            if collection is not None:
                mine.append(recalls.c.collection == collection)
            if before is not None:
                mine.append(_earlier(_find(connection, tenant, before)))
            order = (recalls.c.created_at.desc(), recalls.c.id.desc())
            query = select(recalls).where(*mine).order_by(*order).limit(limit)
            return _whole(connection, tenant, connection.execute(query).all())

    def recall(self, tenant: TenantId, recall: RecallId) -> Recall:
        """One recall. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            [found] = _whole(connection, tenant, [_find(connection, tenant, recall)])
            return found

    def tenants(self) -> list[TenantId]:
        """The tenants that have recalls."""
        with reading(self._engine, EVERY_TENANT) as connection:
            found = connection.execute(select(recalls.c.tenant).distinct()).scalars()
            return sorted(TenantId(name) for name in found)


def _keeping(settings: Mapping[str, Any]) -> RecallKeeping:
    match settings.get(_SETTING):
        case {"query": str(query), "days": int(days)}:
            return RecallKeeping(query=KeptQuery(query), days=days)
        case _:
            return RecallKeeping(query=KeptQuery.HASH, days=KEPT_DAYS)


def _present(connection: Connection, tenant: TenantId, made: Sequence[Recall]) -> set[str]:
    """The collections that are there, and stay until the transaction ends."""
    names = sorted({name for one in made for name in one.collections})
    found: set[str] = set()
    for some in chunks(names):
        query = (
            select(collections.c.name)
            .where(collections.c.tenant == tenant, collections.c.name.in_(some))
            .order_by(collections.c.name)
            .with_for_update(read=True, key_share=True)
        )
        found.update(connection.execute(query).scalars())
    return found


def _erasures(connection: Connection, tenant: TenantId, *, since: datetime) -> dict[str, datetime]:
    """When something of a collection was last erased, by the digest of its name."""
    query = select(erasures.c.within, erasures.c.erased_at).where(
        erasures.c.tenant == tenant, erasures.c.erased_at >= since
    )
    found: dict[str, datetime] = {}
    for row in connection.execute(query):
        found[row.within] = max(row.erased_at, found.get(row.within, row.erased_at))
    return found


def _is_erased(row: Mapping[str, Any], erased: Mapping[str, datetime]) -> bool:
    last = erased.get(subject("collection", row["collection"]))
    return last is not None and last >= row["created_at"]


def _rows(recall: Recall, keeping: RecallKeeping) -> Iterator[dict[str, Any]]:
    is_told = keeping.query is KeptQuery.TEXT and len(recall.collections) == 1
    for place, collection in enumerate(recall.collections):
        entries = [
            {"entry": one.entry, "version": one.version, "score": one.score, "rank": rank}
            for rank, one in enumerate(recall.entries, start=1)
            if one.collection == collection
        ]
        yield {
            "collection": collection,
            "id": part_id(recall.id, place),
            "kind": recall.kind.value,
            "query": recall.query if is_told and recall.query else "",
            "returned": {
                "query_hash": recall.query_hash,
                "entries": entries,
                "tokens": recall.tokens,
                "seconds": recall.seconds,
                "parts": len(recall.collections),
            },
            "created_at": recall.created_at,
        }


def _find(connection: Connection, tenant: TenantId, recall: RecallId) -> Row[Any]:
    """A row of the recall, the first where it is there."""
    mine = (recalls.c.tenant == tenant, recalls.c.id.startswith(f"{recall}.", autoescape=True))
    alone = select(recalls).where(recalls.c.tenant == tenant, recalls.c.id == recall)
    row = connection.execute(alone).first()
    row = row or connection.execute(select(recalls).where(*mine).order_by(recalls.c.id)).first()
    if row is None:
        raise NotFound(f"no recall {recall!r}", field="recall")
    return row


def _earlier(row: Row[Any]) -> ColumnElement[bool]:
    return tuple_(recalls.c.created_at, recalls.c.id) < tuple_(row.created_at, recall_of(row.id))


def _whole(connection: Connection, tenant: TenantId, rows: Sequence[Row[Any]]) -> list[Recall]:
    """The recalls that rows belong to, each once, in the order of the rows."""
    counts: dict[RecallId, int] = {}
    for row in rows:
        counts[recall_of(row.id)] = max(counts.get(recall_of(row.id), 1), _part_count(row))
    found: dict[str, Row[Any]] = {}
    ids = [part_id(id_, place) for id_, count in counts.items() for place in range(count)]
    for some in chunks(ids):
        mine = (recalls.c.tenant == tenant, recalls.c.id.in_(some))
        found |= {row.id: row for row in connection.execute(select(recalls).where(*mine))}
    parts = {
        id_: [found[part] for place in range(count) if (part := part_id(id_, place)) in found]
        for id_, count in counts.items()
    }
    return [_recall(id_, there) for id_, there in parts.items() if there]


def _part_count(row: Row[Any]) -> int:
    match row.returned:
        case {"parts": int(count)} if 1 <= count <= MOST_COLLECTIONS:
            return count
        case _:
            return 1


def _recall(recall: RecallId, parts: Sequence[Row[Any]]) -> Recall:
    """The recall of its rows. An import may have brought rows that say anything."""
    first = parts[0]
    told = first.returned if isinstance(first.returned, dict) else {}
    ranked = sorted((each for row in parts for each in _entries(row)), key=lambda each: each[0])
    return Recall(
        id=recall,
        kind=_kind(first.kind),
        collections=tuple(row.collection for row in parts),
        query=first.query or None,
        query_hash=str(told.get("query_hash", "")),
        entries=tuple(entry for _, entry in ranked),
        tokens=int(_number(told.get("tokens"))),
        seconds=_number(told.get("seconds")),
        created_at=first.created_at,
    )


def _entries(row: Row[Any]) -> Iterator[tuple[int, RecalledEntry]]:
    told = row.returned.get("entries") if isinstance(row.returned, dict) else None
    for each in told if isinstance(told, list) else []:
        match each:
            case {"entry": str(entry), "version": int(version), "score": score, "rank": int(rank)}:
                yield (
                    rank,
                    RecalledEntry(
                        collection=row.collection,
                        entry=EntryId(entry),
                        version=version,
                        score=None if score is None else _number(score),
                    ),
                )


def _kind(value: str) -> RecallKind:
    return RecallKind(value) if value in set(RecallKind) else RecallKind.SEARCH


def _number(value: object) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else 0.0  # type: ignore[arg-type]  # checked above
