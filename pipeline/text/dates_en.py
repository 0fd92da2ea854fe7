"""Relative dates in English.

A replacement keeps the preposition before it ("since last week" becomes "since the week of 1 May
2023") and gets "on" or "in" where there was none.
"""

import re
from collections.abc import Callable
from datetime import date

from pipeline.text.daterules import (
    Place,
    Rule,
    Rules,
    days_from,
    monday,
    month_from,
    weekday_after,
    weekday_before,
)
from pipeline.text.times import MONTHS

_MONTH_NAMES = [
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
]
_WEEKDAY_NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NUMBERS = {
    word: number
    for number, words in enumerate(
        ["a an one", *"two three four five six seven eight nine ten eleven twelve".split()],  # noqa: SIM905
        start=1,
    )
    for word in words.split()
}
_STEPS = {"last": -1, "past": -1, "this": 0, "coming": 0, "next": 1}

_PREPOSITION = (
    r"(?:(?P<prep>since|until|till|by|from|for|before|after|of|between|to|than|through|around"
    r"|about|during|over|on|in|at)\s+)?"
)
_LEFT = r"(?<![\w./@#\\-])(?<![\w]['’])"
_RIGHT = r"(?P<poss>['’]s)?(?![\w/@\\]|-\w|\.\w)"
_WEEKDAY = r"(?P<weekday>" + "|".join(_WEEKDAY_NAMES) + ")"
_PART = r"(?:\s+(?P<part>morning|afternoon|evening|night)(?!\s+of\b))?"
_COUNT = r"(?P<count>\d{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_VAGUE = r"(?P<vague>a\s+couple(?:\s+of)?|a\s+few|several|some|a\s+number\s+of|many)"
_NO_DATE = r"(?!,?\s+\d|\s+(?:the\s+\d|mornings|afternoons|evenings|nights))"

_FUTURE = (
    r"will|won['’]t|['’]ll|shall|going\s+to|gonna|plan(?:s|ning)?\s+to|due|deadline|scheduled"
    r"|booked|remind|needs?|ha(?:ve|s)\s+(?:to|an?|my|the)|must|should|can|could|want"
    r"|hop(?:e|ing)|let['’]s|expect(?:s|ing|ed)?|upcoming|starts?|leaves?|arrives?|flies|happens"
    r"|(?:am|is|are|['’]m|['’]re|['’]s)\s+(?:not\s+)?\w+ing|is|are"
)
_PAST = (
    r"haven['’]t|hasn['’]t|['’]ve|was|were|wasn['’]t|weren['’]t|did|didn['’]t|had|went|came|saw"
    r"|met|got|took|made|bought|ate|told|said|ran|gave|found|lost|left|wrote|read|began|won|felt"
    r"|thought|sent|spent|broke|fell|drove|flew|hit|paid|slept|spoke|taught|threw|wore|built|sold"
    r"|kept|heard|knew|became|brought|caught|chose|cut|drank|grew|held|rode|rang|sang|sat|stood"
    r"|swam|understood|woke|(?!indeed|speed|hundred|shed|seed|feed)\w{2,}ed"
)
_TENSE = re.compile(
    rf"(?:(?<!\w)|(?=['’]))(?:(?P<future>{_FUTURE})|(?P<past>{_PAST}))\b", re.IGNORECASE
)
_HABIT = re.compile(r"\b(?:every|each|usually|always|often|sometimes|never)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.!?;\n](?=\s|$)")
_JOINED = re.compile(r"(?:\b(?:or|to|and|half|few|the|every|each|couple|times?)|[-–—\d])\s*$", re.I)
_DETERMINED = re.compile(
    r"\b(?:the|every|each|few|a|my|your|his|her|its|our|their|whose|['’]s)\s*$", re.IGNORECASE
)
_DURATION = re.compile(r"\b(?:times?|once|twice|first|only|best|worst|day|days|all|done)\s*$", re.I)
_CLAUSE_START = re.compile(r"(?:[.!?;:,\n]|\b(?:and|but|because|that|so))\s+$")
_BE = re.compile(r"\s+(?:was|is|will\s+be|has\s+been|had\s+been|would\s+be)\b")
_MID_SENTENCE = re.compile(r"[\w,]\s+$")


def _written(day: date) -> str:
    return f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}"


def _month(day: date) -> str:
    return f"{_MONTH_NAMES[day.month - 1]} {day.year}"


def _named(day: date) -> str:
    return f"{_WEEKDAY_NAMES[day.weekday()]}, {_written(day)}"


def _put(place: Place, preposition: str, bare: str) -> str:
    """The absolute date in the grammar of the relative one."""
    said, possessive = place.match["prep"] or "", place.match["poss"] or ""
    is_kept = bool(possessive) or said.lower() not in ("", "on", "in", "at")
    if is_kept or (not said and _is_subject(place)):
        new = f"{said} {bare}{possessive}".strip()
    else:
        new = f"{preposition} {bare}"
    is_capital = place.match.group()[:1].isupper()
    return new[:1].upper() + new[1:] if is_capital else new


