"""Which words of a text stay when only part of its tokens may.

Words are weighed by what a model says each of their tokens tells; the most telling stay until the
budget is spent, so the threshold is the percentile of the text itself. What must not be lost
(numbers, negations, names, code, links) comes first, inside the budget, and stays even where it
alone exceeds the budget. The budget counts the tokens of the text that is left, as it is written.

Source: arXiv 2510.18866, section 3.1. There the threshold is a percentile over words; here tokens
are counted, so that the rate holds for texts of long and short words alike. Knows nothing of
models.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from pipeline.awake.readings import Reading, Tier, Values, Word
from pipeline.awake.words import HAN
from pipeline.errors import InputError
from pipeline.ports import Tokenizer
from pipeline.state import Compressed
from pipeline.text.dictionary import chinese_parts

WHOLE_BELOW_WORDS = 4
"""Texts of fewer words stay as they are: half an answer of three words is none."""

_AGAIN_RATE = 0.5
_AGAIN_PASSES = 2
_FILLERS = 8
_REASON_CHARS = 200
_SPACELESS = re.compile(rf"[{HAN}\u3000-\u303f\uff00-\uffef]")
_NUMERAL = re.compile(r"[\d零〇一二两三四五六七八九十百千万亿半几]")
"""Two numbers are two also where all between them goes."""


def is_whole(found: Sequence[Word], *, rate: float) -> bool:
    """Whether all words of a text stay, whatever a model says."""
    return len(found) < WHOLE_BELOW_WORDS or rate >= 1.0


def compressed(
    reading: Reading,
    judged: Sequence[Values | str],
    *,
    rate: float,
    tokenizer: Tokenizer,
    max_tokens: int,
    small_word_weight: float = 1.0,
) -> Compressed:
    """The text with the words that stay.

    A result longer than ``max_tokens`` is chosen again at half the rate, at most twice, from the
    same values. A text that failed, or of which nothing would be left, stays as it was.

    Args:
        judged: per chunk its values, or why there are none.
        rate: share of the text's tokens that may stay, 0..1.
        tokenizer: counts the tokens of the rate and of ``max_tokens``.
        small_word_weight: how much of their worth function words and marks have, 0..1.

    Raises:
        InputError: the values are not one per token.
    """
    failures = [reading.failure, *(each for each in judged if isinstance(each, str))]
    if failure := next((each for each in failures if each), None):
        return Compressed(text=reading.text, fallback=failure[:_REASON_CHARS])
    if not reading.chunks:
        return Compressed(text=reading.text)
    values = np.concatenate([each for each in judged if not isinstance(each, str)])
    worth = _per_word(reading, values, small_word_weight)
    found, text = reading.words, reading.text
    for again in range(_AGAIN_PASSES + 1):
        asked = rate * _AGAIN_RATE**again
        kept = choose(text, found, worth, rate=asked, tokenizer=tokenizer)
        left = join(text, found, kept)
        if tokenizer.count([left])[0] <= max_tokens:
            break
    if not left.strip():
        return Compressed(text=text, fallback="no word would be left")
    return Compressed(text=left)


def choose(
    text: str, found: Sequence[Word], worth: Sequence[float], *, rate: float, tokenizer: Tokenizer
) -> list[int]:
    """Indices of the words that stay, in order.

    Args:
        found: the words of the text, in order.
        worth: how telling each word is, higher is more.
        rate: share of the text's tokens that may stay, 0..1.

    Raises:
        InputError: there is not one worth per word.
    """
    if len(found) != len(worth):
        raise InputError(f"{len(found)} words, {len(worth)} values", field="worth")
    if is_whole(found, rate=rate):
        return list(range(len(found)))
    budget = round(rate * tokenizer.count([text])[0])
    order = sorted(range(len(found)), key=lambda i: (-found[i].tier, -worth[i], i))
    forced = sum(word.tier == Tier.KEPT for word in found)

    def length(kept: Sequence[int]) -> int:
        return tokenizer.count([join(text, found, _without_idle_ends(found, sorted(kept)))])[0]

    first = _most_within(lambda n: length(order[:n]), budget, least=forced, most=len(order))
    kept = order[:first]
    spent = length(kept)
    for i in order[first : first + _FILLERS]:
        if spent >= budget:
            break
        if (longer := length([*kept, i])) <= budget:
            kept, spent = [*kept, i], longer
    return _without_idle_ends(found, sorted(kept))


def _most_within(length: Callable[[int], int], budget: int, *, least: int, most: int) -> int:
    """The most words, of those in order of worth, whose text is within the budget."""
    while least < most:
        middle = (least + most + 1) // 2
        if length(middle) <= budget:
            least = middle
        else:
            most = middle - 1
    return least


def _per_word(reading: Reading, values: Values, small_word_weight: float) -> list[float]:
    """Mean value of each word's tokens; a token across two words is in both."""
    if len(values) != len(reading.starts):
        raise InputError(f"{len(reading.starts)} tokens, {len(values)} values", field="values")
    found = reading.words
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    first = np.searchsorted(reading.ends, [word.start for word in found], side="right")
    last = np.searchsorted(reading.starts, [word.end for word in found], side="left")
    means = (sums[np.maximum(last, first)] - sums[first]) / np.maximum(last - first, 1)
    weights = [small_word_weight if word.is_small else 1.0 for word in found]
    worth: list[float] = (means * weights).tolist()
    return worth


def _without_idle_ends(found: Sequence[Word], kept: Sequence[int]) -> list[int]:
    """Leaves out sentence ends of sentences that have lost every word."""
    left: list[int] = []
    for i in kept:
        is_idle = (
            found[i].tier == Tier.STRUCTURE
            and found[i].text != "|"
            and (not left or found[left[-1]].tier == Tier.STRUCTURE)
        )
        if not is_idle:
            left.append(i)
    return left


def join(text: str, found: Sequence[Word], kept: Sequence[int]) -> str:
    """The kept words of a text as a text; the white space is that of the original."""
    pieces: list[str] = []
    for place, i in enumerate(kept):
        if place:
            pieces.append(_gap(text, found, kept[place - 1], i))
        pieces.append(found[i].text)
    return "".join(pieces)


def _would_merge(left: str, right: str) -> bool:
    """Whether the end of one and the beginning of the other would read as one number or word.

    A word and its negation would read as a question: 能 and 不能 as 能不能.
    """
    ends = left[-1] + right[0]
    is_number = all(map(_NUMERAL.match, ends))
    return is_number or ends in chinese_parts() or (right[0] in "不没" and right[1:2] == left[-1])


def _gap(text: str, found: Sequence[Word], before: int, after: int) -> str:
    left, right = found[before], found[after]
    between = text[left.end : right.start]
    if after == before + 1:
        return between
    if "\n" in between:
        return "\n"
    if right.tier == Tier.STRUCTURE and right.text != "|":
        return ""
    if Tier.KEPT in (left.tier, right.tier) and _would_merge(left.text, right.text):
        return " "
    if _SPACELESS.match(left.text[-1]) and _SPACELESS.match(right.text[0]):
        return ""
    touches_han = _SPACELESS.match(left.text[-1]) or _SPACELESS.match(right.text[0])
    return "" if touches_han and not re.search(r"\s", between) else " "
