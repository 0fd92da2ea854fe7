"""Texts of others as a prompt shows them: on one line, fenced as data, under short ids.

Ids hold for one request and give away no order, so that one which a model makes up is hardly ever
one of them.
"""

import re
from collections.abc import Sequence

from pipeline.ids import digest

FENCES = ("messages", "entries")
"""The tags that stand around what is shown."""

_FENCES = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(FENCES)}))", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SIGNS = "bcdfghjkmnpqrstvwxz"
_FEW = 60


def one_line(text: str) -> str:
    """On one line, without signs that cannot be seen, and without a fence of ours."""
    return _FENCES.sub("‹", _CONTROLS.sub("", " ".join(text.split())))


def short_ids(names: Sequence[str]) -> dict[str, str]:
    """Per name its id in this request, two or three consonants drawn from digests."""
    length = 2 if len(names) <= _FEW else 3
    taken: dict[str, str] = {}
    for name in names:
        turn = 0
        while (drawn := _drawn(name, turn, length)) in taken:
            turn += 1
        taken[drawn] = name
    return {name: drawn for drawn, name in taken.items()}


def _drawn(name: str, turn: int, length: int) -> str:
    number = int(digest("line", name, str(turn))[:12], 16)
    signs = ""
    for _ in range(length):
        number, place = divmod(number, len(_SIGNS))
        signs += _SIGNS[place]
    return signs