def _is_subject(place: Place) -> bool:
    """Whether a sentence is about the date, as in "yesterday was hard"."""
    text, start = place.match.string, place.match.start()
    is_first = start < 8 and not text[:start].strip()
    begins = is_first or _CLAUSE_START.search(text, max(0, start - 8), start)
    return bool(begins and _BE.match(text, place.match.end()))


def _put_day(place: Place, bare: str) -> str:
    part = place.part("part")
    return _put(place, "on", f"the {part} of {bare}" if part else bare)


def _is_name(place: Place) -> bool:
    """Whether the words are capitalised inside a sentence, as in "the Today show"."""
    match = place.match
    words = match.group()
    is_title = words[:1].isupper() and words[1:2].islower()
    return is_title and bool(
        _MID_SENTENCE.search(match.string, max(0, match.start() - 4), match.start())
    )


def _before(place: Place, pattern: re.Pattern[str]) -> bool:
    return bool(
        pattern.search(place.match.string[max(0, place.match.start() - 12) : place.match.start()])
    )


def _clause(place: Place) -> tuple[str, str]:
    """What stands in the sentence before and after the date, at most 200 characters each."""
    text, start, end = place.match.string, place.match.start(), place.match.end()
    before = _CLAUSE_END.split(text[max(0, start - 200) : start])[-1]
    after = _CLAUSE_END.split(text[end : end + 200], maxsplit=1)[0]
    return before, after


def _tense(place: Place) -> str | None:
    """``future``, ``past``, or None: told by the nearest verb, those before the date first."""
    before, after = _clause(place)
    if _HABIT.search(before) or _HABIT.search(after):
        return None
    found = list(_TENSE.finditer(before)) or [m for m in [_TENSE.search(after)] if m]
    return found[-1].lastgroup if found else None


_DAY_WORDS = {"yesterday": -1, "today": 0, "tomorrow": 1, "tonight": 0}


def _day_word(place: Place) -> str | None:
    if _is_name(place):
        return None
    if around := place.part("around"):
        return _put(place, "on", _written(days_from(place.day, 2 if "after" in around else -2)))
    if place.part("word") == "tonight":
        return _put(place, "on", f"the evening of {_written(place.day)}")
    return _put_day(place, _written(days_from(place.day, _DAY_WORDS[place.part("word")])))


def _part_of_day(place: Place) -> str | None:
    is_night = place.part("part") == "night"
    if _is_name(place) or is_night != (place.part("step") == "last"):
        return None
    return _put_day(place, _written(days_from(place.day, -1 if is_night else 0)))


def _span(place: Place, unit: str, count: int) -> str:
    """The day, week, month or year that many units away, as exactly as the unit allows."""
    match unit:
        case "day":
            return _put(place, "on", _written(days_from(place.day, count)))
        case "night":
            return _put(place, "on", f"the night of {_written(days_from(place.day, count))}")
        case "weekend":
            saturday = days_from(monday(place.day, count), 5)
            return _put(place, "on", f"the weekend of {_written(saturday)}")
        case "week":
            return _put(place, "in", f"the week of {_written(monday(place.day, count))}")
        case "month":
            return _put(place, "in", _month(month_from(place.day, count)))
    return _put(place, "in", str(date(place.day.year + count, 1, 1).year))


def _ago(place: Place) -> str | None:
    if _before(place, _JOINED):
        return None
    words = place.match.group()
    is_loose = bool(place.part("loose")) or place.part("prep") == "over"
    if place.part("vague") or is_loose:
        kept = words[: place.match.start("ago") - place.match.start()].rstrip()
        return f"{kept} before {_written(place.day)}"
    if place.part("halved"):
        return _put(place, "around", _month(month_from(place.day, -6)))
    count = place.part("count")
    return _span(place, place.part("unit"), -(_NUMBERS.get(count) or int(count)))


def _ahead(place: Place) -> str | None:
    is_from_now = bool(place.part("now"))
    said = place.part("prep")
    if said not in ("", "in") or not (said == "in" or is_from_now):
        return None
    if not is_from_now and (_before(place, _DURATION) or _tense(place) == "past"):
        return None
    count = place.part("count")
    if len(count) == len("1999") and count.isdigit() and _is_singular(place):
        return None  # "in 1999 week" names a year
    return _span(place, place.part("unit"), _NUMBERS.get(count) or int(count))


def _is_singular(place: Place) -> bool:
    end = place.match.end("unit")
    return place.match.string[end : end + 1] != "s"


def _period(place: Place) -> str | None:
    if _is_name(place) or _before(place, _DETERMINED):
        return None
    return _span(place, place.part("unit"), _STEPS[place.part("step")])


def _second_period(place: Place) -> str | None:
    count = -2 if "before" in place.match.group().lower() else 2
    return _span(place, place.part("unit"), count)


def _weekday(place: Place) -> int:
    return _WEEKDAY_NAMES.index(place.part("weekday").capitalize())


