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
    same_day,
    weekday_after,
    weekday_before,
)
from pipeline.text.days import MONTH_NAMES
from pipeline.text.phrases_en import (
    WEEKDAY_NAMES,
    before,
    is_name,
    month_name,
    named,
    put,
    put_day,
    written,
)
from pipeline.text.tense_en import tense
from pipeline.text.times import MONTHS

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
_WEEKDAY = r"(?P<weekday>" + "|".join(WEEKDAY_NAMES) + ")"
_PART = r"(?:\s+(?P<part>morning|afternoon|evening|night)(?!\s+of\b))?"
_COUNT = r"(?P<count>\d{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_VAGUE = r"(?P<vague>a\s+couple(?:\s+of)?|a\s+few|several|some|a\s+number\s+of|many)"
_NO_DATE = r"(?!,?\s+\d|\s+(?:the\s+\d|mornings|afternoons|evenings|nights))"

_JOINED = re.compile(r"(?:\b(?:or|to|and|half|few|the|every|each|couple|times?)|[-–—\d])\s*$", re.I)
_DETERMINED = re.compile(
    r"\b(?:the|every|each|few|a|my|your|his|her|its|our|their|whose|['’]s)\s*$", re.IGNORECASE
)
_STEPPED = re.compile(r"\b(?:last|past|this|next|coming)\s*$", re.IGNORECASE)
_SEE_YOU = re.compile(r"\b(?:see|meet) (?:you|u|ya)\s*$", re.IGNORECASE)
_DURATION = re.compile(r"\b(?:times?|once|twice|first|only|best|worst|day|days|all|done)\s*$", re.I)


_DAY_WORDS = {"yesterday": -1, "today": 0, "tomorrow": 1, "tonight": 0}


def _day_word(place: Place) -> str | None:
    if is_name(place):
        return None
    if around := place.part("around"):
        return put(place, "on", written(days_from(place.day, 2 if "after" in around else -2)))
    if place.part("word") == "tonight":
        return put(place, "on", f"the evening of {written(place.day)}")
    return put_day(place, written(days_from(place.day, _DAY_WORDS[place.part("word")])))


def _part_of_day(place: Place) -> str | None:
    is_night = place.part("part") == "night"
    if is_name(place) or is_night != (place.part("step") == "last"):
        return None
    return put_day(place, written(days_from(place.day, -1 if is_night else 0)))


def _span(place: Place, unit: str, count: int) -> str:
    """The day, week, month or year that many units away, as exactly as the unit allows."""
    match unit:
        case "day":
            return put(place, "on", written(days_from(place.day, count)))
        case "night":
            return put(place, "on", f"the night of {written(days_from(place.day, count))}")
        case "weekend":
            saturday = days_from(monday(place.day, count), 5)
            return put(place, "on", f"the weekend of {written(saturday)}")
        case "week":
            return put(place, "in", f"the week of {written(monday(place.day, count))}")
        case "fortnight":
            return put(place, "in", f"the week of {written(monday(place.day, 2 * count))}")
        case "month":
            return put(place, "in", month_name(month_from(place.day, count)))
    return put(place, "in", str(date(place.day.year + count, 1, 1).year))


def _ago(place: Place) -> str | None:
    if before(place, _JOINED):
        return None
    words = place.match.group()
    is_loose = bool(place.part("loose")) or place.part("prep") == "over"
    if place.part("vague") or is_loose:
        kept = words[: place.match.start("ago") - place.match.start()].rstrip()
        return f"{kept} before {written(place.day)}"
    if place.part("halved"):
        return put(place, "around", month_name(month_from(place.day, -6)))
    count = place.part("count")
    return _span(place, place.part("unit"), -(_NUMBERS.get(count) or int(count)))


def _ahead(place: Place) -> str | None:
    is_from_now = bool(place.part("now"))
    said = place.part("prep")
    if said not in ("", "in") or not (said == "in" or is_from_now):
        return None
    if not is_from_now and (before(place, _DURATION) or tense(place) == "past"):
        return None
    count = place.part("count")
    if len(count) == len("1999") and count.isdigit() and _is_singular(place):
        return None  # "in 1999 week" names a year
    return _span(place, place.part("unit"), _NUMBERS.get(count) or int(count))


def _is_singular(place: Place) -> bool:
    end = place.match.end("unit")
    return place.match.string[end : end + 1] != "s"


def _period(place: Place) -> str | None:
    if is_name(place) or before(place, _DETERMINED):
        return None
    return _span(place, place.part("unit"), _STEPS[place.part("step")])


def _second_period(place: Place) -> str | None:
    count = -2 if "before" in place.match.group().lower() else 2
    return _span(place, place.part("unit"), count)


def _weekday(place: Place) -> int:
    return WEEKDAY_NAMES.index(place.part("weekday").capitalize())


def _stepped_weekday(place: Place) -> str | None:
    """Last: the newest before the day. Next: in the next calendar week. This: from the day on."""
    if before(place, _DETERMINED):
        return None
    weekday = _weekday(place)
    match place.part("step").split()[-1]:
        case "last" | "past":
            day = weekday_before(place.day, weekday)
        case "next":
            day = days_from(monday(place.day, 1), weekday)
        case _:
            is_past = place.part("step") == "this" and tense(place) == "past"
            yesterday = days_from(place.day, -1)
            day = (
                weekday_before(days_from(place.day, 1), weekday)
                if is_past
                else weekday_after(yesterday, weekday)
            )
    return put_day(place, named(day))


