"""What both Qdrant adapters share: payload, conditions, checks, and the order of hits.

The two engines differ in how they break ties at a limit; ``answers`` asks again until no tie
crosses it, so that both give the same hits in the same order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

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
INTEGER_FIELDS = ("current",)
RETURNED_FIELDS = ["entry", "version"]
SCORE_DIGITS = 6
_SLACK = 8

Payload = dict[str, str | int]
Side = Literal["dense", "lexical"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a point must equal, and what it must be one of."""

    equal: tuple[tuple[str, str | int], ...]
    among: tuple[tuple[str, tuple[str, ...]], ...] = ()


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
    until = {} if point.valid_to is None else {"valid_to": point.valid_to.isoformat()}
    return {
        "tenant": point.scope.tenant,
        "collection": point.scope.collection,
        "entry": point.entry,
        "version": point.version,
        "current": int(point.current),
        "status": point.status.value,
        "kind": point.kind.value,
        "speaker": point.speaker,
        "said_at": point.said_at.isoformat(),
        "valid_from": point.valid_from.isoformat(),
        **until,
    }


def scope_conditions(scope: Scope) -> Conditions:
    """All points of one scope."""
    return Conditions(equal=(("tenant", scope.tenant), ("collection", scope.collection)))


def whose_conditions(whose: Scope | TenantId) -> Conditions:
    """All points of a collection, or of a tenant."""
    return scope_conditions(whose) if isinstance(whose, Scope) else _of_tenant(whose)


def _of_tenant(tenant: TenantId) -> Conditions:
    return Conditions(equal=(("tenant", tenant),))


def corpus_conditions(scope: Scope) -> Conditions:
    """The newest versions of one scope: the corpus that IDF is counted over."""
    return Conditions(equal=(*scope_conditions(scope).equal, ("current", 1)))


def query_conditions(query: IndexQuery) -> Conditions:
    """The walls of a query: scope and newest version always, then statuses and kinds."""
    among = [("status", _values(query.statuses))]
    if query.kinds:
        among.append(("kind", _values(query.kinds)))
    return Conditions(equal=corpus_conditions(query.scope).equal, among=tuple(among))


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
    if query.limit <= 0 or not query.statuses:
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
