"""What one step does with a collection: the service's settings with the collection's over them."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.awake.shortterm import Granularity, Rules, Trigger
from pipeline.entries import Kind
from pipeline.errors import InputError
from pipeline.extraction import SPEAKING, ExtractionOptions
from pipeline.messages import Json, Role
from pipeline.scratchpad import DEFAULT_SLOTS, Slot, slot_of_kind
from pipeline.settings import CollectionSettings, collection_settings, slots_of

log = logging.getLogger("slowwave.ingest")

_KEPT = 1_024
"""Different settings that are remembered read."""

_EVERY_ROLE = frozenset(Role)
_TRIGGERS = frozenset((Trigger.TOKENS, Trigger.IDLE, Trigger.FLUSH))


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkSettings:
    """What one step uses.

    ``calls`` is how many extractions run at once, ``failures`` how often the endpoint may fail on
    a batch, ``retry_s`` how long it then waits the first time. ``turns`` is a number where the
    trigger of that name has one; ``min_shift`` and ``prompt`` are None where the segmenter's
    and the extractor's own are meant.
    """

    compress: bool
    rate: float
    window_tokens: int
    shortterm_tokens: int
    model: str
    calls: int = 4
    failures: int = 8
    retry_s: float = 10.0
    triggers: frozenset[Trigger] = _TRIGGERS
    turns: int | None = None
    granularity: Granularity = Granularity.SEGMENT
    roles: frozenset[Role] = _EVERY_ROLE
    min_shift: float | None = None
    prompt: str | None = None
    max_entry_tokens: int = 200
    slots: tuple[Slot, ...] = DEFAULT_SLOTS

    @property
    def arrivals(self) -> dict[Kind, str]:
        """Per kind the slot of the scratchpad in which its entries arrive."""
        return slot_of_kind(self.slots)

    @property
    def most_turns(self) -> int | None:
        """How many turns of a conversation make it leave; None where that is no trigger."""
        return self.turns if Trigger.TURNS in self.triggers else None

    @property
    def options(self) -> ExtractionOptions:
        """What the extractor is asked for."""
        return ExtractionOptions(
            max_entry_tokens=self.max_entry_tokens,
            prompt=self.prompt,
            roles=tuple(role for role in SPEAKING if role in self.roles),
        )

    @property
    def rules(self) -> Rules:
        """Those of the short-term buffer."""
        return Rules(
            capacity_tokens=self.shortterm_tokens,
            triggers=self.triggers,
            turns=self.turns,
            granularity=self.granularity,
        )

    def with_own(self, own: CollectionSettings) -> "WalkSettings":
        """These with what a collection sets over them."""
        found: dict[str, Any] = {
            "compress": own.compression,
            "rate": own.rate,
            "window_tokens": own.window_tokens,
            "shortterm_tokens": own.short_term_tokens,
            "triggers": None if own.triggers is None else frozenset(own.triggers),
            "turns": own.turns,
            "granularity": own.granularity,
            "roles": None if own.roles is None else frozenset(own.roles),
            "min_shift": own.min_shift,
            "prompt": own.prompt,
            "max_entry_tokens": own.max_entry_tokens,
            "slots": None if own.slots is None else slots_of(own.slots),
        }
        return replace(self, **{name: value for name, value in found.items() if value is not None})


class Plans:
    """The plan of each collection; what the same settings make is worked out once."""

    def __init__(self, service: WalkSettings) -> None:
        self._service = service
        self._known: dict[str, WalkSettings] = {}

    def of(self, settings: Mapping[str, Json]) -> WalkSettings:
        """The plan of a collection with these settings of its own, as they are stored."""
        if not settings:
            return self._service
        key = json.dumps(settings, sort_keys=True)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[key] = self._made(settings)
        return known

    def _made(self, settings: Mapping[str, Json]) -> WalkSettings:
        try:
            return self._service.with_own(collection_settings(settings))
        except InputError as error:
            # Nothing gets in unchecked; a damaged row must not hold up the other collections.
            log.error("a collection is walked by the service's settings: %s", error)
            return self._service
