"""The index inside one named, detached actor outside Serve: Qdrant's engine, or a Qdrant server's.

It outlives replicas, restarts by itself and is the only writer of its folder or collection. It
follows the record store through the outbox, so what it lost or missed it takes again; a folder that
is damaged or gone begins empty and takes everything.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray

from pipeline.errors import ConfigError, SlowwaveError, StoreError
from pipeline.messages import Scope, TenantId
from pipeline.ports import EntryKey, VectorIndex
from pipeline.state import Difference, IndexHits, IndexQuery
from serve.index import Checked, IndexKeeper, Ticket
from serve.settings import EMBEDDED, AppSettings

NAME = "slowwave-index"
NAMESPACE = "slowwave"
APP_COLLECTION = "slowwave"
"""The collection on a Qdrant server."""

SERVER_KEY = "QDRANT_API_KEY"
"""The environment variable of a Qdrant server's key."""


class IndexActor:
    """Owns the folder or the server's collection; searches and drains one call at a time."""

    def __init__(
        self, *, folder: Path, dim: int, records_url: str, server: str | None = None
    ) -> None:
        from actors.records import open_records

        records = open_records(records_url)
        index = _opened(folder, dim=dim) if server is None else _reached(server, dim=dim)
        self._keeper = IndexKeeper(index, records.outbox, records.index_source)

    def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        """As VectorIndex.search."""
        return self._keeper.index.search(queries)

    def follow(self) -> bool:
        """Takes some of what is pending; whether there may be more. Searches pass in between."""
        return self._keeper.follow()

    def count(self, scope: Scope | None = None) -> int:
        """Points of one scope, or of all."""
        return self._keeper.index.count(scope)

    def ask_rebuild(self) -> Ticket:
        """As IndexKeeper.ask_rebuild."""
        return self._keeper.ask_rebuild()

    def rebuild_step(self, ticket: Ticket) -> bool | None:
        """As IndexKeeper.rebuild_step. Searches pass in between."""
        return self._keeper.rebuild_step(ticket)

    def check_step(
        self, whose: Scope | TenantId | None, cursor: EntryKey | str | None, repair: bool
    ) -> Checked:
        """As IndexKeeper.check_step."""
        return self._keeper.check_step(whose, cursor, repair=repair)


def _opened(folder: Path, *, dim: int) -> VectorIndex:
    from actors.index_folder import open_whole

    return open_whole(folder, dim=dim)


def _reached(server: str, *, dim: int) -> VectorIndex:
    from qdrant_client import QdrantClient

    from actors.index_server import ServerIndex

    key = os.environ.get(SERVER_KEY)
    return ServerIndex(QdrantClient(url=server, api_key=key), collection=APP_COLLECTION, dim=dim)


class ActorIndex:
    """The index behind its actor, created by whoever needs it first.

    Ray restarts an actor that was killed, but not one whose start failed, as it does while the
    record store or the disk cannot be used: then the next call starts another.
    """

    def __init__(
        self, *, folder: Path, dim: int, records_url: str, server: str | None = None
    ) -> None:
        place = {"folder": folder, "dim": dim, "records_url": records_url, "server": server}
        self._place: dict[str, Any] = place
        self._actor = self._found_or_made()

    def _found_or_made(self) -> Any:  # Ray gives methods their .remote at run time
        return (
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
            .remote(**self._place)
        )

    async def _ask(self, method: str, *args: object) -> Any:
        """What the actor answers, its errors as ours.

        Raises:
            StoreError: its start failed, or what it says itself.
        """
        try:
            return await getattr(self._actor, method).remote(*args)
        except ray.exceptions.RayTaskError as exc:
            if isinstance(exc.cause, SlowwaveError):
                raise exc.cause from exc
            raise
        except ray.exceptions.RayActorError as exc:
            self._actor = self._found_or_made()
            *_, reason = str(exc).strip().splitlines()
            raise StoreError(f"the index does not answer: {reason}") from exc

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
        found: list[IndexHits] = await self._ask("search", list(queries))
        return found

    async def follow(self) -> None:
        while await self._ask("follow"):
            pass

    async def rebuild(self) -> None:
        ticket = await self._ask("ask_rebuild")
        while (is_done := await self._ask("rebuild_step", ticket)) is not True:
            if is_done is None:  # the actor was restarted
                ticket = await self._ask("ask_rebuild")

    async def check(
        self, whose: Scope | TenantId | None = None, *, repair: bool = False
    ) -> list[Difference]:
        found: list[Difference] = []
        cursor: EntryKey | str | None = None
        while True:
            checked = await self._ask("check_step", whose, cursor, repair)
            found += checked.differences
            cursor = checked.cursor
            if cursor is None:
                return found

    async def count(self, scope: Scope | None = None) -> int:
        found: int = await self._ask("count", scope)
        return found


def open_index(settings: AppSettings, *, dim: int) -> ActorIndex:
    """The index of these settings, for vectors of width ``dim``."""
    return ActorIndex(
        folder=settings.index_folder,
        dim=dim,
        records_url=settings.records_url,
        server=None if settings.stores.index == EMBEDDED else settings.stores.index,
    )
