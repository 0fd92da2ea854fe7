"""The scratchpad and what sleep archived, as the service shows and changes them."""

import asyncio
from collections.abc import Mapping, Sequence

from actors.records import Records
from pipeline.entries import Entry
from pipeline.errors import InputError
from pipeline.ids import EntryId, ItemId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.ports import Clock, Tokenizer
from pipeline.scratchpad import Item, ItemEdit, ItemStatus, ItemVersion
from pipeline.sleep.tending import Change
from serve.collection_settings import CollectionConfig
from serve.index import AsyncIndex


class Scratchpads:
    """Reads and edits scratchpads, and brings back archived entries, for one tenant per call."""

    def __init__(
        self,
        *,
        records: Records,
        settings: CollectionConfig,
        index: AsyncIndex,
        tokenizer: Tokenizer,
        model: str,
        clock: Clock,
    ) -> None:
        """
        Args:
            model: the embedding model, whose vectors a restored entry takes over.
        """
        self._records = records
        self._settings = settings
        self._index = index
        self._tokenizer = tokenizer
        self._model = model
        self._clock = clock

    async def items(
        self, scope: Scope, *, slot: str | None, statuses: Sequence[ItemStatus]
    ) -> tuple[list[Item], int]:
        """Items, newest first, and the tokens of their texts. Raises NotFound."""

        def read() -> tuple[list[Item], int]:
            found = self._records.scratchpad.items(
                scope, slot=slot, statuses=statuses or (ItemStatus.ACTIVE,)
            )
            return found, sum(self._tokenizer.count([item.text for item in found]))

        return await asyncio.to_thread(read)

    async def item(self, scope: Scope, item: ItemId) -> Item:
        """One item. Raises NotFound."""
        return await asyncio.to_thread(self._records.scratchpad.item, scope, item)

    async def history(self, scope: Scope, item: ItemId) -> list[ItemVersion]:
        """Every version of an item, oldest first. Raises NotFound."""
        return await asyncio.to_thread(self._records.scratchpad.history, scope, item)

    async def add(self, scope: Scope, item: ItemId, *, slot: str, text: str) -> Item:
        """A user's own item; the same again changes nothing. Raises Conflict and InputError."""
        await self._known_slot(scope, slot)
        now = self._clock.now()
        return await asyncio.to_thread(
            self._records.scratchpad.add, scope, item, slot=slot, text=text, now=now
        )

    async def edit(
        self, scope: Scope, item: ItemId, edit: ItemEdit, *, expected_version: int
    ) -> Item:
        """The item after a user's edit. Raises NotFound, Conflict and InputError."""
        if edit.slot is not None:
            await self._known_slot(scope, edit.slot)
        return await asyncio.to_thread(
            self._records.scratchpad.edit,
            scope,
            item,
            edit,
            expected_version=expected_version,
            now=self._clock.now(),
        )

    async def _known_slot(self, scope: Scope, slot: str) -> None:
        """Raises InputError where the collection has no such slot, NotFound without one."""
        slots = (await self._settings.of(scope)).in_force.slots or {}
        if slot not in slots:
            raise InputError(f"expected one of {', '.join(slots)}, got {slot!r}", field="slot")

    # Forgetting -----------------------------------------------------------------------------

    async def restore(self, tenant: TenantId, entry: EntryId) -> tuple[Scope, Entry]:
        """An archived entry, current again and searchable when this returns.

        Raises:
            Conflict: it is neither archived nor current.
            NotFound: the tenant has no such entry.
        """
        restored = await asyncio.to_thread(
            self._records.entries.restore,
            tenant,
            entry,
            model=self._model,
            now=self._clock.now(),
        )
        await self._index.follow()
        scope, _ = await asyncio.to_thread(self._records.entries.entry, tenant, entry)
        return scope, restored

    async def changes(self, tenant: TenantId, run: RunId) -> list[Change]:
        """What a run merged, archived and did to scratchpads. Raises NotFound."""
        await asyncio.to_thread(self._records.sleep.run, tenant, run)
        return await asyncio.to_thread(self._records.tending.changes, tenant, run)

    async def changed_texts(self, tenant: TenantId, run: RunId) -> Mapping[tuple[str, int], str]:
        """By id and version the texts of what a run changed, before and after."""
        return await asyncio.to_thread(self._records.tending.texts, tenant, run)
