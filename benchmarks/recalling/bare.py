"""The floor of a search: the embedder and Qdrant's engine in this process, with nothing around."""

import uuid
from pathlib import Path

import numpy as np
import qdrant_edge as qdrant

from benchmarks.recalling.place import EACH, EMBEDDER, THREADS, name
from benchmarks.sleeping.neighbours import DIM, clustered
from serve.loading import load_embedder
from serve.local.home import models_dir

_SIDE = "dense"
_CHUNK = 1_000


class Bare:
    """One embedding of the question and one dense query within a collection."""

    def __init__(self, folder: Path, *, entries: int, limit: int) -> None:
        self._embedder = load_embedder(EMBEDDER, models_dir=models_dir(), threads=THREADS)
        self._shard = _shard(folder, entries)
        self._limit = limit

    def search(self, collection: str, question: str) -> int:
        """How many points were found."""
        vector = self._embedder.embed([question], purpose="query")[0]
        equal = qdrant.FieldCondition("collection", match=qdrant.MatchValue(collection))
        request = qdrant.QueryRequest(
            query=qdrant.Query.Nearest(vector.tolist(), using=_SIDE),
            limit=self._limit,
            filter=qdrant.Filter(must=[equal]),
            with_payload=True,
            params=qdrant.SearchParams(exact=True),
        )
        return len(self._shard.query(request))


def _shard(folder: Path, entries: int) -> qdrant.EdgeShard:
    folder.mkdir(parents=True, exist_ok=True)
    config = qdrant.EdgeConfig(
        vectors={_SIDE: qdrant.EdgeVectorParams(size=DIM, distance=qdrant.Distance.Cosine)},
        hnsw_config=qdrant.HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=10_000),
    )
    shard = qdrant.EdgeShard.load(str(folder), config)
    schema = qdrant.PayloadSchemaType.Keyword
    shard.update(qdrant.UpdateOperation.create_field_index("collection", schema))
    vectors = clustered(entries)
    for start in range(0, entries, _CHUNK):
        rows = enumerate(vectors[start : start + _CHUNK], start)
        points = [_point(number, vector) for number, vector in rows]
        shard.update(qdrant.UpdateOperation.upsert_points(points))
    return shard


def _point(number: int, vector: np.ndarray) -> qdrant.Point:
    payload = {"collection": name(number // EACH)}
    return qdrant.Point(str(uuid.UUID(int=number)), {_SIDE: vector.tolist()}, payload)
