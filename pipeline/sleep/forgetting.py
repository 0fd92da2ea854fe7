"""Strength that use raises and time lowers, and what is archived because it stayed weak.

Strength is stored as use left it; what time took from it is worked out when it is read, so nothing
is rewritten for the passing of time. Knows nothing of stores and the clock.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from pipeline.entries import CURRENT, Entry, Kind, Status, Writer

USED_FACTOR = 1.2
"""What one use in a context or an answer makes of an entry's strength."""

MOST_STRENGTH = 5.0
"""No use makes an entry stronger than this; a new one has 1."""

HALF_LIFE_DAYS: Mapping[Kind, float | None] = MappingProxyType(
    {
        Kind.FACT: 365.0,
        Kind.OPINION: 180.0,
        Kind.PREFERENCE: 730.0,
        Kind.INSTRUCTION: None,
        Kind.EVENT: 365.0,
        Kind.TASK: 180.0,
        Kind.RELATION: 730.0,
        Kind.SUMMARY: 365.0,
    }
)
"""How long each kind takes to lose half of its strength, unless settings say otherwise."""

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """When an entry is archived: below ``floor``, or where more than ``capacity`` are current.

    ``half_life_days`` is per kind; None, or a kind that is not named, never decays and is never
    archived. Strength and ``floor`` are in 0..5; ``capacity`` None is no limit.
    """

    half_life_days: Mapping[Kind, float | None]
    floor: float
    capacity: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weak:
    """An entry to be archived, and why."""

    entry: Entry
    reason: str


def strengthened(strength: float) -> float:
    """The strength after one more use, at most ``MOST_STRENGTH``."""
    return min(MOST_STRENGTH, strength * USED_FACTOR)


def strength_at(entry: Entry, now: datetime, *, half_life_days: float | None) -> float:
    """What is left of the entry's strength at an instant, above 0; all of it without a half-life.

    Time counts from the last use or the last writing, whichever is later.
    """
    if half_life_days is None:
        return entry.strength
    days = (now - touched_at(entry)).total_seconds() / _DAY_S
    return float(entry.strength * 0.5 ** max(0.0, days / half_life_days))


def touched_at(entry: Entry) -> datetime:
    """When the entry was last used or written."""
    return max(entry.written_at, entry.last_used_at or entry.written_at)


def faded_before(policy: Forgetting, now: datetime) -> dict[Kind, datetime]:
    """Per kind that decays the instant before which an entry of strength 1 has sunk to the floor.

    Who was last touched later is above it, however weak.
    """
    if policy.floor <= 0:
        return {}
    halvings = max(0.0, math.log2(1.0 / policy.floor))
    return {
        kind: now - timedelta(days=days * halvings)
        for kind, days in policy.half_life_days.items()
        if days is not None
    }


def weak(
    entries: Iterable[Entry], policy: Forgetting, *, now: datetime, has_grown: bool = True
) -> list[Weak]:
    """The entries to archive, weakest first; of equally weak ones the older first.

    What undo brought back is left alone until someone writes it again, and counts for nothing.

    Args:
        entries: those of one collection, of any status.
        has_grown: whether anything was written by ingestion or a user; without it the capacity is
            not looked at.
    """
    held = [e for e in entries if e.status in CURRENT and e.written_by is not Writer.UNDO]
    ranked = sorted(
        (strength_at(e, now, half_life_days=days), e.order, e.id, e)
        for e in held
        if (days := policy.half_life_days.get(e.kind)) is not None
    )
    below = [one for one in ranked if one[0] < policy.floor]
    over = 0
    if policy.capacity is not None and has_grown:
        over = len(held) - len(below) - policy.capacity
    faded = [
        Weak(entry=e, reason=f"strength {strength:.3f} is below {policy.floor:g}")
        for strength, _, _, e in below
    ]
    crowded = [
        Weak(entry=e, reason=f"among the weakest beyond {policy.capacity} entries ({strength:.3f})")
        for strength, _, _, e in ranked[len(below) : len(below) + max(0, over)]
    ]
    return [*faded, *crowded]


def archived(entry: Entry, *, now: datetime) -> Entry:
    """The entry's next version, archived by sleep: found by nobody, and restored on demand."""
    return replace(
        entry,
        version=entry.version + 1,
        status=Status.ARCHIVED,
        written_by=Writer.SLEEP,
        written_at=now,
    )


def unarchived(entry: Entry, versions: Sequence[Entry], *, now: datetime) -> Entry:
    """The next version of an archived entry, as current as it was; itself where it is current.

    Args:
        versions: those before, oldest first.
    """
    if entry.status is not Status.ARCHIVED:
        return entry
    before = [one.status for one in versions if one.status in CURRENT]
    return replace(
        entry,
        version=entry.version + 1,
        status=before[-1] if before else Status.ACTIVE,
        valid_to=None,
        superseded_by=None,
        written_by=Writer.USER,
        written_at=now,
    )
