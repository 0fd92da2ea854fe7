"""From when to when each version of an entry says what held.

A version is written when somebody learns of it; here it counts from when it was said. So a memory
that was built in one night from a year of conversations still answers for each month of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.entries import CURRENT, Entry, Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From ``start`` on, until ``end`` where there is one, which belongs to it no more."""

    start: datetime
    end: datetime | None

    def holds_at(self, instant: datetime) -> bool:
        """Whether the instant lies inside."""
        return self.start <= instant and (self.end is None or instant < self.end)


def periods(versions: Sequence[Entry]) -> list[Period | None]:
    """Per version when it held; None for one that never did. No two overlap.

    The first counts from ``valid_from``, a later one from ``said_at``; what a user corrects was
    wrong from its beginning, and what undo restores holds as if nothing had come between. The end
    is that of the newest version: its ``valid_to``, or when it was archived.

    Args:
        versions: of one entry, oldest first; not empty.
    """
    starts: list[datetime] = []
    for place, version in enumerate(versions):
        starts.append(_start(version, versions[:place], starts))
    found: list[Period | None] = []
    end = _end(versions[-1])
    for version, start in zip(reversed(versions), reversed(starts), strict=True):
        is_held = version.status in CURRENT and (end is None or start < end)
        found.append(Period(start=start, end=end) if is_held else None)
        end = start if is_held else end
    return found[::-1]


def version_at(versions: Sequence[Entry], instant: datetime) -> Entry | None:
    """The version that held at an instant; None where none did."""
    for version, period in zip(versions, periods(versions), strict=True):
        if period is not None and period.holds_at(instant):
            return version
    return None


def _start(version: Entry, earlier: Sequence[Entry], starts: Sequence[datetime]) -> datetime:
    if not earlier:
        return version.valid_from
    match version.written_by:
        case Writer.USER:
            text = earlier[-1].text
        case Writer.UNDO:
            text = version.text
        case Writer.INGEST | Writer.SLEEP:
            return max(version.said_at, version.valid_from)
    same = [start for one, start in zip(earlier, starts, strict=True) if one.text == text]
    return min(same, default=starts[-1])


def _end(newest: Entry) -> datetime | None:
    if newest.valid_to is None and newest.status not in CURRENT:
        return newest.written_at
    return newest.valid_to
