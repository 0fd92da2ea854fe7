"""What both Qdrant adapters share: payload, conditions, checks, and the order of hits.

The two engines differ in how they break ties at a limit; ``answers`` asks again until no tie
crosses it, so that both give the same hits in the same order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from actors.index_filters import (
    LABELS_FIELD,
    Among,
    Between,
    Condition,
    Conditions,
    Is,
    where_conditions,
)
from pipeline.entries import Kind, Status
from pipeline.errors import ConfigError, InputError
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.ports import Vectors
from pipeline.state import IndexHit, IndexHits, IndexPoint, IndexQuery, StoredPoint

DENSE: Literal["dense"] = "dense"
LEXICAL: Literal["lexical"] = "lexical"
TENANT_FIELD = "tenant"
KEYWORD_FIELDS = ("collection", "status", "kind")
INTEGER_FIELDS = ("current", "shape")
MORE_KEYWORD_FIELDS = ("speaker", "conversation", "language", LABELS_FIELD)
TIME_FIELDS = ("said_at", "written_at", "valid_from", "valid_to", "held_from", "held_to")
"""More fields that are asked for, indexed where an engine may refuse to filter without."""
SHAPE = 2
"""Raised when what a point carries changes: points of an older shape are written anew."""
RETURNED_FIELDS = ["entry", "version"]
SCORE_DIGITS = 6
_SLACK = 8

_CURRENT = Is(field="current", value=1)
_OPEN_END = datetime.max.replace(tzinfo=UTC)

Payload = dict[str, str | int | list[str]]
Side = Literal["dense", "lexical"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One ranked list to get from an engine: a side of a query, cut at ``limit``."""

    query: IndexQuery
    side: Side
    limit: int


Fetch = Callable[[Sequence[Ask]], list[list[IndexHit]]]
"""Per ask its hits, best first, at most its limit, ties in any order."""


def payload(point: IndexPoint) -> Payload:
    """Keywords, 0/1 for truth (the embedded engine cannot match booleans), RFC 3339 times."""
    held = point.period
    times = {
        "said_at": point.said_at,
        "written_at": point.written_at,
        "valid_from": point.valid_from,
        "valid_to": point.valid_to,
        "held_from": held.start if held else None,
        "held_to": (held.end or _OPEN_END) if held else None,
    }
    return {
        "tenant": point.scope.tenant,
        "collection": point.scope.collection,
        "entry": point.entry,
        "version": point.version,
        "current": int(point.current),
        "status": point.status.value,
        "kind": point.kind.value,
        "speaker": point.speaker,
        "language": point.language,
        "conversation": list(point.conversations),
        LABELS_FIELD: list(point.labels),
        "shape": SHAPE,
        **{name: moment.isoformat() for name, moment in times.items() if moment is not None},
    }


def scope_conditions(scope: Scope) -> Conditions:
    """All points of one scope."""
    return Conditions(every=_walls(scope.tenant, (scope.collection,)))


def _walls(tenant: TenantId, collections: tuple[str, ...]) -> tuple[Condition, ...]:
    return (Is(field="tenant", value=tenant), Among(field="collection", values=collections))


def whose_conditions(whose: Scope | TenantId) -> Conditions:
    """All points of a collection, or of a tenant."""
    return scope_conditions(whose) if isinstance(whose, Scope) else _of_tenant(whose)


def _of_tenant(tenant: TenantId) -> Conditions:
    return Conditions(every=(Is(field="tenant", value=tenant),))


def old_conditions() -> Conditions:
    """Points that were written in an older shape."""
    return Conditions(none=(Is(field="shape", value=SHAPE),))


def corpus_conditions(query: IndexQuery) -> Conditions:
    """The newest versions of what is asked: the corpus that IDF is counted over."""
    return Conditions(every=(*_walls(query.tenant, query.collections), _CURRENT))


