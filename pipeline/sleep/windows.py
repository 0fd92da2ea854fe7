"""When a tenant sleeps: windows by cron in its zone, and after a time without messages.

Source: arXiv 2510.18866, section 3.3, leaves the hour to the operator. A window begins at an
instant that any scheduler works out alike, so that a run is known by its tenant and its start.
Knows nothing of runs, stores and the present.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

from pipeline.errors import InputError
from pipeline.text.zones import zone_info

LONGEST_S = 86_400.0
"""A window is at most a day long."""

_CLOCK_CHANGE = timedelta(hours=2)

NIGHTLY = "nightly"
"""What a window is called unless it has another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When one tenant sleeps, for how long, and for how many tokens.

    ``name`` is what the window is asked for by. ``cron`` holds five fields, read in ``zone``; None
    sleeps only after ``idle_s`` without a message; both may be given. A run ends cleanly
    ``max_s`` after its window began, or once it used ``max_tokens`` (None: no limit).

    Raises:
        InputError: neither a cron nor an idle time is given, or one of the values is wrong.
    """

    name: str = NIGHTLY
    cron: str | None = None
    zone: str = "UTC"
    max_s: float = 4 * 3600.0
    max_tokens: int | None = None
    idle_s: float | None = None

    def __post_init__(self) -> None:
        if self.cron is None and self.idle_s is None:
            raise InputError("expected a cron, an idle time, or both; got neither", field="cron")
        _check_seconds(self.max_s, field="max_s")
        if self.idle_s is not None:
            _check_seconds(self.idle_s, field="idle_s")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InputError(
                f"expected at least 1 token, got {self.max_tokens}", field="max_tokens"
            )
        zone_info(self.zone)
        if self.cron is not None:
            _ticks(self.cron, datetime(2000, 1, 1, tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One night: it begins at ``start`` and is over at ``end``, both in UTC."""

    start: datetime
    end: datetime


def open_window(schedule: Schedule, now: datetime) -> Window | None:
    """The window that ``now`` lies in, the one that began last; None between windows."""
    if schedule.cron is None:
        return None
    # Ticks forward from before any repeated hour: backwards, those of one hour would be left out.
    reach = timedelta(seconds=schedule.max_s) + _CLOCK_CHANGE
    local = (now.astimezone(UTC) - reach).astimezone(zone_info(schedule.zone)[0])
    last = None
    for tick in _ticks(schedule.cron, local):
        if tick > now:
            break
        last = tick
    window = None if last is None else _window(schedule, last)
    return window if window is not None and window.end > now else None


def next_window(schedule: Schedule, now: datetime) -> Window | None:
    """The first window that begins after ``now``; None where none ever does."""
    if schedule.cron is None:
        return None
    local = now.astimezone(zone_info(schedule.zone)[0])
    start = next(_ticks(schedule.cron, local), None)
    return None if start is None else _window(schedule, start)


def idle_window(schedule: Schedule, *, last_message_at: datetime, now: datetime) -> Window | None:
    """The window that a silence opened: it began ``idle_s`` after the last message.

    None without an idle time, or while the silence is shorter. A silence opens one window, whenever
    it is noticed, so its time runs from ``now``.
    """
    if schedule.idle_s is None:
        return None
    start = last_message_at + timedelta(seconds=schedule.idle_s)
    if start > now:
        return None
    return Window(start=start.astimezone(UTC), end=now + timedelta(seconds=schedule.max_s))


def _window(schedule: Schedule, start: datetime) -> Window:
    begin = start.astimezone(UTC)
    return Window(start=begin, end=begin + timedelta(seconds=schedule.max_s))


def _ticks(cron: str, begin: datetime) -> Iterator[datetime]:
    """The instants of a cron from ``begin`` on. Raises InputError for what is no cron."""
    if len(cron.split()) != 5:
        raise InputError(
            f"expected a cron of five fields (minute hour day month weekday), got {cron!r}",
            field="cron",
        )
    try:
        return CronSim(cron, begin)
    except CronSimError as exc:
        raise InputError(f"expected a cron, got {cron!r}: {exc}", field="cron") from exc


def _check_seconds(value: float, *, field: str) -> None:
    if not (math.isfinite(value) and 0 < value <= LONGEST_S):
        raise InputError(
            f"expected more than 0 and at most {LONGEST_S:.0f} seconds, got {value:g}", field=field
        )
