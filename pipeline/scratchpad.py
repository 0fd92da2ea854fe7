"""The scratchpad's values: slots of stable, high-value items, and which kinds arrive in which slot.

Source: arXiv 2510.27246 (LIGHT), scratchpad. Where we differ: an item says what it rests on and
when it was said, has versions, and a person's edit of it stands above everything that sleep does.
Knows nothing of stores.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pipeline.entries import Kind, Writer
from pipeline.ids import EntryId, ItemId, MessageId, RunId


class ItemStatus(StrEnum):
    """Whether an item is shown: only an active one is.

    Outdated follows its entry, which no longer holds; folded was taken into a shorter item or left
    out by compression; removed was taken away by a user or by undo.
    """

    ACTIVE = "active"
    OUTDATED = "outdated"
    FOLDED = "folded"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A named part of the scratchpad; items of a protected one are never compressed."""

    name: str
    kinds: tuple[Kind, ...] = ()
    is_protected: bool = False


DEFAULT_SLOTS = (
    Slot(name="profile", kinds=(Kind.FACT, Kind.RELATION)),
    Slot(name="preferences", kinds=(Kind.PREFERENCE, Kind.OPINION)),
    Slot(name="instructions", kinds=(Kind.INSTRUCTION,), is_protected=True),
    Slot(name="timeline", kinds=(Kind.EVENT,)),
    Slot(name="open_loops", kinds=(Kind.TASK,), is_protected=True),
)
"""The slots of a service and a collection that name no others."""


def slot_of_kind(slots: Iterable[Slot]) -> dict[Kind, str]:
    """Per kind the slot in which its entries arrive; the other kinds arrive in none."""
    return {kind: slot.name for slot in slots for kind in slot.kinds}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One scratchpad item in its present version.

    ``entries`` and ``sources`` are what it rests on, empty where a user wrote it; ``said_at`` is
    that of the newest. ``conflicts`` are items that say otherwise; ``superseded_by`` is the item
    that took its place.
    """

    id: ItemId
    version: int
    slot: str
    text: str
    status: ItemStatus
    said_at: datetime
    written_by: Writer
    written_at: datetime
    sources: tuple[MessageId, ...] = ()
    entries: tuple[EntryId, ...] = ()
    conflicts: tuple[ItemId, ...] = ()
    superseded_by: ItemId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemVersion:
    """A version as it was written: the item then, and why."""

    item: Item
    why: str
    run: RunId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEdit:
    """What a user changes of an item; None leaves a field as it is."""

    text: str | None = None
    slot: str | None = None
    status: ItemStatus | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemWrite:
    """An item in its next version and why; ``before`` is None for a new one."""

    before: Item | None
    after: Item
    why: str


Arrivals = Mapping[Kind, str]
"""Kind to the slot in which its entries arrive."""
