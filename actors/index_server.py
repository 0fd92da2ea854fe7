"""The vector index on a Qdrant server or cluster; also its in-memory client, for tests.

One collection holds all tenants: the tenant field is indexed as such, graphs are built per tenant
only. Search is exact unless told otherwise, for a scope is the memory of one subject.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import assert_never

import grpc  # type: ignore[import-untyped]  # ships no types
import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from actors.index_filters import BOUNDS, Among, Between, Condition, Conditions, Is
from actors.index_shape import (
    DENSE,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    LEXICAL,
    MORE_KEYWORD_FIELDS,
    RETURNED_FIELDS,
    TENANT_FIELD,
    TIME_FIELDS,
    Ask,
    answers,
    check_vectors,
    check_width,
    corpus_conditions,
    hit,
    old_conditions,
    payload,
    query_conditions,
    scope_conditions,
    stored_point,
    whose_conditions,
)
from pipeline.errors import StoreError
from pipeline.messages import Scope, TenantId
from pipeline.state import IndexHit, IndexHits, IndexPoint, IndexQuery, StoredPoint

_CHUNK = 256
BUILD_FIELD = "build"
"""The rebuild that wrote a point last; a point written since the last rebuild has none."""
_ALREADY_EXISTS = 409
_FOREIGN = (ApiException, QdrantException, httpx.HTTPError, grpc.RpcError, OSError, RuntimeError)


class ServerIndex:
    """A VectorIndex over one collection. An existing collection is used, never erased."""

    def __init__(
        self, client: QdrantClient, *, collection: str, dim: int, exact: bool = True
    ) -> None:
        """Uses the collection or makes it, with an index for every field that is filtered.

        Raises:
            ConfigError: the collection's vectors have another width than ``dim``.
            StoreError: the server cannot be reached or refused.
        """
        self._client = client
        self._collection = collection
        self._dim = dim
        self._in_memory = client.init_options["location"] == ":memory:"
        self._token: str | None = None
        self._exact = True if exact and not self._in_memory else None
        with self._translated():
            self._ensure_collection()
            self._ensure_fields()

    @property
    def dim(self) -> int:
        """The width of its vectors."""
        return self._dim

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Writes the points and waits until they can be found."""
        check_vectors([point.dense for point in points], dim=self._dim)
        for start in range(0, len(points), _CHUNK):
            stored = [_stored(point, self._token) for point in points[start : start + _CHUNK]]
            with self._translated():
                self._client.upsert(self._collection, stored, wait=True)

    def delete(self, ids: Sequence[str]) -> None:
        """Removes the points; unknown ids are no error."""
        if not ids:
            return
        with self._translated():
            gone = models.PointIdsList(points=list(ids))
            self._client.delete(self._collection, gone, wait=True)

    def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        """Per query the best dense and lexical hits, best first, ties broken by entry id."""
        check_vectors([query.dense for query in queries], dim=self._dim)
        return answers(queries, self._fetch)

    def count(self, scope: Scope | None = None) -> int:
        """Points of one scope, or of all; versions count one by one."""
        within = None if scope is None else _filter(scope_conditions(scope))
        with self._translated():
            return self._client.count(self._collection, count_filter=within, exact=True).count

    def count_old(self) -> int:
        """Points that lack what queries may ask for now."""
        with self._translated():
            return self._client.count(
                self._collection, count_filter=_filter(old_conditions()), exact=True
            ).count

    def points(self, ids: Sequence[str]) -> dict[str, StoredPoint]:
        """Those of the ids that the index holds, as they lie there."""
        with self._translated():
            found = self._client.retrieve(
                self._collection, list(ids), with_payload=True, with_vectors=True
            )
        return {one.id: one for one in map(_point, found)}

    def scan(
        self, whose: Scope | TenantId | None = None, *, after: str | None = None, limit: int = 1000
    ) -> list[StoredPoint]:
        """Points of a collection, a tenant or all, by id, those above ``after``."""
        with self._translated():
            found, _next = self._client.scroll(
                self._collection,
                scroll_filter=None if whose is None else _filter(whose_conditions(whose)),
                offset=after,  # the server begins with it
                limit=limit + 1,
                with_payload=True,
                with_vectors=True,
            )
        return [one for one in map(_point, found) if one.id != after][:limit]

    def begin_rebuild(self, token: str) -> None:
        """From now on every point that is written carries the token."""
        self._token = token

    def rebuild(self, points: Sequence[IndexPoint]) -> None:
        """Writes points that must stay."""
        if self._token is None:
            raise StoreError("no rebuild of the index was begun")
        self.upsert(points)

    def end_rebuild(self) -> None:
        """Removes every point without the token; their bytes go when the server next optimises."""
        if self._token is None:
            raise StoreError("no rebuild of the index was begun")
        kept = models.FieldCondition(key=BUILD_FIELD, match=models.MatchValue(value=self._token))
        with self._translated():
            others = models.FilterSelector(filter=models.Filter(must_not=[kept]))
            self._client.delete(self._collection, others, wait=True)
        self._token = None

    def close(self) -> None:
        """Closes the client; doing it twice changes nothing."""
        with self._translated():
            self._client.close()

    def _ensure_collection(self) -> None:
        if not self._client.collection_exists(self._collection):
            self._create()
        vectors = self._client.get_collection(self._collection).config.params.vectors
        width = vectors[DENSE].size if isinstance(vectors, dict) and DENSE in vectors else None
        check_width(width, dim=self._dim, where=f"the collection {self._collection}")

    def _create(self) -> None:
        """Makes the collection; that another process was faster is no error."""
        dense = models.VectorParams(size=self._dim, distance=models.Distance.COSINE)
        try:
            self._client.create_collection(
                self._collection,
                vectors_config={DENSE: dense},
                sparse_vectors_config={
                    LEXICAL: models.SparseVectorParams(modifier=models.Modifier.IDF)
                },
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                # Little that was removed stays on the server's disk.
                optimizers_config=models.OptimizersConfigDiff(
                    deleted_threshold=0.01, vacuum_min_vector_number=100
                ),
            )
        except UnexpectedResponse as exc:
            if exc.status_code != _ALREADY_EXISTS:
                raise

    def _ensure_fields(self) -> None:
        if self._in_memory:  # it has no field indexes
            return
        known = self._client.get_collection(self._collection).payload_schema
        for field, schema in _field_indexes().items():
            if field not in known:
                self._client.create_payload_index(self._collection, field, schema, wait=True)

    def _fetch(self, asks: Sequence[Ask]) -> list[list[IndexHit]]:
        if not asks:
            return []
        requests = [_request(ask, exact=self._exact) for ask in asks]
        with self._translated():
            found = self._client.query_batch_points(self._collection, requests)
        return [[hit(one.payload, one.score) for one in answer.points] for answer in found]

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except _FOREIGN as exc:
            raise StoreError(f"the vector index {self._collection}: {exc}") from exc


