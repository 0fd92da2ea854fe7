"""Entries that say the same in nearly the same words, and the one that is left of them.

Ingestion joins statements whose normalised texts are equal; here texts count as equal that differ
in case, punctuation, articles and fillers alone. Nothing else is guessed: word order, tense,
numbers, names and negations must agree. Linear in the number of entries.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.entries import Entry, Kind, Status, Writer
from pipeline.ids import EntryId

_TOKEN = re.compile(r"[^\W_]+(?:[.:'’/+#@-][^\W_]+)*[%+#]*|[$€£¥]")
_FILLERS = frozenset(("a", "an", "the", "oh", "hey", "really", "please"))
_PARTICLES = re.compile(r"[呢吧啊呀哦嘛啦噢嗯]+(?=[，。！？；、,.!?;\s]|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Entries that say the same: the one that stays, and those that it takes in; never empty."""

    stays: Entry
    taken_in: tuple[Entry, ...]


def words_of(text: str) -> tuple[str, ...]:
    """What of a text counts when two are compared: its words in order, less fillers."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    words = _TOKEN.findall(_PARTICLES.sub("", folded))
    return tuple(word for word in words if word not in _FILLERS)


def duplicates(entries: Iterable[Entry], *, new: Collection[EntryId]) -> list[Duplicates]:
    """Groups of active entries of one speaker and kind that say the same, oldest group first.

    Only where one of them is among ``new``: what was looked at before, or taken apart by undo, is
    left. The one that stays is the oldest, or the oldest that a user corrected. An event counts as
    the same only on the same day.
    """
    groups: dict[tuple[object, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        words = words_of(entry.text) if entry.status is Status.ACTIVE else ()
        if words:
            groups[(words, *_place(entry))].append(entry)
    found = [
        _group(same)
        for same in groups.values()
        if len(same) > 1 and any(entry.id in new for entry in same)
    ]
    return sorted(found, key=lambda one: (one.stays.order, one.stays.id))


def _place(entry: Entry) -> tuple[object, ...]:
    day = entry.valid_from.date() if entry.kind is Kind.EVENT else None
    return (entry.speaker.casefold(), entry.kind, day)


def _group(same: Iterable[Entry]) -> Duplicates:
    stays, *others = sorted(
        same, key=lambda entry: (entry.written_by is not Writer.USER, entry.order, entry.id)
    )
    return Duplicates(stays=stays, taken_in=tuple(others))


def merged(found: Duplicates, *, now: datetime) -> tuple[Entry, list[Entry]]:
    """The next versions: of the entry that stays, and of those that it took in.

    It keeps its words and has every source, the newest time and order, and holds since the first
    of them was said; the others are outdated, superseded by it.
    """
    everyone = [found.stays, *found.taken_in]
    newest = max(everyone, key=lambda entry: (entry.order, entry.id))
    by_age = sorted(everyone, key=lambda entry: (entry.order, entry.id), reverse=True)
    stays = replace(
        found.stays,
        version=found.stays.version + 1,
        order=newest.order,
        said_at=newest.said_at,
        zone=newest.zone,
        valid_from=min(entry.valid_from for entry in everyone),
        sources=tuple(dict.fromkeys(source for entry in by_age for source in entry.sources)),
        strength=max(entry.strength for entry in everyone),
        written_by=Writer.SLEEP,
        written_at=now,
    )
    return stays, [_taken_in(entry, stays, now) for entry in found.taken_in]


def _taken_in(entry: Entry, stays: Entry, now: datetime) -> Entry:
    return replace(
        entry,
        version=entry.version + 1,
        status=Status.OUTDATED,
        superseded_by=stays.id,
        valid_to=stays.said_at,
        written_by=Writer.SLEEP,
        written_at=now,
    )
