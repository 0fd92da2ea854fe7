"""Absolute dates in a text: which days it names, and where. Knows nothing of relative ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from pipeline.text.times import MONTHS

MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
"""English names of the months, whatever the host's locale."""

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_WEEKDAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)"
_FORMS = (
    re.compile(
        rf"(?<!\w)(?:{_WEEKDAY}(?:,|\s|,\s))?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+"
        rf"(?P<mo>{_MONTH})\.?,?\s+(?P<y>\d{{4}})(?!\d)",
        re.IGNORECASE | re.ASCII,
    ),
    re.compile(
        rf"(?<!\w)(?:{_WEEKDAY}(?:,|\s|,\s))?(?P<mo>{_MONTH})\.?\s+(?P<d>\d{{1,2}})"
        r"(?:st|nd|rd|th)?,?\s+(?P<y>\d{4})(?!\d)",
        re.IGNORECASE | re.ASCII,
    ),
    re.compile(r"(?<![\d/.-])(?P<y>\d{4})[-/.](?P<mo>\d{1,2})[-/.](?P<d>\d{1,2})(?![\d/-])"),
    re.compile(
        r"(?<!\d)(?P<y>\d{4})\s?年\s?(?P<mo>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?[日号]"
        r"(?:[（(]?(?:周|星期|礼拜)[一二三四五六日天][)）]?(?![岁年]))?"
    ),
)
_SPAN_BEFORE = re.compile(r"(?:week|weekend|month)\s+of\s+$|around\s+$", re.IGNORECASE)
_SPAN_AFTER = re.compile(r"那周|那个周末|左右")


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A day at ``start:end`` of its text; ``text`` is how it is written, with what widens it.

    ``is_exact`` is false where it stands for a week, a weekend or a time about it.
    """

    start: int
    end: int
    day: date
    text: str
    is_exact: bool


def days_in(text: str) -> list[Day]:
    """The days that the text names with day, month and year, in order; none that no calendar has.

    A weekday beside a date belongs to it.
    """
    if not any(sign.isdigit() for sign in text):
        return []
    found = sorted(_found(text), key=lambda each: (each.start, -each.end))
    kept: list[Day] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _found(text: str) -> Iterator[Day]:
    for form in _FORMS:
        for match in form.finditer(text):
            month = match["mo"].lower()
            try:
                day = date(int(match["y"]), MONTHS.get(month) or int(month), int(match["d"]))
            except ValueError:
                continue
            yield _day(text, match, day)


def _day(text: str, match: re.Match[str], day: date) -> Day:
    before = _SPAN_BEFORE.search(text[max(0, match.start() - 12) : match.start()])
    after = _SPAN_AFTER.match(text, match.end())
    widened = after.group() if after else ""
    return Day(
        start=match.start(),
        end=match.end(),
        day=day,
        text=(before.group() if before else "") + match.group() + widened,
        is_exact=before is None and not widened,
    )