def _field_indexes() -> dict[str, models.PayloadSchemaType | models.KeywordIndexParams]:
    schema = models.PayloadSchemaType
    tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    return {
        TENANT_FIELD: tenant,
        **dict.fromkeys((*KEYWORD_FIELDS, *MORE_KEYWORD_FIELDS), schema.KEYWORD),
        **dict.fromkeys(INTEGER_FIELDS, schema.INTEGER),
        **dict.fromkeys(TIME_FIELDS, schema.DATETIME),
    }


def _point(record: models.Record) -> StoredPoint:
    vectors = record.vector if isinstance(record.vector, dict) else {}
    return stored_point(record.id, record.payload, vectors.get(DENSE))


def _stored(point: IndexPoint, token: str | None) -> models.PointStruct:
    lexical = models.SparseVector(
        indices=list(point.lexical.indices), values=list(point.lexical.values)
    )
    vectors = {DENSE: point.dense.tolist(), LEXICAL: lexical}
    fields = dict(payload(point)) | ({} if token is None else {BUILD_FIELD: token})
    return models.PointStruct(id=point.id, vector=vectors, payload=fields)


def _request(ask: Ask, *, exact: bool | None) -> models.QueryRequest:
    corpus = _filter(corpus_conditions(ask.query))
    idf = models.IdfCorpusParams(corpus=corpus) if ask.side == LEXICAL else None
    return models.QueryRequest(
        query=_nearest(ask),
        using=ask.side,
        limit=ask.limit,
        filter=_filter(query_conditions(ask.query)),
        with_payload=RETURNED_FIELDS,
        params=models.SearchParams(exact=exact, idf=idf),
    )


def _nearest(ask: Ask) -> list[float] | models.SparseVector:
    lexical = ask.query.lexical
    if ask.side == DENSE:
        return [float(value) for value in ask.query.dense]
    return models.SparseVector(indices=list(lexical.indices), values=list(lexical.values))


def _filter(conditions: Conditions) -> models.Filter:
    return models.Filter(
        must=[_condition(one) for one in conditions.every] or None,
        should=[_condition(one) for one in conditions.some] or None,
        must_not=[_condition(one) for one in conditions.none] or None,
    )


def _condition(condition: Condition) -> models.FieldCondition | models.Filter:
    match condition:
        case Conditions():
            return _filter(condition)
        case Is(field=field, value=value):
            return models.FieldCondition(key=field, match=models.MatchValue(value=value))
        case Among(field=field, values=values):
            return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))
        case Between(field=field):
            bounds = {name: getattr(condition, name) for name in BOUNDS}
            return models.FieldCondition(key=field, range=models.DatetimeRange(**bounds))
        case _:
            assert_never(condition)