def _stepped_weekday(place: Place) -> str | None:
    """Last: the newest before the day. Next: in the next calendar week. This: from the day on."""
    if _before(place, _DETERMINED):
        return None
    weekday = _weekday(place)
    match place.part("step").split()[-1]:
        case "last" | "past":
            day = weekday_before(place.day, weekday)
        case "next":
            day = days_from(monday(place.day, 1), weekday)
        case _:
            is_past = place.part("step") == "this" and _tense(place) == "past"
            yesterday = days_from(place.day, -1)
            day = (
                weekday_before(days_from(place.day, 1), weekday)
                if is_past
                else weekday_after(yesterday, weekday)
            )
    return _put_day(place, _named(day))


def _weekday_of_week(place: Place) -> str | None:
    day = days_from(monday(place.day, _STEPS[place.part("step")]), _weekday(place))
    return _put_day(place, _named(day))


def _bare_weekday(place: Place) -> str | None:
    said = place.part("prep")
    tense = {"since": "past", "by": "future", "until": "future", "till": "future"}.get(said)
    if said in ("on", "for", "before"):
        tense = _tense(place)
    if tense is None:
        return None
    find = weekday_before if tense == "past" else weekday_after
    return _put_day(place, _named(find(place.day, _weekday(place))))


def _stepped_month(place: Place) -> str | None:
    month = MONTHS[place.part("month")]
    if not place.match["month"][0].isupper() or _before(place, _DETERMINED):
        return None
    step, ahead = _STEPS[place.part("step")], month - place.day.month
    year = place.day.year + (step if step * ahead <= 0 else 0)
    return _put(place, "in", _month(date(year, month, 1)))


def _rule(words: str, body: str, write: Callable[[Place], str | None]) -> Rule:
    pattern = re.compile(_LEFT + _PREPOSITION + body + _RIGHT, re.IGNORECASE)
    return Rule(words=tuple(words.split()), pattern=pattern, write=write)


_UNIT = r"(?P<unit>day|night|weekend|week|month|year)"
ENGLISH = Rules(
    hint=re.compile(
        r"\b(?:yesterday|today|tomorrow|tonight|ago|from\s+now|last|past|this|next|coming"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r"|in\s+(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b",
        re.IGNORECASE,
    ),
    chance=re.compile(r"\b(?:last|past|this|next|coming)\s+(?:week|month|year)s\b", re.IGNORECASE),
    rules=(
        _rule(
            "yesterday today tomorrow tonight",
            r"(?:(?P<around>(?:the\s+)?day\s+(?:before\s+yesterday|after\s+tomorrow))"
            rf"|(?P<word>yesterday|today|tomorrow|tonight){_PART})",
            _day_word,
        ),
        _rule(
            "this last",
            r"(?P<step>this|last)\s+(?P<part>morning|afternoon|evening|night)",
            _part_of_day,
        ),
        _rule(
            "ago",
            r"(?:(?P<loose>more\s+than|less\s+than|over|almost|nearly|at\s+least|under)\s+)?"
            rf"(?:(?P<halved>half\s+a\s+year)|(?:{_VAGUE}|{_COUNT})\s+{_UNIT}s?)\s+(?P<ago>ago)",
            _ago,
        ),
        _rule(
            "in from",
            rf"{_COUNT}\s+{_UNIT}s?(?:['’]?\s+time\b|(?P<now>\s+from\s+(?:now|today)))?(?!\s+(?:of|ago|later)\b)",
            _ahead,
        ),
        _rule(
            "last this next",
            r"(?P<step>last|this|next)\s+(?P<unit>weekend|week|month|year)(?!\s+of\b)",
            _period,
        ),
        _rule(
            "before after",
            r"(?:the\s+)?(?P<unit>weekend|week|month|year)\s+(?:before\s+last|after\s+next)"
            r"(?!\s+(?:weekend|week|month|year)\b)",
            _second_period,
        ),
        _rule(
            "day",
            rf"(?P<step>this\s+past|this\s+coming|last|this|next|coming)\s+{_WEEKDAY}{_PART}{_NO_DATE}"
            r"(?!\s+(?:of|in)\b)",
            _stepped_weekday,
        ),
        _rule(
            "week",
            rf"{_WEEKDAY}{_PART},?\s+(?:of\s+)?(?P<step>last|this|next)\s+week",
            _weekday_of_week,
        ),
        _rule(
            "week",
            rf"(?P<step>last|this|next)\s+week,?\s+(?:on\s+)?{_WEEKDAY}{_PART}{_NO_DATE}",
            _weekday_of_week,
        ),
        _rule(
            "day",
            rf"{_WEEKDAY}{_PART}{_NO_DATE}(?!,?\s+(?:last|this|next)\s+week\b)",
            _bare_weekday,
        ),
        _rule(
            "last this next",
            rf"(?P<step>last|this|next)\s+(?P<month>{'|'.join(_MONTH_NAMES)})(?!,?\s+\d)",
            _stepped_month,
        ),
    ),
)
