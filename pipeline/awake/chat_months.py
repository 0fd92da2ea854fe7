"""The months in a chat model's statement that stand without a day, held against its messages.

A month must be one that the messages name, alone or in a day, with the year where they have one.
Where they name none it must be that of saying. Where they speak of a season, a feast or a month
that is only described, any is taken.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from pipeline.awake.chat_check import Said, dated
from pipeline.text.days import MONTH_NAMES, days_in
from pipeline.text.times import MONTHS

_NAMES = "|".join((*MONTH_NAMES, *(name[:3] for name in MONTH_NAMES), "Sept"))
_ENGLISH = re.compile(rf"\b(?P<name>{_NAMES})\b\.?,?(?:\s+(?:of\s+)?(?P<year>\d{{4}})\b)?")
_ANY_CASE = re.compile(_ENGLISH.pattern, re.IGNORECASE)
_AMBIGUOUS = ("may", "march", "mar", "jun", "jan")
_PLACED = re.compile(
    r"\b(?:in|on|of|since|until|till|by|from|before|after|early|late|mid|during|around|through|to"
    r"|last|this|next|every|each|and|or|\d(?:st|nd|rd|th)?)[\s-]+$",
    re.IGNORECASE,
)
_HAN_SIGNS = "一 二 三 四 五 六 七 八 九 十 十一 十二"
_HAN_MONTHS = {sign: number for number, sign in enumerate(_HAN_SIGNS.split(), start=1)}
_CHINESE = re.compile(
    r"(?:(?P<year>\d{4})\s?年)?\s?(?<![\d个])(?P<name>\d{1,2}|十[一二]|[一二三四五六七八九十])\s?月(?!饼)"
)
_DESCRIBED = re.compile(
    r"\b(?:months?|season|spring|summer|autumn|fall|winter|christmas|xmas|easter|halloween|new year"
    r"|thanksgiving|valentine\w*|birthday|anniversary|semester|quarter|holidays?)\b"
    r"|个月|季|春|夏|秋|冬|节(?![目省约奏食])|过年|月底|月初|生日|学期|暑假|寒假",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Month:
    """A month, with its year where that is named, and how it is written."""

    month: int
    year: int | None
    written: str = ""

    def agrees(self, other: "_Month") -> bool:
        """Whether both may be the same month."""
        years = {self.year, other.year} - {None}
        return self.month == other.month and len(years) < 2


def wrong_months(text: str, said: Said) -> list[str]:
    """The months of the text without a day that are not its messages', as they are written."""
    bare = text
    for day in reversed(days_in(text)):
        bare = bare[: day.start] + " " * (day.end - day.start) + bare[day.end :]
    told = [*_english(bare, _ENGLISH), *_chinese(bare)]
    if not told:
        return []
    if any(_DESCRIBED.search(dated(message)) for message in said.messages):
        return []
    known = list(_known(said)) or [_Month(month=at.month, year=at.year) for at in said.times]
    return [each.written for each in told if not any(each.agrees(other) for other in known)]


def _known(said: Said) -> Iterator[_Month]:
    for day in days_in(said.text):
        yield _Month(month=day.day.month, year=day.day.year)
        if not day.is_exact:
            last = day.day + timedelta(days=6)
            yield _Month(month=last.month, year=last.year)
    yield from _english(said.text, _ANY_CASE)
    yield from _chinese(said.text)


def _english(text: str, form: re.Pattern[str]) -> Iterator[_Month]:
    for match in form.finditer(text):
        name = match["name"].lower()
        is_placed = match["year"] or _PLACED.search(text[: match.start()][-12:])
        if name in _AMBIGUOUS and not is_placed:
            continue
        year = int(match["year"]) if match["year"] else None
        yield _Month(month=MONTHS[name], year=year, written=match.group())


def _chinese(text: str) -> Iterator[_Month]:
    for match in _CHINESE.finditer(text):
        month = _HAN_MONTHS.get(match["name"]) or int(match["name"])
        if 1 <= month <= 12:
            year = int(match["year"]) if match["year"] else None
            yield _Month(month=month, year=year, written=match.group())