def _weekday_of_week(place: Place) -> str | None:
    day = days_from(monday(place.day, _STEPS[place.part("step")]), _weekday(place))
    return put_day(place, named(day))


def _bare_weekday(place: Place) -> str | None:
    said = place.part("prep")
    told = {"since": "past", "by": "future", "until": "future", "till": "future"}.get(said)
    if said in ("on", "for", "before"):
        told = tense(place)
    if not said and before(place, _SEE_YOU):
        told = "future"
    if told is None:
        return None
    find = weekday_before if told == "past" else weekday_after
    return put_day(place, named(find(place.day, _weekday(place))))


def _stepped_month(place: Place) -> str | None:
    month = MONTHS[place.part("month")]
    if not place.match["month"][0].isupper() or before(place, _DETERMINED):
        return None
    step, ahead = _STEPS[place.part("step")], month - place.day.month
    year = place.day.year + (step if step * ahead <= 0 else 0)
    return put(place, "in", month_name(date(year, month, 1)))


def _exactly(place: Place) -> str | None:
    """A year ago today, a week from tomorrow, two weeks from Friday."""
    sign = -1 if place.part("way") == "ago" else 1
    count = sign * (_NUMBERS.get(place.part("count")) or int(place.part("count")))
    name = place.part("anchor").lower()
    is_past = sign < 0
    if name in _DAY_WORDS:
        day = days_from(place.day, _DAY_WORDS[name])
    else:
        find = weekday_before if is_past else weekday_after
        day = find(place.day, WEEKDAY_NAMES.index(name.capitalize()))
    match place.part("unit"):
        case "month":
            day = same_day(day, count)
        case "year":
            day = same_day(day, 12 * count)
        case unit:
            day = days_from(day, count * {"day": 1, "week": 7, "fortnight": 14}[unit])
    return put(place, "on", written(day))


def _week_on(place: Place) -> str | None:
    """Tomorrow week, Friday week: that day and a week more."""
    if before(place, _STEPPED):
        return None
    name = place.part("anchor").lower()
    day = (
        days_from(place.day, _DAY_WORDS[name])
        if name in _DAY_WORDS
        else weekday_after(place.day, WEEKDAY_NAMES.index(name.capitalize()))
    )
    return put(place, "on", written(days_from(day, 7)))


def _second_weekday(place: Place) -> str:
    """The Friday before last, the Friday after next."""
    weekday = _weekday(place)
    if place.part("way") == "before":
        return put(place, "on", named(days_from(weekday_before(place.day, weekday), -7)))
    return put(place, "on", named(days_from(monday(place.day, 2), weekday)))


def _the_weekend(place: Place) -> str | None:
    """The one behind or the one ahead, as the verb says; on its own days that one."""
    told = tense(place)
    if told is None:
        return None
    tomorrow, yesterday = days_from(place.day, 1), days_from(place.day, -1)
    saturday = weekday_before(tomorrow, 5) if told == "past" else weekday_after(yesterday, 5)
    return put(place, "on", f"the weekend of {written(saturday)}")


def _edge_of_period(place: Place) -> str | None:
    """The end of the month; None where a habit is told."""
    if tense(place) is None:
        return None
    edge, day = place.part("edge"), place.day
    bare = month_name(day) if place.part("unit") == "month" else str(day.year)
    return put(place, "at", f"the {edge} of {bare}")


def _rule(words: str, body: str, write: Callable[[Place], str | None]) -> Rule:
    pattern = re.compile(_LEFT + _PREPOSITION + body + _RIGHT, re.IGNORECASE)
    return Rule(words=tuple(words.split()), pattern=pattern, write=write)


_DAY_NAMES = "|".join(WEEKDAY_NAMES)
_UNIT = r"(?P<unit>day|night|weekend|week|fortnight|month|year)"
ENGLISH = Rules(
    hint=re.compile(
        r"\b(?:yesterday|today|tomorrow|tonight|ago|from\s+now|last|past|this|next|coming|weekend"
        r"|of\s+(?:the\s+)?(?:month|year)"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r"|in\s+(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b",
        re.IGNORECASE,
    ),
    chance=re.compile(r"\b(?:last|past|this|next|coming)\s+(?:week|month|year)s\b", re.IGNORECASE),
    rules=(
        _rule(
            "ago from",
            rf"{_COUNT}\s+(?P<unit>day|week|fortnight|month|year)s?\s+(?P<way>ago|from)\s+"
            rf"(?:on\s+)?(?P<anchor>today|tomorrow|yesterday|{_DAY_NAMES})(?!\s+(?:to|until|till)\b)",
            _exactly,
        ),
        _rule("week", rf"(?P<anchor>today|tomorrow|{_DAY_NAMES})\s+week(?!\s+of\b)", _week_on),
        _rule(
            "before after",
            rf"the\s+{_WEEKDAY}\s+(?P<way>before|after)\s+(?:last|next)(?!\s+\w)",
            _second_weekday,
        ),
        _rule("weekend", r"the\s+weekend(?!\s+(?:of|before|after|that|when|we|i)\b)", _the_weekend),
        _rule(
            "month year",
            r"(?:the\s+)?(?P<edge>end|beginning|start|middle)\s+of\s+(?:the\s+|this\s+)?"
            r"(?P<unit>month|year)",
            _edge_of_period,
        ),
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
            r"(?!\s+(?:of|in|week)\b)",
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
            rf"(?P<step>last|this|next)\s+(?P<month>{'|'.join(MONTH_NAMES)})(?!,?\s+\d)",
            _stepped_month,
        ),
    ),
)
