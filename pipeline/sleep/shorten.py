"""Which scratchpad items give way when the scratchpad has grown too long.

Source: arXiv 2510.27246 (LIGHT): above 30,000 tokens it is made to fit 15,000. Where we differ:
instructions, open loops and what a user wrote are never shortened, what gives way stays readable
and can come back, and what is shortened still says what it was made of. Knows nothing of models.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.entries import Writer
from pipeline.ids import ItemId, RunId, shorter_item_id
from pipeline.scratchpad import Item, ItemStatus, ItemWrite, Slot

_LEAST_SHARE = 0.25
"""What the rest gets of both thresholds, however much the protected items take."""

_MOST_SAID = 3
"""To have been said more often than this makes an item no more valuable."""

Tokens = Mapping[ItemId, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overfull:
    """Items that may give way, oldest first, and the tokens that may be left of them."""

    items: tuple[Item, ...]
    room_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shorter:
    """A shorter text in the place of the items that it was made of; never empty."""

    slot: str
    text: str
    made_of: tuple[Item, ...]


def is_protected(item: Item, protected: Collection[str]) -> bool:
    """Whether the item is never shortened: by its slot, or since a user wrote it."""
    return item.slot in protected or item.written_by is Writer.USER


def overfull(
    items: Iterable[Item],
    tokens: Tokens,
    slots: Sequence[Slot],
    *,
    threshold_tokens: int,
    target_tokens: int,
) -> Overfull | None:
    """What has to give way; None while the active items are within the threshold.

    After it gave way, nothing has to the next time: protected items leave the others at least a
    quarter of the threshold, and then a quarter of the target. What undo brought back takes no
    room: it must not push out what the run had left.
    """
    protected = {slot.name for slot in slots if slot.is_protected}
    active = [
        item
        for item in items
        if item.status is ItemStatus.ACTIVE and item.written_by is not Writer.UNDO
    ]
    loose = [item for item in active if not is_protected(item, protected)]
    taken = sum(tokens[item.id] for item in loose)
    kept = sum(tokens[item.id] for item in active) - taken
    if taken <= max(threshold_tokens - kept, int(threshold_tokens * _LEAST_SHARE)):
        return None
    room = max(target_tokens - kept, int(target_tokens * _LEAST_SHARE))
    return Overfull(items=tuple(sorted(loose, key=_age)), room_tokens=room)


def _age(item: Item) -> tuple[datetime, str]:
    return item.said_at, item.id


def best(items: Iterable[Item], tokens: Tokens, *, room_tokens: int) -> frozenset[ItemId]:
    """The items that stay where no model can shorten them, within the room.

    Each slot has its share of the room by what it holds; inside it what nothing contradicts stays
    first, then what was said more often, then the newest.
    """
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item.slot].append(item)
    total = max(1, sum(tokens[item.id] for group in groups.values() for item in group))
    stays: set[ItemId] = set()
    for group in groups.values():
        share = room_tokens * sum(tokens[item.id] for item in group) // total
        for item in sorted(group, key=_value, reverse=True):
            if tokens[item.id] <= share:
                stays.add(item.id)
                share -= tokens[item.id]
    return frozenset(stays)


def _value(item: Item) -> tuple[bool, int, datetime, str]:
    return (not item.conflicts, min(len(item.sources), _MOST_SAID), item.said_at, item.id)


def left_out(items: Iterable[Item], *, why: str, now: datetime) -> list[ItemWrite]:
    """The items' next versions, folded into nothing: no longer shown, and still there."""
    return [
        ItemWrite(before=item, after=_folded(item, None, now), why=why)
        for item in sorted(items, key=_age)
    ]


def taken_in(shorter: Shorter, run: RunId, *, why: str, now: datetime) -> list[ItemWrite]:
    """The new shorter item, and the next versions of those that it was made of."""
    parts = sorted(shorter.made_of, key=_age, reverse=True)
    made = Item(
        id=shorter_item_id(run, shorter.slot, [part.id for part in parts]),
        version=1,
        slot=shorter.slot,
        text=shorter.text,
        status=ItemStatus.ACTIVE,
        said_at=parts[0].said_at,
        sources=tuple(dict.fromkeys(source for part in parts for source in part.sources)),
        entries=tuple(dict.fromkeys(entry for part in parts for entry in part.entries)),
        written_by=Writer.SLEEP,
        written_at=now,
    )
    folded = [ItemWrite(before=one, after=_folded(one, made.id, now), why=why) for one in parts]
    return [ItemWrite(before=None, after=made, why=why), *folded]


def _folded(item: Item, into: ItemId | None, now: datetime) -> Item:
    return replace(
        item,
        version=item.version + 1,
        status=ItemStatus.FOLDED,
        conflicts=(),
        superseded_by=into,
        written_by=Writer.SLEEP,
        written_at=now,
    )
