"""Which texts and JSON values a store can keep, on either database. Knows no field names."""

import math
import re
from collections.abc import Mapping

_SURROGATES = re.compile("[\ud800-\udfff]")

HIGHEST = 2**53 - 1
"""The highest whole number that every reader of JSON keeps as it is."""

DEEPEST = 32
"""Levels of nesting that a JSON value may have."""


def check_text(text: str) -> None:
    """Raises ValueError for NUL and for lone surrogates."""
    if (at := text.find("\0")) >= 0:
        raise ValueError(f"expected no NUL byte, got one at character {at}")
    if not text.isascii() and (found := _SURROGATES.search(text)):
        code = f"U+{ord(found.group()):04X}"
        raise ValueError(
            f"expected valid Unicode, got the lone surrogate {code} at character {found.start()}"
        )


def check_json(value: object, *, deepest: int = DEEPEST) -> None:
    """Raises ValueError for other types, NaN, infinities, NUL, surrogates, bottomless nesting."""
    if deepest < 0:
        raise ValueError(f"expected at most {DEEPEST} levels of nesting, got more")
    match value:
        case str():
            check_text(value)
        case dict() | Mapping():
            _check_mapping(value, deepest - 1)
        case float() if not math.isfinite(value):
            raise ValueError(f"expected a finite number, got {value}")
        case None | bool() | int() | float():
            return
        case list() | tuple():
            for item in value:
                check_json(item, deepest=deepest - 1)
        case _:
            raise ValueError(f"expected a JSON value, got a value of type {type(value).__name__}")


def _check_mapping(value: Mapping[object, object], deepest: int) -> None:
    for key, item in value.items():
        if not isinstance(key, str):
            raise ValueError(f"expected texts as keys, got a value of type {type(key).__name__}")
        check_text(key)
        check_json(item, deepest=deepest)
