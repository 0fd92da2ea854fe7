"""Written times to instants, whatever the host's zone and locale.

A time that names no zone is read in the zone given with it. Dates whose order of day and month
can be read two ways (``05/03/2025``) are refused.
"""

import math
import re
import unicodedata
from datetime import UTC, datetime, timedelta, tzinfo

from pipeline.errors import InputError
from pipeline.text.zones import offset_name, zone_info

EXPECTED = (
    "a time such as 2025-03-05T14:30:00+08:00, 2025-03-05, epoch seconds or milliseconds, "
    "2023/05/20 (Sat) 00:44, 1:56 pm on 8 May, 2023, March-15-2024 or 2025年3月5日 14:30"
)
_MONTH_NAMES = (
    *("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul"),
    *("august aug", "september sep sept", "october oct", "november nov", "december dec"),
)
MONTHS = {
    name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()
}
"""English month names, full and short, in lower case, to 1..12."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MILLISECONDS = 1e11  # as seconds this would be the year 5138
_LONGEST = 80

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_FLAGS = re.ASCII | re.IGNORECASE
_NUMBER = re.compile(r"[+-]?\d{9,16}(?:\.\d+)?", _FLAGS)
_PLAIN = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{3}(?:\d{3})?)?)?)(Z|[+-]\d\d:\d\d)?", re.ASCII
)
"""What programs write, which is nearly every time: read without a search."""
_COMPACT = re.compile(
    r"((?:19|20)\d\d)(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)?)?", _FLAGS
)
_BRACKETS = re.compile(r"[(\[][^()\[\]\d]{1,24}[)\]]")
_DATES = (
    re.compile(
        r"(?<!\d)(?P<y>\d{4})[-/.年](?P<mo>\d{1,2})[-/.月](?P<d>\d{1,2})(?!\d)[日号]?", _FLAGS
    ),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of |[\s-]*)(?P<mo>{_MONTH})\.?"
        r"[\s,-]+(?P<y>\d{4})(?!\d)",
        _FLAGS,
    ),
    re.compile(
        rf"(?<![a-z])(?P<mo>{_MONTH})\.?[\s-]*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
        r"[\s,-]+(?P<y>\d{4})(?!\d)",
        _FLAGS,
    ),
)
_GLUE = re.compile(
    r"\b(?:on|at)\b|,|^\s*T(?=\d)|(?:星期|礼拜|周|週)[一二三四五六日天]"
    r"|\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?",
    _FLAGS,
)
_CLOCK = re.compile(
    r"(?:(?P<part>凌晨|早上|上午|中午|下午|傍晚|晚上)?\s*(?P<h>\d{1,2})"
    r"(?P<sign>[:点时點時])?(?P<m>(?<=[:点时點時])(?:\d{1,2}|半))?分?"
    r"(?::?(?P<s>(?<=[:分])\d{1,2})秒?(?:[.,](?P<f>\d{1,9}))?)?\s*(?P<half>[ap]\.?m\.?)?)?"
    r"\s*(?P<zone>Z|(?:UTC|GMT)?(?:[+-]\d{2}:?\d{2}|[+-]\d{1,2})|UTC|GMT)?",
    _FLAGS,
)
_AFTERNOON = frozenset({"中午", "下午", "傍晚", "晚上", "pm"})
_MORNING = frozenset({"凌晨", "am"})


def parse_time(value: str | int | float, *, zone: str | None) -> tuple[datetime, str]:
    """The instant in UTC and the zone it was said in (IANA name, offset, or ``UTC``).

    ``zone`` reads a time that names none; UTC where it is None. An instant that says only ``Z``
    or is an epoch number was said in ``zone``; an offset of its own is kept, by the zone's name
    where the two agree.

    Raises:
        InputError: not a time, out of the years 1 to 9999, or the zone is unknown.
    """
    given, given_name = zone_info(zone) if zone is not None else (UTC, "UTC")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _refused(value)
    local = _read(value, given)
    try:
        moment = local.astimezone(UTC)
        there = moment.astimezone(given)
    except (OverflowError, ValueError) as error:
        raise _refused(value) from error
    is_said_there = local.tzinfo in (UTC, given) or there.utcoffset() == local.utcoffset()
    return moment, given_name if is_said_there else offset_name(local)


def time_of(value: str | int | float, *, field: str) -> datetime:
    """The instant in UTC; one that names no zone is in UTC. Raises InputError with the field."""
    try:
        return parse_time(value, zone=None)[0]
    except InputError as exc:
        raise InputError(exc.message, field=field) from exc


def _refused(value: object) -> InputError:
    is_shown = isinstance(value, str | float) or (isinstance(value, int) and abs(value) < 10**30)
    shown = ascii(value) if is_shown else f"a value of type {type(value).__name__}"
    shown = shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."
    return InputError(f"expected {EXPECTED}, got {shown}", field="said_at")


def _read(value: str | int | float, zone: tzinfo) -> datetime:
    if not isinstance(value, str):
        return _epoch(value, value)
    if len(value) > _LONGEST:
        raise _refused(value)
    if found := _PLAIN.fullmatch(value):
        return _plain(found, value, zone)
    text = unicodedata.normalize("NFKC", value).strip()
    if found := _COMPACT.fullmatch(text):
        return _compact(found, value, zone)
    if _NUMBER.fullmatch(text):
        return _epoch(float(text), value)
    return _written(text, value, zone)


def _plain(found: re.Match[str], value: object, zone: tzinfo) -> datetime:
    try:
        if found[2] == "Z":
            return datetime.fromisoformat(found[0])
        own = _own_zone(found[2], value) if found[2] else zone
        return datetime.fromisoformat(found[1]).replace(tzinfo=own)
    except ValueError as error:
        raise _refused(value) from error


def _epoch(number: int | float, value: object) -> datetime:
    if not math.isfinite(number) if isinstance(number, float) else abs(number) > 10**15:
        raise _refused(value)
    is_milliseconds = abs(number) >= _FIRST_MILLISECONDS
    try:
        return _EPOCH + timedelta(**{"milliseconds" if is_milliseconds else "seconds": number})
    except OverflowError as error:
        raise _refused(value) from error


def _compact(found: re.Match[str], value: object, zone: tzinfo) -> datetime:
    numbers = [int(group or 0) for group in found.groups()[:6]]
    return _build(numbers, 0, _own_zone(found[7], value) if found[7] else zone, value)


def _written(text: str, value: object, zone: tzinfo) -> datetime:
    """A date in one of the known orders, the rest a time of day with or without an offset."""
    bare = _BRACKETS.sub(" ", text)
    date = next((found for form in _DATES if (found := form.search(bare))), None)
    if date is None:
        raise _refused(value)
    rest = _GLUE.sub(" ", f"{bare[: date.start()]} {bare[date.end() :]}".lstrip()).strip()
    clock = _CLOCK.fullmatch(rest)
    if clock is None or not _is_whole(clock):
        raise _refused(value)
    month = date["mo"].lower()
    numbers = [int(date["y"]), MONTHS.get(month) or int(month), int(date["d"])]
    numbers += [_hour(clock, value), _minute(clock), int(clock["s"] or 0)]
    own = _own_zone(clock["zone"], value) if clock["zone"] else zone
    return _build(numbers, int((clock["f"] or "0")[:6].ljust(6, "0")), own, value)


def _is_whole(clock: re.Match[str]) -> bool:
    """False for a bare number and for a clock that breaks off after its colon."""
    if clock["sign"] == ":":
        return clock["m"] is not None and clock["m"] != "半"
    return bool(clock["sign"] or clock["half"] or not clock["h"])


def _minute(clock: re.Match[str]) -> int:
    return 30 if clock["m"] == "半" else int(clock["m"] or 0)


def _own_zone(name: str, value: object) -> tzinfo:
    try:
        return zone_info(name)[0]
    except InputError as error:
        raise _refused(value) from error


def _hour(clock: re.Match[str], value: object) -> int:
    """The hour from 0 to 23; with a half of the day it counts from 1 to 12."""
    hour = int(clock["h"] or 0)
    part = clock["part"] or (clock["half"] or "").lower().replace(".", "")
    if clock["half"] and not 1 <= hour <= 12:
        raise _refused(value)
    if part in _AFTERNOON and hour < 12 and not (part == "中午" and hour > 3):
        return hour + 12
    return 0 if part in _MORNING and hour == 12 else hour


def _build(numbers: list[int], microsecond: int, zone: tzinfo, value: object) -> datetime:
    try:
        return datetime(*numbers[:6], microsecond, tzinfo=zone)  # type: ignore[misc,arg-type]
    except ValueError as error:
        raise _refused(value) from error
