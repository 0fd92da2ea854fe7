"""The settings of a collection's own: read, checked against the service, and changed."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from actors.records import Records
from pipeline.awake.shortterm import Trigger
from pipeline.awake.supported import Offered, check_supported
from pipeline.errors import Conflict
from pipeline.messages import Json, Scope
from pipeline.ports import Clock
from pipeline.settings import (
    CollectionSettings,
    CompressionSettings,
    ExtractionSettings,
    ScratchpadSettings,
    ShortTermSettings,
    WindowSettings,
    collection_settings,
)

EVERYTHING = Offered(
    settings=CollectionSettings(
        triggers=ShortTermSettings().triggers,
        idle_s=WindowSettings().idle_s,
        granularity=ShortTermSettings().granularity,
        roles=ExtractionSettings().roles,
        compression=CompressionSettings().enabled,
        rate=CompressionSettings().rate,
        window_tokens=WindowSettings().capacity_tokens,
        short_term_tokens=ShortTermSettings().capacity_tokens,
        max_entry_tokens=ExtractionSettings().max_entry_tokens,
        slots=ScratchpadSettings().slots,
    ),
    has_compressor=True,
    takes_prompt=True,
)
"""A service with the default settings and every part that a collection could ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What a collection sets itself, and what holds for it with the service's settings."""

    own: CollectionSettings
    in_force: CollectionSettings


class CollectionConfig:
    """Settings of collections, over the record store; they hold from a collection's next step."""

    def __init__(self, *, records: Records, offered: Offered, clock: Clock) -> None:
        self._records = records
        self._offered = offered
        self._clock = clock

    async def of(self, scope: Scope) -> InForce:
        """Those of the collection. Raises NotFound."""
        stored = await asyncio.to_thread(self._records.messages.settings, scope)
        return self._shown(stored)

    async def put(self, scope: Scope, own: CollectionSettings) -> InForce:
        """Sets exactly these; the collection is made if it is new. Raises InputError."""
        return await self._change(scope, lambda _before: own)

    async def change(self, scope: Scope, changes: CollectionSettings) -> InForce:
        """Sets what ``changes`` names, None takes one back; else as ``put``."""
        return await self._change(scope, lambda before: before.changed(changes))

    async def must_flush(self, scope: Scope) -> None:
        """Raises Conflict where the collection is set to leave its buffers at no one's asking."""
        triggers = (await self._of_any(scope)).in_force.triggers
        if triggers is not None and Trigger.FLUSH not in triggers:
            raise Conflict(
                f"expected the trigger flush among the collection's, got {', '.join(triggers)}",
                field="triggers",
            )

    async def _of_any(self, scope: Scope) -> InForce:
        """Those of the collection, or what a new one would have."""
        found = await asyncio.to_thread(self._records.messages.settings_if_any, scope)
        return self._shown(found)

    async def _change(
        self, scope: Scope, change: Callable[[CollectionSettings], CollectionSettings]
    ) -> InForce:
        def checked(before: Mapping[str, Json]) -> Mapping[str, Json]:
            after = change(collection_settings(before))
            check_supported(after, self._offered)
            return after.own

        now = self._clock.now()
        stored = await asyncio.to_thread(
            self._records.messages.change_settings, scope, checked, now=now
        )
        return self._shown(stored)

    def _shown(self, stored: Mapping[str, Json]) -> InForce:
        own = collection_settings(stored)
        return InForce(own=own, in_force=own.over(self._offered.settings))
