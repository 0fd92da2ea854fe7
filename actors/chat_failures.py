"""What went wrong with one try at an endpoint, and whether another one may help."""

import math
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from enum import Enum, auto

import openai

_PASSING = frozenset((408, 409, 425))
_CLOSED = frozenset((401, 402, 403, 404))
_FULL = 429
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Way(Enum):
    """How a try failed.

    PASSING and FULL may be over soon; CLOSED concerns every request until an operator acts;
    REFUSED concerns this request for ever.
    """

    PASSING = auto()
    FULL = auto()
    CLOSED = auto()
    REFUSED = auto()


class Failed(Exception):
    """One try failed; ``sign`` is a status or a word, ``after_s`` when to come again."""

    def __init__(self, sign: str, way: Way, *, after_s: float | None = None) -> None:
        super().__init__(sign)
        self.sign = sign
        self.way = way
        self.after_s = after_s


def failed_with(error: openai.OpenAIError) -> Failed:
    """What the client's error means; of its text only a code is kept."""
    match error:
        case openai.APIStatusError(status_code=status, response=response):
            code = f" {error.code}" if error.code and _CODE.fullmatch(str(error.code)) else ""
            return Failed(f"{status}{code}", _way(status), after_s=retry_after_s(response.headers))
        case openai.APITimeoutError():
            return Failed("timeout", Way.PASSING)
        case openai.APIConnectionError():
            return Failed("connection", Way.PASSING)
    return Failed(type(error).__name__, Way.PASSING)


def _way(status: int) -> Way:
    if status == _FULL:
        return Way.FULL
    if status >= 500 or status in _PASSING:
        return Way.PASSING
    return Way.CLOSED if status in _CLOSED or status < 400 else Way.REFUSED


def retry_after_s(
    headers: Mapping[str, str], *, now: Callable[[], float] = time.time
) -> float | None:
    """Seconds after which an endpoint wants to be asked again; None where it does not say.

    Args:
        now: seconds since the epoch, for a header that holds a date.
    """
    value = headers.get("Retry-After", "").strip()
    seconds = _number(headers.get("Retry-After-Ms", ""), 1e-3)
    if seconds is None:
        seconds = _number(value, 1.0)
    if seconds is None and value:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now()
        except (ValueError, OverflowError):
            return None
    return None if seconds is None else max(0.0, seconds)


def _number(text: str, unit: float) -> float | None:
    try:
        value = float(text) * unit
    except ValueError:
        return None
    return value if math.isfinite(value) else None
