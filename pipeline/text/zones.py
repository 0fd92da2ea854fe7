"""Time zones by name, the same on every host.

Knows IANA names and fixed offsets; refuses the names that mean whatever the host is set to.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pipeline.errors import InputError

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?", re.ASCII | re.IGNORECASE)
_UTC_NAMES = frozenset({"utc", "z", "gmt", "etc/utc", "etc/gmt", "zulu"})
_HOST_NAMES = frozenset({"localtime", "posixrules", "factory"})
_WIDEST = timedelta(hours=18)


def zone_info(name: str) -> tuple[tzinfo, str]:
    """The zone and its usual name: ``UTC``, an IANA name, or an offset such as ``+08:00``.

    Raises:
        InputError: the name is neither; its field is ``zone``.
    """
    if not isinstance(name, str):
        raise _unknown(type(name).__name__)
    return _zone(name)


@lru_cache(maxsize=1024)
def _zone(name: str) -> tuple[tzinfo, str]:
    stripped = name.strip()
    if stripped.lower() in _UTC_NAMES:
        return UTC, "UTC"
    offset = _OFFSET.fullmatch(stripped)
    return _fixed(offset, name) if offset else _named(stripped, name)


def offset_name(moment: datetime) -> str:
    """How far the local time of an aware moment is from UTC: ``+08:00``, or ``UTC`` for none."""
    minutes = int((moment.utcoffset() or timedelta()).total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}" if minutes else "UTC"


def _fixed(offset: re.Match[str], name: str) -> tuple[tzinfo, str]:
    distance = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
    if distance > _WIDEST:
        raise _unknown(name)
    zone = timezone(-distance if offset[1] == "-" else distance)
    return zone, offset_name(datetime(2000, 1, 1, tzinfo=zone))


def _named(stripped: str, name: str) -> tuple[tzinfo, str]:
    if not stripped.isascii() or stripped.lower() in _HOST_NAMES:
        raise _unknown(name)
    try:
        return ZoneInfo(stripped), stripped
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _unknown(name) from error


def _unknown(name: str) -> InputError:
    expected = "an IANA time zone such as Asia/Shanghai or an offset such as +08:00"
    return InputError(f"expected {expected}, got {name[:60]!a}", field="zone")
