"""What rules for relative dates share: their form and the arithmetic of the calendar.

Weeks begin on Monday. Results outside the years 1 to 9999 raise OverflowError or ValueError.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A relative date found in a text, and the day the text was said."""

    match: re.Match[str]
    day: date

    def part(self, name: str) -> str:
        """A named group in lower case, empty where it did not take part."""
        return (self.match[name] or "").lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A pattern and what to write instead; None leaves the words as they are.

    The pattern is tried where one of ``words`` is in the text in lower case, or there are none.
    """

    pattern: re.Pattern[str]
    write: Callable[[Place], str | None]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All rules of a language.

    A text in which ``hint`` is not found needs none of them; what begins inside ``chance`` only
    looks like a date.
    """

    hint: re.Pattern[str]
    chance: re.Pattern[str]
    rules: tuple[Rule, ...]


def days_from(day: date, days: int) -> date:
    """The day that many days later, earlier where negative."""
    return day + timedelta(days=days)


def monday(day: date, weeks: int) -> date:
    """The Monday of the week that many weeks from the day's own."""
    return day + timedelta(days=7 * weeks - day.weekday())


def month_from(day: date, months: int) -> date:
    """The first day of the month that many months from the day's own."""
    count = day.year * 12 + day.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)


def same_day(day: date, months: int) -> date:
    """That day that many months from it, or the month's last where it has no such day."""
    first = month_from(day, months)
    last = days_from(month_from(first, 1), -1)
    return first.replace(day=min(day.day, last.day))


def weekday_before(day: date, weekday: int) -> date:
    """The last such weekday (0 Monday .. 6 Sunday) before the day."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def weekday_after(day: date, weekday: int) -> date:
    """The next such weekday (0 Monday .. 6 Sunday) after the day."""
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)
