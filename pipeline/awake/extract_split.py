"""Long statements to pieces within a limit: at sentences, then clauses, then words; none cut short.

Knows nothing of tokenisers: it is given one measure.
"""

import re
from collections.abc import Callable, Iterator

Measure = Callable[[str], int]

_CUTS = (
    re.compile(r"(?<=[。！？\n])|(?<=[.!?])\s+"),
    re.compile(r"(?<=[，；、：])|(?<=[,;:])\s+"),
    re.compile(r"(?<=\s)"),
)


def split(text: str, *, measure: Measure, limit: int) -> list[str]:
    """Pieces of at most ``limit`` by ``measure`` that together hold the whole text, in order.

    A run without white space or punctuation is halved until it fits.
    """
    return [piece.strip() for piece in _split(text, measure, limit, 0) if piece.strip()]


def _split(text: str, measure: Measure, limit: int, level: int) -> Iterator[str]:
    if _fits(text, measure, limit) or len(text) < 2:
        yield text
    elif level == len(_CUTS):
        half = len(text) // 2
        yield from _split(text[:half], measure, limit, level)
        yield from _split(text[half:], measure, limit, level)
    else:
        for part in _gathered(_CUTS[level].split(text), measure, limit, level):
            yield from _split(part, measure, limit, level + 1)


def _gathered(parts: list[str], measure: Measure, limit: int, level: int) -> Iterator[str]:
    """Neighbouring parts put together again while they fit."""
    glue = " " if level < 2 else ""
    held = ""
    for part in parts:
        longer = f"{held}{_glue(held, glue)}{part}" if held else part
        if held and not _fits(longer, measure, limit):
            yield held
            held = part
        else:
            held = longer
    if held:
        yield held


def _glue(held: str, glue: str) -> str:
    return glue if held[-1:].isascii() and not held[-1:].isspace() else ""


def _fits(text: str, measure: Measure, limit: int) -> bool:
    """A token holds at least a third of a character, so short texts need no measuring."""
    return len(text) * 3 <= limit or (len(text) <= limit * 40 and measure(text) <= limit)
