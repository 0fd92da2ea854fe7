"""Hits that say nothing a better hit does not say."""

import re
from collections.abc import Sequence
from functools import lru_cache

from pipeline.entries import Entry
from pipeline.sleep.contained import contains

_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


def is_contained(entry: Entry, better: Sequence[Entry]) -> bool:
    """Whether one of the better entries, of the same speaker and kind, says all of it."""
    words = _words(entry.text)
    return any(
        (one.speaker, one.kind) == (entry.speaker, entry.kind)
        and words <= _words(one.text)
        and contains(one.text, entry.text)
        for one in better
    )


@lru_cache(maxsize=20_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
