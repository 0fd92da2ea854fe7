"""The embedded index: Qdrant's engine inside one named, detached actor outside Serve.

It outlives replicas, restarts by itself and is the only writer of its folder. It follows the
record store through the outbox, so what it lost or missed it takes again.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray

from pipeline.errors import ConfigError
from pipeline.messages import Scope
from pipeline.state import IndexHits, IndexQuery
from serve.index import drain
from serve.settings import AppSettings

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

    def opened(self) -> None:
        """Returns when the actor holds the folder.

        Raises:
            ConfigError: the folder cannot be opened, with the engine's or our own reason.
        """
        try:
            ray.get(self._actor.count.remote(None))
        except ray.exceptions.RayActorError as error:
            *_, reason = str(error).strip().splitlines()
            raise ConfigError(f"the index cannot be opened: {reason}", field="index") from error

    async def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        found: list[IndexHits] = await self._actor.search.remote(list(queries))
        return found

    async def follow(self) -> None:
        while await self._actor.follow.remote():
            pass

    async def count(self, scope: Scope | None = None) -> int:
        found: int = await self._actor.count.remote(scope)
        return found


def open_index(settings: AppSettings, *, dim: int) -> ActorIndex:
    """The embedded index of these settings, for vectors of width ``dim``."""
    return ActorIndex(folder=settings.index_folder, dim=dim, records_url=settings.records_url)
