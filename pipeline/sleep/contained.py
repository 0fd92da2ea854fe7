"""Whether one text says all that another one says: its words in their order, none of them denied.

In English and Chinese, and by surfaces alone, so it errs on the side of saying no.
"""

import re

from pipeline.sleep.kept import is_chinese, lost, negations, stem
from pipeline.text.dictionary import known_words

_WORD = re.compile(r"[a-z]+|\d[\d.,:/-]*\d|\d")
_HAN = re.compile(r"[\u4e00-\u9fd5]+|[A-Za-z]+|\d[\d.,:/-]*\d|\d")
_PASSED_OVER = frozenset(("a", "an", "the", "s", "also", "and", "that", "this", "it"))
_ZH_PASSED_OVER = frozenset("的了是在也还和都就已经着过一个")


def contains(text: str, part: str) -> bool:
    """Whether ``text`` says all that ``part`` says: its words in their order, none denied."""
    if lost(text, [part]) or is_chinese(text) != is_chinese(part):
        return False
    if is_chinese(part):
        return not _is_denied_chinese(text, part) and _holds_chinese(text, part)
    words = _words(part)
    denied = negations(text) - negations(part)
    return not denied & set(words) and _is_within(words, _words(text))


def _words(text: str) -> list[str]:
    found = _WORD.findall(text.lower())
    return [stem(word) for word in found if word not in _PASSED_OVER]


def _is_within(words: list[str], longer: list[str]) -> bool:
    rest = iter(longer)
    return all(word in rest for word in words)


def _is_denied_chinese(text: str, part: str) -> bool:
    return any(word in part for word in negations(text) - negations(part))


def _holds_chinese(text: str, part: str) -> bool:
    place = 0
    for run in _HAN.findall(part):
        for word in known_words(run):
            if word in _ZH_PASSED_OVER:
                continue
            place = text.find(word, place)
            if place < 0:
                return False
            place += len(word)
    return True
