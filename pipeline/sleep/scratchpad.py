"""The scratchpad brought in line with the entries: what each item must be, given what holds now.

Source: arXiv 2510.27246 (LIGHT), scratchpad. Where we differ: items follow their entries one by one
instead of being written anew, a contradiction is marked instead of dropped, and what a user wrote
or removed is left as it is. The outcome depends on the present state alone, so doing it twice
changes nothing the second time. Knows nothing of stores and models.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from pipeline.entries import CURRENT, Entry, Kind, Status, Writer
from pipeline.ids import EntryId, ItemId, item_id
from pipeline.scratchpad import Arrivals, Item, ItemStatus, ItemWrite
from pipeline.sleep.contradictions import contradictions

_HELD = (Writer.USER, Writer.UNDO)
"""Whose last word on an item sleep does not judge anew."""

Items = dict[ItemId, Item]


def new_item(entry: Entry, slot: str, *, writer: Writer, now: datetime) -> Item:
    """The first version of the item that an entry becomes."""
    return Item(
        id=item_id(entry.id),
        version=1,
        slot=slot,
        text=entry.text,
        status=ItemStatus.ACTIVE,
        said_at=entry.said_at,
        sources=entry.sources,
        entries=(entry.id,),
        written_by=writer,
        written_at=now,
    )


def followed(item: Item, entry: Entry, arrivals: Arrivals) -> Item:
    """The item as its one entry has it, in the same version and writer.

    Itself where a user wrote it or it was removed. A folded one comes back when its words change.
    """
    if item.written_by is Writer.USER or item.status is ItemStatus.REMOVED:
        return item
    told = replace(
        item,
        slot=arrivals.get(entry.kind, item.slot),
        text=entry.text,
        said_at=entry.said_at,
        sources=entry.sources,
    )
    if entry.status not in CURRENT:
        newer = None if entry.superseded_by is None else item_id(entry.superseded_by)
        return replace(told, status=ItemStatus.OUTDATED, superseded_by=newer)
    if item.status is ItemStatus.FOLDED and item.text == entry.text:
        return told
    return replace(told, status=ItemStatus.ACTIVE, superseded_by=None)


def reconciled(
    items: Iterable[Item], entries: Mapping[EntryId, Entry], arrivals: Arrivals, *, now: datetime
) -> list[ItemWrite]:
    """What has to be written so that the scratchpad agrees with the entries, oldest items first.

    Args:
        items: all of the collection, whatever their status.
        entries: all of the collection, whatever their status.
    """
    before = {item.id: item for item in items}
    after = dict(before)
    _follow(after, entries, arrivals)
    _arrive(after, entries, arrivals, now)
    _unfold(after, before)
    _mark(after, before, entries)
    return list(_writes(before, after, now))


def _follow(after: Items, entries: Mapping[EntryId, Entry], arrivals: Arrivals) -> None:
    for id_, item in after.items():
        if len(item.entries) == 1 and item_id(item.entries[0]) == id_:
            entry = entries.get(item.entries[0])
            after[id_] = item if entry is None else followed(item, entry, arrivals)


def _arrive(
    after: Items, entries: Mapping[EntryId, Entry], arrivals: Arrivals, now: datetime
) -> None:
    """Items of entries that came another way than by extraction, or before their slot was named."""
    for entry in entries.values():
        slot = arrivals.get(entry.kind)
        if slot is not None and entry.status in CURRENT and item_id(entry.id) not in after:
            made = new_item(entry, slot, writer=Writer.SLEEP, now=now)
            after[made.id] = made


def _unfold(after: Items, before: Mapping[ItemId, Item]) -> None:
    """What a shorter item took in comes back once that no longer tells what was taken in.

    A shorter item may have been taken in by another, so this goes on until nothing changes.
    """
    taken_in = defaultdict(list)
    for item in before.values():
        if item.status is ItemStatus.FOLDED and item.superseded_by is not None:
            taken_in[item.superseded_by].append(item.id)
    is_open = True
    while is_open:
        is_open = False
        for shorter, parts in taken_in.items():
            if _is_stale(shorter, parts, after, before):
                is_open = True
                _take_apart(shorter, parts, after)


def _is_stale(
    shorter: ItemId, parts: Iterable[ItemId], after: Items, before: Mapping[ItemId, Item]
) -> bool:
    """Whether parts wait to come back, or the shorter item still stands for a part that changed."""
    folded = [part for part in parts if _is_in(after[part], shorter)]
    whole = after.get(shorter)
    if whole is None or whole.status is ItemStatus.OUTDATED:
        return bool(folded)
    stands = whole.status in (ItemStatus.ACTIVE, ItemStatus.FOLDED)
    has_changed = any(not _is_in(after[part], shorter) for part in parts)
    return stands and whole.written_by is not Writer.USER and has_changed


def _is_in(item: Item, shorter: ItemId) -> bool:
    return item.status is ItemStatus.FOLDED and item.superseded_by == shorter


def _take_apart(shorter: ItemId, parts: Iterable[ItemId], after: Items) -> None:
    if shorter in after:
        whole = after[shorter]
        after[shorter] = replace(whole, status=ItemStatus.OUTDATED, superseded_by=None)
    for part in parts:
        if _is_in(after[part], shorter):
            after[part] = replace(after[part], status=ItemStatus.ACTIVE, superseded_by=None)


def _mark(after: Items, before: Mapping[ItemId, Item], entries: Mapping[EntryId, Entry]) -> None:
    """Writes at each item which others say otherwise; the newer of two is the one to believe."""
    by_item = {item_id(entry.id): entry for entry in entries.values()}
    active = [item for item in after.values() if item.status is ItemStatus.ACTIVE]
    marks: dict[ItemId, set[ItemId]] = defaultdict(set)
    for older, newer in contradictions(_comparable(active, by_item)):
        # What a user wrote is not touched: then the other one carries the mark.
        marked, by = (newer, older) if after[older].written_by is Writer.USER else (older, newer)
        marks[marked].add(by)
    for id_, entry in by_item.items():
        if entry.status is Status.CONTRADICTED and entry.superseded_by is not None:
            marks[id_].add(item_id(entry.superseded_by))
    for id_, item in after.items():
        known = before.get(id_)
        if known is None or known.written_by not in _HELD:
            after[id_] = replace(item, conflicts=tuple(sorted(marks[id_])))


def _comparable(
    active: Iterable[Item], by_item: Mapping[ItemId, Entry]
) -> Iterator[tuple[Item, Entry | None]]:
    """Items that can be held against each other; events of different days are different events."""
    for item in active:
        entry = by_item.get(item.id)
        if entry is None or entry.kind is not Kind.EVENT:
            yield item, entry


def _writes(before: Mapping[ItemId, Item], after: Items, now: datetime) -> Iterator[ItemWrite]:
    for item in sorted(after.values(), key=lambda one: (one.said_at, one.id)):
        old = before.get(item.id)
        if old is None:
            yield ItemWrite(before=None, after=item, why="its entry was there before it")
        elif item != old:
            changed = replace(
                item, version=old.version + 1, written_by=Writer.SLEEP, written_at=now
            )
            yield ItemWrite(before=old, after=changed, why=_why(old, item))


def _why(old: Item, new: Item) -> str:
    if old.status is not new.status:
        reasons = {
            ItemStatus.OUTDATED: "what it rests on no longer holds",
            ItemStatus.ACTIVE: "what it rests on holds again",
        }
        return reasons[new.status]
    if old.text != new.text:
        return "its entry says it otherwise now"
    if old.conflicts != new.conflicts:
        return "another item says otherwise" if new.conflicts else "no other item says otherwise"
    return "it follows its entry"
