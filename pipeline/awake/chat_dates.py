"""The dates of a chat model's statement, held against those that the messages speak of.

A model's arithmetic is not trusted. Relative dates that it left are resolved here. An absolute one
must be in the messages, written out or as what a relative date of theirs comes to; where they speak
of one relative date alone, a day that contradicts it is put right, else the statement is refused.
Of several, a statement about the words of one clause must have the date of that clause. Where no
relative date is understood, the day of saying and a day of the month that the messages name within
a year of it are taken. A month alone must be one of the messages, or that of saying where they name
none and no season. Times of day are those of chat_clock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pipeline.awake.chat_check import Said, dated
from pipeline.awake.chat_clauses import clause_day
from pipeline.awake.chat_clock import wrong_clocks
from pipeline.awake.chat_months import wrong_months
from pipeline.text.dates import resolve_dates
from pipeline.text.days import MONTH_NAMES, Day, days_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """A statement with absolute dates; ``text`` is None where one contradicts its messages."""

    text: str | None
    is_corrected: bool = False


def with_dates(text: str, said: Said, *, language: str, when: str | None) -> Dated:
    """The statement with every date of it absolute and right.

    Args:
        when: the day of what happened as the model gives it, beside the text; it is written behind
            a text that names no day, where the messages bear it out.
    """
    first = said.messages[0]
    whole = resolve_dates(text, said_at=first.said_at, zone=first.zone, language=language)
    days = days_in(whole)
    known = _Known.of(said)
    wrong = [each for each in days if not known.allows(each.day, said)]
    if wrong:
        right = known.one_exact
        if right is None or len({each.day for each in wrong}) > 1:
            return Dated(text=None)
        return Dated(text=_replaced(whole, wrong, right, language), is_corrected=True)
    if wrong_months(whole, said) or wrong_clocks(whole, said.text):
        return Dated(text=None)
    if len(days) == 1 and (right := clause_day(whole, days[0], said)) is not None:
        return Dated(text=_replaced(whole, days, right, language), is_corrected=True)
    if days or not when:
        return Dated(text=whole)
    return _with_day(whole, known, when, language)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The days that messages write out, and those that their relative dates come to."""

    written: frozenset[date]
    relative: tuple[Day, ...]

    @classmethod
    def of(cls, said: Said) -> "_Known":
        written = {each.day for message in said.messages for each in days_in(message.content)}
        resolved = [each for message in said.messages for each in days_in(dated(message))]
        relative = tuple(each for each in resolved if each.day not in written)
        return cls(written=frozenset(written), relative=relative)

    @property
    def one_exact(self) -> date | None:
        """The only day that the relative dates come to; None for several, and for a week."""
        days = {each.day for each in self.relative}
        is_exact = all(each.is_exact for each in self.relative)
        return next(iter(days)) if len(days) == 1 and is_exact else None

    def allows(self, day: date, said: Said) -> bool:
        if day in self.written or any(_covers(each, day) for each in self.relative):
            return True
        if self.relative:
            return False
        spoken = [moment.date() for moment in said.times]
        is_near = any(abs((day - each).days) <= 366 for each in spoken)
        return day in spoken or (is_near and day.day in said.told)


def _covers(known: Day, day: date) -> bool:
    """Whether it is that day, or lies in the week that the messages speak of."""
    return known.day == day if known.is_exact else 0 <= (day - known.day).days < 7


def _replaced(text: str, wrong: Sequence[Day], right: date, language: str) -> str:
    for each in reversed(wrong):
        text = text[: each.start] + _written(right, language) + text[each.end :]
    return text


def _written(day: date, language: str) -> str:
    if language == "zh":
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {MONTH_NAMES[day.month - 1]} {day.year}"


def _with_day(text: str, known: _Known, when: str, language: str) -> Dated:
    """The text with the day behind it, if the messages speak of one day only, or of this one."""
    named = {each.day for each in days_in(when)}
    days = {each.day for each in known.relative if each.is_exact} | known.written
    right = named & days
    if not right and named and known.one_exact is not None:
        right = {known.one_exact}
    if len(right) != 1:
        return Dated(text=text)
    (day,) = right
    mark = f"（{_written(day, language)}）" if language == "zh" else f" ({_written(day, language)})"
    body = text.rstrip(".。")
    return Dated(text=body + mark + text[len(body) :], is_corrected=day not in named)
