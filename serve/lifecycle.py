"""What happens to memory as a whole: erasing, exporting, importing, keeping it for a while, checks.

An erasure is done when its bytes have gone too: rows in one transaction, then the index is rebuilt
without them and the record store's file is written anew. A tombstone remembers what of that is
still owed, so a service that dies on the way goes on with it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from actors.records import Records
from actors.records.erasure import Erased
from actors.records.imports import Imported
from actors.records.wiping import wipe_files
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.ports import Clock
from pipeline.settings import LimitSettings
from pipeline.state import Difference
from serve.index import AsyncIndex

log = logging.getLogger("slowwave.lifecycle")

UPKEEP_S = 600.0
"""How often the service redacts what was kept long enough and wipes what is still owed."""

_WIPE_TRIES = 20
_WIPE_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """The model whose vectors the service works with, and their width."""

    name: str
    width: int


class Lifecycle:
    """Erases, exports, imports, redacts and checks; for one tenant per call."""

    def __init__(
        self,
        *,
        records: Records,
        index: AsyncIndex,
        model: EmbeddingModel,
        clock: Clock,
        limits: LimitSettings = LimitSettings(),  # noqa: B008  (frozen)
    ) -> None:
        self._records = records
        self._index = index
        self._model = model
        self._clock = clock
        self._limits = limits
        self._wiping = asyncio.Lock()

    # Erasing --------------------------------------------------------------------------------

    async def erase_entry(
        self, tenant: TenantId, entry: EntryId, *, siblings: bool
    ) -> dict[str, int]:
        """The receipt: rows per table. Raises NotFound."""
        erasure = self._records.erasure
        return await self._erase(
            lambda: erasure.erase_entry(tenant, entry, siblings=siblings, now=self._clock.now())
        )

    async def erase_conversation(self, scope: Scope, conversation: str) -> dict[str, int]:
        """The receipt: rows per table. Raises NotFound."""
        erasure = self._records.erasure
        return await self._erase(
            lambda: erasure.erase_conversation(scope, conversation, now=self._clock.now())
        )

    async def erase_collection(self, scope: Scope) -> dict[str, int]:
        """The receipt: rows per table. Raises NotFound."""
        erasure = self._records.erasure
        return await self._erase(lambda: erasure.erase_collection(scope, now=self._clock.now()))

    async def erase_tenant(self, tenant: TenantId) -> dict[str, int]:
        """The receipt: rows per table. Raises NotFound."""
        erasure = self._records.erasure
        return await self._erase(lambda: erasure.erase_tenant(tenant, now=self._clock.now()))

    async def _erase(self, erase: Callable[[], Erased]) -> dict[str, int]:
        erased = await asyncio.to_thread(erase)
        await self.wipe()
        return dict(erased.receipt)

    async def wipe(self) -> bool:
        """Whether nothing erased is left in any file of ours.

        False where a long reading, such as an export, still holds what it began with; upkeep
        tries again.
        """
        async with self._wiping:
            owed = await asyncio.to_thread(self._records.erasure.owed)
            if not owed:
                return True
            await self._index.follow()
            await self._index.rebuild()
            if not await self._wipe_files():
                return False
            now = self._clock.now()
            await asyncio.to_thread(self._records.erasure.wiped, owed, now=now)
            return True

    async def _wipe_files(self) -> bool:
        for _ in range(_WIPE_TRIES):
            if await asyncio.to_thread(wipe_files, self._records.engine):
                return True
            await asyncio.sleep(_WIPE_PAUSE_S)
        log.warning("what was erased is still in the log of the record store, which is being read")
        return False

    # Moving ---------------------------------------------------------------------------------

    async def export(self, scope: Scope) -> Iterator[bytes]:
        """The collection's lines. Raises NotFound."""
        await asyncio.to_thread(self._records.messages.collection, scope)
        return self._records.exports.lines(scope)

    async def load(self, scope: Scope, file: BinaryIO) -> Imported:
        """Imports an export, searchable when this returns.

        Raises:
            InputError: it is no whole export, or of another model. Conflict: it would change what
                is there or bring back what was erased.
        """
        imported = await asyncio.to_thread(
            self._records.imports.load,
            scope,
            file,
            model=self._model.name,
            width=self._model.width,
            now=self._clock.now(),
            limits=self._limits,
        )
        await self._index.follow()
        return imported

    # Keeping --------------------------------------------------------------------------------

    async def keep(self, tenant: TenantId, days: int | None) -> None:
        """Keeps raw messages so many days from now on; None keeps them for ever."""
        await asyncio.to_thread(self._records.retention.keep, tenant, days)

    async def retention_days(self, tenant: TenantId) -> int | None:
        """How many days raw messages are kept."""
        return await asyncio.to_thread(self._records.retention.days, tenant)

    async def redact_old(self, tenant: TenantId) -> int:
        """Redacts what was kept long enough; how many messages that were."""
        redacted = 0
        while True:
            some = await asyncio.to_thread(
                self._records.retention.redact, tenant, now=self._clock.now()
            )
            redacted += some
            if not some:
                break
        if redacted:
            await self._wipe_files()
        return redacted

    async def upkeep(self) -> None:
        """Redacts and forgets what every tenant kept long enough and wipes what is owed."""
        for tenant in await asyncio.to_thread(self._records.recalls.tenants):
            now = self._clock.now()
            await asyncio.to_thread(self._records.recalls.forget_old, tenant, now=now)
        for tenant in await asyncio.to_thread(self._records.retention.tenants):
            await self.redact_old(tenant)
        await self.wipe()

    async def run(self, *, every_s: float = UPKEEP_S) -> None:
        """Upkeep until cancelled; a failing one is logged and tried again.

        What it owes stays in the record store: unwiped tombstones, unredacted messages.
        """
        while True:
            try:
                await self.upkeep()
            except Exception as error:  # the index' actor may be restarting: not our error tree
                log.error("upkeep failed: %s", type(error).__name__)
            await asyncio.sleep(every_s)

    # Checking -------------------------------------------------------------------------------

    async def reindex(self, scope: Scope) -> int:
        """Points of the collection after the index was made to hold just what it should."""
        await asyncio.to_thread(self._records.messages.collection, scope)
        await self._index.follow()
        await self._index.check(scope, repair=True)
        return await self._index.count(scope)

    async def fsck(
        self, tenant: TenantId, collection: str | None, *, repair: bool
    ) -> list[Difference]:
        """What does not agree, within and between the stores. Raises NotFound.

        Without a collection's name also what the index holds of collections that are no more.
        """
        found: list[Difference] = []
        scopes = await self._scopes(tenant, collection)
        for scope in scopes:
            found += await asyncio.to_thread(self._records.fsck.check, scope, repair=repair)
            await self._index.follow()
            found += await self._index.check(scope, repair=repair)
        if collection is None:
            extra = await self._index.check(tenant, repair=repair)
            found += [each for each in extra if each.scope not in scopes]
        return found

    async def _scopes(self, tenant: TenantId, collection: str | None) -> list[Scope]:
        if collection is not None:
            scope = Scope(tenant=tenant, collection=collection)
            await asyncio.to_thread(self._records.messages.collection, scope)
            return [scope]
        infos = await asyncio.to_thread(self._records.messages.collections, tenant)
        return [info.scope for info in infos]
