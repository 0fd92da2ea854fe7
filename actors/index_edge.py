"""The vector index embedded in this process: Qdrant Edge, one shard in one folder.

The engine holds Python's GIL while it works, so this class belongs in a process of its own. It
searches exactly, without a graph: filtered by scope that takes about a millisecond, and the answers
equal those of a server. A folder has one owner at a time.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import assert_never

import qdrant_edge as qdrant

from actors.index_filters import BOUNDS, Among, Between, Condition, Conditions, Is
from actors.index_paths import folders_set_aside, remains
from actors.index_shape import (
    DENSE,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    LEXICAL,
    RETURNED_FIELDS,
    TENANT_FIELD,
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

_CONFIG_FILE = "edge_config.json"
_CHUNK = 1000

FREE_BYTES = 32 * 1024 * 1024
"""Room that every write must leave on the disk.

The engine writes through sparse maps of files: where there is no room for a page of one, the
kernel ends the process, and nothing says why.
"""

_OF_THE_MACHINE = tuple(f"(os error {number})" for number in (12, 13, 23, 24, 28, 30, 122))
"""No memory, no right, too many files, no room, read-only, quota: no fault of the folder."""


class DamagedIndex(StoreError):
    """The engine cannot read what lies in the folder."""


class EdgeIndex:
    """A VectorIndex over one folder. An existing folder is opened, never erased."""

    def __init__(self, folder: str | Path, *, dim: int, free_bytes: int = FREE_BYTES) -> None:
        """Opens the folder or makes it.

        Args:
            free_bytes: room on the disk without which nothing is opened or written.

        Raises:
            ConfigError: the folder's vectors have another width than ``dim``; nothing is changed.
            DamagedIndex: what lies there cannot be read.
            StoreError: another process has the folder open, or the disk cannot be used.
        """
        self._folder = Path(folder)
        self._dim = dim
        self._free_bytes = free_bytes
        self._check_folder()
        self._check_room()
        with self._translated(DamagedIndex):
            self._shard = _open(self._folder, dim)
        self._next: qdrant.EdgeShard | None = None

    @property
    def dim(self) -> int:
        """The width of its vectors."""
        return self._dim

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Writes the points through the engine's log: a kill loses none of them."""
        check_vectors([point.dense for point in points], dim=self._dim)
        for start in range(0, len(points), _CHUNK):
            stored = [_stored(point) for point in points[start : start + _CHUNK]]
            self._update(qdrant.UpdateOperation.upsert_points(stored))

    def delete(self, ids: Sequence[str]) -> None:
        """Removes the points; unknown ids are no error.

        Their bytes stay in the engine's log and segments until the index is rebuilt.
        """
        self._update(qdrant.UpdateOperation.delete_points(list(ids)))

    def _update(self, operation: qdrant.UpdateOperation) -> None:
        self._check_room()
        with self._translated():
            self._shard.update(operation)
            if self._next is not None:
                self._next.update(operation)

    def _check_room(self) -> None:
        free = shutil.disk_usage(self._folder).free
        if free < self._free_bytes:
            raise StoreError(
                f"expected {self._free_bytes} bytes free on the disk of {self._folder}, got {free}"
            )

    def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        """Per query the best dense and lexical hits, best first, ties broken by entry id."""
        check_vectors([query.dense for query in queries], dim=self._dim)
        return answers(queries, self._fetch)

    def count(self, scope: Scope | None = None) -> int:
        """Points of one scope, or of all; versions count one by one."""
        within = None if scope is None else _filter(scope_conditions(scope))
        request = qdrant.CountRequest(exact=True, filter=within)
        with self._translated():
            return self._shard.count(request)

    def count_old(self) -> int:
        """Points that lack what queries may ask for now."""
        with self._translated():
            return self._shard.count(
                qdrant.CountRequest(exact=True, filter=_filter(old_conditions()))
            )

    def points(self, ids: Sequence[str]) -> dict[str, StoredPoint]:
        """Those of the ids that the index holds, as they lie there."""
        with self._translated():
            found = self._shard.retrieve(list(ids), True, True)
        return {one.id: one for one in map(_point, found)}

    def scan(
        self, whose: Scope | TenantId | None = None, *, after: str | None = None, limit: int = 1000
    ) -> list[StoredPoint]:
        """Points of a collection, a tenant or all, by id, those above ``after``."""
        request = qdrant.ScrollRequest(
            offset=after,  # the engine begins with it
            limit=limit + 1,
            filter=None if whose is None else _filter(whose_conditions(whose)),
            with_payload=True,
            with_vector=True,
        )
        with self._translated():
            found, _next = self._shard.scroll(request)
        return [one for one in map(_point, found) if one.id != after][:limit]

    def begin_rebuild(self, token: str) -> None:
        """Starts a second shard beside this one, which is searched meanwhile."""
        self._check_room()
        with self._translated():
            self._give_up()
            self._next = _open(self._next_folder, self._dim)

    def rebuild(self, points: Sequence[IndexPoint]) -> None:
        """Writes points to the second shard only."""
        check_vectors([point.dense for point in points], dim=self._dim)
        if self._next is None:
            raise StoreError("no rebuild of the index was begun")
        for start in range(0, len(points), _CHUNK):
            stored = [_stored(point) for point in points[start : start + _CHUNK]]
            self._check_room()
            with self._translated():
                self._next.update(qdrant.UpdateOperation.upsert_points(stored))

    def end_rebuild(self) -> None:
        """Puts the second shard in the place of the first, whose files are removed.

        A process that is killed on the way leaves one of the two, which the next one opens.
        """
        if self._next is None:
            raise StoreError("no rebuild of the index was begun")
        with self._translated():
            self._next.flush()
            self._next.close()
            self._shard.close()
            self._next = None
            self._folder.rename(self._last_folder)
            self._next_folder.rename(self._folder)
            self._shard = _open(self._folder, self._dim)
            for each in (self._last_folder, *folders_set_aside(self._folder)):
                shutil.rmtree(each)

    @property
    def _next_folder(self) -> Path:
        return self._folder.with_name(f"{self._folder.name}.next")

    @property
    def _last_folder(self) -> Path:
        return self._folder.with_name(f"{self._folder.name}.last")

    def _give_up(self) -> None:
        if self._next is not None:
            self._next.close()
            self._next = None
        if self._next_folder.exists():
            shutil.rmtree(self._next_folder)

    def flush(self) -> None:
        """Writes everything to the disk: after it, a power loss loses nothing either."""
        with self._translated():
            self._shard.flush()

    def optimise(self) -> bool:
        """Drops what was deleted and merges segments; whether anything was done.

        Blocks the whole process, so it is for idle times and after an erasure.
        """
        with self._translated():
            return self._shard.optimize()

    def close(self) -> None:
        """Flushes and gives the folder up; doing it twice changes nothing."""
        with self._translated():
            self._shard.close()
            self._give_up()

    def _settle_folders(self) -> None:
        """Ends what a killed rebuild left: a full second shard takes its place, another goes."""
        if self._last_folder.exists() and not self._folder.exists():
            self._next_folder.rename(self._folder)
        for each in remains(self._folder):
            shutil.rmtree(each)

    def _check_folder(self) -> None:
        try:
            self._settle_folders()
            self._folder.mkdir(parents=True, exist_ok=True)
            config = self._folder / _CONFIG_FILE
            stored = json.loads(config.read_text()) if config.exists() else None
        except (OSError, ValueError) as exc:
            kind = StoreError if isinstance(exc, OSError) else DamagedIndex
            raise kind(f"the index folder {self._folder} cannot be read: {exc}") from exc
        if stored is not None:
            where = f"the index folder {self._folder}"
            check_width(_width(stored), dim=self._dim, where=where)

    def _fetch(self, asks: Sequence[Ask]) -> list[list[IndexHit]]:
        if not asks:
            return []
        batch = qdrant.QueryBatchRequest([_request(ask) for ask in asks])
        with self._translated():
            found = self._shard.query_batch(batch)
        return [[hit(one.payload, one.score) for one in hits] for hits in found]

    @contextmanager
    def _translated(self, kind: type[StoreError] = StoreError) -> Iterator[None]:
        """The engine raises bare ``Exception`` for everything that fails, so that is caught.

        Args:
            kind: what it means, unless the folder is open elsewhere or the machine refused.
        """
        try:
            yield
        except Exception as exc:
            if "WouldBlock" in str(exc):
                raise StoreError(f"the index folder {self._folder} is open elsewhere") from exc
            meant = StoreError if any(sign in str(exc) for sign in _OF_THE_MACHINE) else kind
            raise meant(f"the index folder {self._folder}: {exc}") from exc


