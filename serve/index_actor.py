"""The embedded index: Qdrant's engine inside one named, detached actor outside Serve.

It outlives replicas, restarts by itself and is the only writer of its folder. It follows the
record store through the outbox, so what it lost or missed it takes again.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray

from pipeline.messages import Scope
from pipeline.state import IndexHits, IndexQuery
from serve.index import drain

NAME = "slowwave-index"
NAMESPACE = "slowwave"


class IndexActor:
    """Owns the folder; searches and drains one call at a time."""

    def __init__(self, *, folder: Path, dim: int, records_url: str) -> None:
        from actors.index_edge import EdgeIndex
        from actors.records import open_records

        self._index = EdgeIndex(folder, dim=dim)
        self._outbox = open_records(records_url).outbox

    def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        """As VectorIndex.search."""
        return self._index.search(queries)

    def follow(self) -> int:
        """Takes some of what is pending; 0 when nothing is left. Searches pass in between."""
        return drain(self._index, self._outbox)

    def count(self, scope: Scope | None = None) -> int:
        """Points of one scope, or of all."""
        return self._index.count(scope)


class ActorIndex:
    """The index behind its actor, created by whoever needs it first."""

    def __init__(self, *, folder: Path, dim: int, records_url: str) -> None:
        self._actor: Any = (  # Ray gives methods their .remote at run time
            ray.remote(IndexActor)
            .options(
                name=NAME,
                namespace=NAMESPACE,
                lifetime="detached",
                get_if_exists=True,
                max_restarts=-1,
                max_task_retries=-1,
                num_cpus=0.1,
            )
            .remote(folder=folder, dim=dim, records_url=records_url)
        )

    async def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        found: list[IndexHits] = await self._actor.search.remote(list(queries))
        return found

    async def follow(self) -> None:
        while await self._actor.follow.remote():
            pass

    async def count(self, scope: Scope | None = None) -> int:
        found: int = await self._actor.count.remote(scope)
        return found
