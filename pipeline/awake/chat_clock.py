"""The times of day in a chat model's statement, held against those that its messages name.

An hour is known with its half of the day where that was said (3 pm, 下午3点, 15:00), else either is
meant. What stands as ``3:00`` with no half of the day beside it is read as a clock shows it. Only
hours that the messages name are looked at; others are numbers like any.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_SIGNS = "一 二 三 四 五 六 七 八 九 十 十一 十二"
_HOURS = {
    **{word: number for number, word in enumerate(_WORDS.split(), start=1)},
    **{sign: number for number, sign in enumerate(_SIGNS.split(), start=1)},
    "两": 2,
}
_HOUR = r"(?P<hour>\d{1,2}|" + "|".join(sorted(_HOURS, key=len, reverse=True)) + ")"
_EARLY = r"凌晨|清晨|早上|早晨|上午|今早|明早|昨早"
_LATE = r"下午|傍晚|晚上|夜里|夜晚|今晚|明晚|昨晚|中午"
_CLOCK = re.compile(
    rf"(?:(?P<early>{_EARLY})|(?P<late>{_LATE}))?(?<![\d:.])(?:{_HOUR}(?P<minutes>:[0-5]\d)?)"
    r"(?P<mark>\s?(?:[ap]\.?m\b\.?|点|点钟|时(?!间|候|期)|o['’]clock)"
    r"|(?=\s(?:in\sthe\s(?:morning|afternoon|evening)|at\snight)\b))?"
    r"(?P<half>\s(?:in\sthe\s(?:morning|afternoon|evening)|at\snight)\b)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Time:
    """The hour on the face of a clock, the hours of the day it may be, and how it is written."""

    face: int
    hours: frozenset[int]
    written: str
    has_half: bool
    has_minutes: bool


def wrong_clocks(text: str, said: str) -> list[str]:
    """The times of the text, as they are written, that are not those of what was said."""
    known = list(_times(said))
    return [each.written for each in _times(text) if _is_wrong(each, known)]


def _is_wrong(told: _Time, known: Sequence[_Time]) -> bool:
    same = [each.hours for each in known if each.face == told.face]
    if not same or not (told.has_half or told.has_minutes):
        return False
    is_shown = told.has_minutes and not told.has_half
    hours = frozenset((min(told.hours),)) if is_shown and told.face else told.hours
    return not any(hours & each for each in same)


def _times(text: str) -> Iterator[_Time]:
    for match in _CLOCK.finditer(text):
        if not (match["minutes"] or match["mark"] or match["half"] or match["late"]):
            continue
        written = match["hour"].lower()
        hour = int(written) if written.isdigit() else _HOURS[written]
        half = _half(match)
        if hour <= 24:
            yield _Time(
                face=hour % 12,
                hours=_hours(hour, half),
                written=match.group().strip(),
                has_half=half is not None,
                has_minutes=match["minutes"] is not None,
            )


def _half(match: re.Match[str]) -> str | None:
    beside = f"{match['mark'] or ''}{match['half'] or ''}".lower().replace(".", "")
    if match["late"] or "pm" in beside or re.search("afternoon|evening|night", beside):
        return "late"
    if match["early"] or "am" in beside or "morning" in beside:
        return "early"
    return None


def _hours(hour: int, half: str | None) -> frozenset[int]:
    if hour in (0, 12, 24):
        return frozenset((0, 12))
    if half == "late" and hour < 12:
        return frozenset((hour + 12,))
    if half == "early" or hour > 12:
        return frozenset((hour,))
    return frozenset((hour, hour + 12))