def _open(folder: Path, dim: int) -> qdrant.EdgeShard:
    """The shard in the folder, made where there is none, with every field index."""
    folder.mkdir(parents=True, exist_ok=True)
    shard = qdrant.EdgeShard.load(str(folder), _config(dim))
    known = shard.info().payload_schema
    for field, schema in _field_indexes().items():
        if field not in known:
            shard.update(qdrant.UpdateOperation.create_field_index(field, schema))
    return shard


def _point(record: qdrant.Record) -> StoredPoint:
    vectors = record.vector if isinstance(record.vector, dict) else {}
    return stored_point(record.id, record.payload, vectors.get(DENSE))


def _config(dim: int) -> qdrant.EdgeConfig:
    """No graph, since search is exact; little tolerance for deleted points that stay on disk."""
    return qdrant.EdgeConfig(
        vectors={DENSE: qdrant.EdgeVectorParams(size=dim, distance=qdrant.Distance.Cosine)},
        sparse_vectors={LEXICAL: qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
        hnsw_config=qdrant.HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=10_000),
        optimizers=qdrant.EdgeOptimizersConfig(
            deleted_threshold=0.01, vacuum_min_vector_number=100
        ),
    )


def _width(stored: object) -> int | None:
    """The width in a stored configuration; None where the folder is no index of entries."""
    match stored:
        case {"vectors": {"dense": {"size": int(width)}}}:
            return width
        case _:
            return None


