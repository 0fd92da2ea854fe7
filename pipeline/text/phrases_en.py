"""How an absolute date is written in the place of a relative one, in English."""

import re
from datetime import date

from pipeline.text.daterules import Place
from pipeline.text.days import MONTH_NAMES

WEEKDAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_CLAUSE_START = re.compile(r"(?:[.!?;:,\n]|\b(?:and|but|because|that|so))\s+$")
_BE = re.compile(r"\s+(?:was|is|will\s+be|has\s+been|had\s+been|would\s+be)\b")
_MID_SENTENCE = re.compile(r"[\w,]\s+$")


def written(day: date) -> str:
    """7 May 2023."""
    return f"{day.day} {MONTH_NAMES[day.month - 1]} {day.year}"


def month_name(day: date) -> str:
    """May 2023."""
    return f"{MONTH_NAMES[day.month - 1]} {day.year}"


def named(day: date) -> str:
    """Sunday, 7 May 2023."""
    return f"{WEEKDAY_NAMES[day.weekday()]}, {written(day)}"


def put(place: Place, preposition: str, bare: str) -> str:
    """The absolute date in the grammar of the relative one."""
    said, possessive = place.match["prep"] or "", place.match["poss"] or ""
    is_kept = bool(possessive) or said.lower() not in ("", "on", "in", "at")
    if is_kept or (not said and _is_subject(place)):
        new = f"{said} {bare}{possessive}".strip()
    else:
        new = f"{preposition} {bare}"
    is_capital = place.match.group()[:1].isupper() and not _is_mid_sentence(place)
    return new[:1].upper() + new[1:] if is_capital else new


def _is_subject(place: Place) -> bool:
    """Whether a sentence is about the date, as in "yesterday was hard"."""
    text, start = place.match.string, place.match.start()
    is_first = start < 8 and not text[:start].strip()
    begins = is_first or _CLAUSE_START.search(text, max(0, start - 8), start)
    return bool(begins and _BE.match(text, place.match.end()))


def put_day(place: Place, bare: str) -> str:
    """As ``put``, with the part of the day that was named."""
    part = place.part("part")
    return put(place, "on", f"the {part} of {bare}" if part else bare)


def is_name(place: Place) -> bool:
    """Whether the words are capitalised inside a sentence, as in "the Today show"."""
    words = place.match.group()
    return words[:1].isupper() and words[1:2].islower() and _is_mid_sentence(place)


def _is_mid_sentence(place: Place) -> bool:
    start = place.match.start()
    return _MID_SENTENCE.search(place.match.string, max(0, start - 4), start) is not None


def before(place: Place, pattern: re.Pattern[str]) -> bool:
    """Whether the pattern is found in the few characters before the date."""
    return bool(
        pattern.search(place.match.string[max(0, place.match.start() - 12) : place.match.start()])
    )
