"""English words to their stems, by the Snowball algorithm."""

import threading
from functools import lru_cache

import snowballstemmer

_STEMMER = snowballstemmer.stemmer("english")
_LOCK = threading.Lock()
"""A stemmer keeps the word it works on in itself."""


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; words come again and again, so stems are kept.

    What is not all letters, as a number or a name of code, is its own stem.
    """
    if not word.isalpha():
        return word
    with _LOCK:
        return str(_STEMMER.stemWord(word))
