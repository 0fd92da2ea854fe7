"""What of a scratchpad a question needs: the items that bear on it, and what always holds.

Source: arXiv 2510.27246 (LIGHT), section 3.3, where a model is asked about each chunk. Where we
differ: words and vectors decide, and standing instructions are considered without being asked for.
Knows nothing of stores.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from pipeline.entries import Entry, Writer
from pipeline.ids import EntryId, ItemId, identity, item_id
from pipeline.recall.lexical import terms
from pipeline.scratchpad import Item, ItemStatus

MIN_SHARE = 0.2
"""The least share of a question's weight in words that an item without a vector must hold."""


def relevant(items: Sequence[Item], question: str, *, near: Mapping[EntryId, float]) -> list[Item]:
    """The items that bear on the question, the most relevant first.

    An item counts by the share of the question's words it holds, rare ones more, and by the cosine
    of the entry it rests on where that is known; one without either is left out.

    Args:
        near: cosines with the question, of the entries at hand.
    """
    asked = frozenset(terms(question))
    held = [_terms(item.text) & asked for item in items]
    frequency = Counter(term for one in held for term in one)
    rarity = {term: math.log(1 + len(items) / (1 + frequency[term])) for term in asked}
    whole = sum(rarity.values()) or 1.0
    scored: list[tuple[float, Item]] = []
    for item, words in zip(items, held, strict=True):
        share = sum(rarity[term] for term in sorted(words)) / whole
        cosines = [near[entry] for entry in item.entries if entry in near]
        if share >= MIN_SHARE or cosines:
            scored.append((share + max(cosines, default=0.0), item))
    return [item for _, item in sorted(scored, key=lambda one: (-one[0], one[1].id))]


def standing(
    entries: Iterable[Entry], items: Collection[Item], *, slots: Collection[str]
) -> list[Entry | Item]:
    """Standing instructions, newest first: those entries, and what a person made of them.

    What a person wrote takes the place of its entry, what a person removed is left out.

    Args:
        items: active and removed ones.
        slots: those in which instructions arrive.
    """
    known = {item.id: item for item in items}
    found: list[Entry | Item] = []
    shown: set[ItemId] = set()
    for entry in entries:
        item = known.get(item_id(entry.id))
        shown.add(item_id(entry.id))
        if item is None or (
            item.status is ItemStatus.ACTIVE and item.written_by is not Writer.USER
        ):
            found.append(entry)
        elif item.status is ItemStatus.ACTIVE:
            found.append(item)
    found += [
        item
        for item in items
        if item.slot in slots and item.status is ItemStatus.ACTIVE and item.id not in shown
    ]
    return sorted(found, key=lambda one: (one.said_at, one.id), reverse=True)


def holding(items: Iterable[Item], current: Mapping[EntryId, Entry]) -> list[Item]:
    """The items that still hold and say what no entry of theirs says in the same words.

    Those words are found as an entry's, where they are near enough to the question.

    Args:
        current: those of the entries they rest on that hold now.
    """
    return [item for item in items if _holds(item, current) and not _is_said(item, current)]


def _holds(item: Item, current: Mapping[EntryId, Entry]) -> bool:
    return (
        item.written_by is Writer.USER
        or not item.entries
        or any(entry in current for entry in item.entries)
    )


def _is_said(item: Item, current: Mapping[EntryId, Entry]) -> bool:
    same = identity(item.text, "", "")
    return any(
        entry in current and identity(current[entry].text, "", "") == same for entry in item.entries
    )


@lru_cache(maxsize=20_000)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))