def query_conditions(query: IndexQuery) -> Conditions:
    """The walls of a query, which versions it means, then kinds and its filter."""
    asked = [*_walls(query.tenant, query.collections), *_versions(query)]
    if query.kinds:
        asked.append(Among(field="kind", values=_values(query.kinds)))
    if query.where is not None and (said := where_conditions(query.where)) is not None:
        asked.append(said)
    return Conditions(every=tuple(asked))


def _versions(query: IndexQuery) -> tuple[Condition, ...]:
    if query.as_of is None:
        return (_CURRENT, Among(field="status", values=_values(query.statuses)))
    return (Between(field="held_from", lte=query.as_of), Between(field="held_to", gt=query.as_of))


def hit(found: dict[str, object] | None, score: float) -> IndexHit:
    """A returned payload and its score as a hit, the score rounded."""
    fields = found or {}
    return IndexHit(
        entry=EntryId(str(fields["entry"])),
        version=int(str(fields["version"])),
        score=round(float(score), SCORE_DIGITS) + 0.0,  # -0.0 becomes 0.0
    )


def stored_point(id_: object, found: Mapping[str, object] | None, dense: object) -> StoredPoint:
    """A point read back whole; ``dense`` is its dense vector as the engine gives it."""
    fields = {name: str(value) for name, value in (found or {}).items()}
    return StoredPoint(
        id=str(id_),
        scope=Scope(
            tenant=TenantId(fields.get("tenant", "")), collection=fields.get("collection", "")
        ),
        entry=EntryId(fields.get("entry", "")),
        version=int(fields.get("version", "0")),
        current=fields.get("current") == "1",
        status=fields.get("status", ""),
        kind=fields.get("kind", ""),
        valid_to=fields.get("valid_to", ""),
        dense=np.asarray([] if dense is None else dense, dtype=np.float32),
    )


def answers(queries: Sequence[IndexQuery], fetch: Fetch) -> list[IndexHits]:
    """Per query both lists, best first, ties by entry id; all asked for in one batch."""
    asks = [
        Ask(query=query, side=side, limit=query.limit + _SLACK)
        for query in queries
        for side in _sides(query)
    ]
    lists = iter([_settled(ask, hits, fetch) for ask, hits in zip(asks, fetch(asks), strict=True)])
    sides = [_sides(query) for query in queries]
    return [
        IndexHits(
            dense=next(lists) if DENSE in asked else (),
            lexical=next(lists) if LEXICAL in asked else (),
        )
        for asked in sides
    ]


def _sides(query: IndexQuery) -> tuple[Side, ...]:
    if query.limit <= 0 or not query.statuses or not query.collections:
        return ()
    return (DENSE, LEXICAL) if query.lexical.indices else (DENSE,)


def _settled(ask: Ask, hits: list[IndexHit], fetch: Fetch) -> tuple[IndexHit, ...]:
    """The best hits; while the last one still ties with the one at the limit, asks for more."""
    limit = ask.query.limit
    while len(hits) >= ask.limit and hits[-1].score == hits[limit - 1].score:
        ask = replace(ask, limit=2 * ask.limit)
        hits = fetch([ask])[0]
    return tuple(sorted(hits, key=lambda one: (-one.score, one.entry, one.version))[:limit])


def check_width(width: int | None, *, dim: int, where: str) -> None:
    """Raises ConfigError, naming both numbers, when stored vectors and embedder differ."""
    if width is None:
        raise ConfigError(f"{where} holds something else than entries", field="dim")
    if width != dim:
        raise ConfigError(
            f"{where} holds vectors of {width} numbers, the embedder gives {dim}; "
            "re-embed into a new index or use the embedder it was made with",
            field="dim",
        )


def check_vectors(vectors: Sequence[Vectors], *, dim: int) -> None:
    """Raises InputError for a vector of another width or with numbers that are not finite."""
    for vector in vectors:
        if vector.shape != (dim,):
            raise InputError(f"a vector of shape {vector.shape} for an index of width {dim}")
    if vectors and not np.isfinite(np.stack(vectors)).all():
        raise InputError("a vector holds numbers that are not finite")


def _values(members: Sequence[Status] | Sequence[Kind]) -> tuple[str, ...]:
    return tuple(member.value for member in members)