def _field_indexes() -> dict[str, qdrant.PayloadSchemaType | qdrant.KeywordIndexParams]:
    schema = qdrant.PayloadSchemaType
    return {
        TENANT_FIELD: qdrant.KeywordIndexParams(is_tenant=True),
        **dict.fromkeys(KEYWORD_FIELDS, schema.Keyword),
        **dict.fromkeys(INTEGER_FIELDS, schema.Integer),
    }


def _stored(point: IndexPoint) -> qdrant.Point:
    lexical = qdrant.SparseVector(
        indices=list(point.lexical.indices), values=list(point.lexical.values)
    )
    vectors = {DENSE: point.dense.tolist(), LEXICAL: lexical}
    return qdrant.Point(point.id, vectors, payload(point))


def _request(ask: Ask) -> qdrant.QueryRequest:
    if ask.side == DENSE:
        wanted = ask.query.dense.tolist()
    else:
        lexical = ask.query.lexical
        wanted = qdrant.SparseVector(indices=list(lexical.indices), values=list(lexical.values))
    corpus = qdrant.IdfParams(corpus=_filter(corpus_conditions(ask.query)))
    idf = corpus if ask.side == LEXICAL else None
    return qdrant.QueryRequest(
        query=qdrant.Query.Nearest(wanted, using=ask.side),
        limit=ask.limit,
        filter=_filter(query_conditions(ask.query)),
        with_payload=RETURNED_FIELDS,
        params=qdrant.SearchParams(exact=True, idf=idf),
    )


def _filter(conditions: Conditions) -> qdrant.Filter:
    """An empty list asks for nothing, where a missing one asks for no more."""
    return qdrant.Filter(
        must=[_condition(one) for one in conditions.every] or None,
        should=[_condition(one) for one in conditions.some] or None,
        must_not=[_condition(one) for one in conditions.none] or None,
    )


def _condition(condition: Condition) -> qdrant.FieldCondition | qdrant.Filter:
    match condition:
        case Conditions():
            return _filter(condition)
        case Is(field=field, value=value):
            return qdrant.FieldCondition(field, match=qdrant.MatchValue(value))
        case Among(field=field, values=values):
            return qdrant.FieldCondition(field, match=qdrant.MatchAny(list(values)))
        case Between(field=field):
            bounds = {name: getattr(condition, name) for name in BOUNDS}
            written = {name: at.isoformat() for name, at in bounds.items() if at is not None}
            return qdrant.FieldCondition(field, range=qdrant.RangeDateTime(**written))
        case _:
            assert_never(condition)
