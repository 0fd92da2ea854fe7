"""jieba's dictionary, read once at first use, without its log lines and its cache file."""

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jieba
    import jieba.posseg


@cache
def chinese_words() -> "jieba.Tokenizer":
    """The tokenizer that cuts Chinese text into dictionary words; add no words to it."""
    import jieba  # takes most of a second, which a command that reads no text should not

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


_KNOWN_HAN = re.compile("[\u4e00-\u9fd5]*")
"""What jieba takes as one piece; other signs part what it cuts."""


def known_words(run: str) -> list[str]:
    """The words of a run of Han characters as jieba cuts them without guessing unknown ones.

    The likeliest way through the dictionary, in one pass from the end; of equally likely first
    words the longest. jieba makes a graph of all words first, which takes twice as long.
    """
    if not _KNOWN_HAN.fullmatch(run):
        return list(chinese_words().cut(run, HMM=False))
    stops = _stops(run)
    words: list[str] = []
    start = 0
    while start < len(run):
        words.append(run[start : stops[start]])
        start = stops[start]
    return words


def _stops(run: str) -> list[int]:
    """Per character where the word that begins with it ends, on the likeliest way."""
    known, log_total = chinese_words().FREQ, math.log(chinese_words().total)
    stops = list(range(1, len(run) + 1))
    likelihood = [0.0] * (len(run) + 1)
    for start in range(len(run) - 1, -1, -1):
        best = -math.inf
        stop = start + 1
        while stop <= len(run) and (count := known.get(run[start:stop])) is not None:
            if count and (value := math.log(count) - log_total + likelihood[stop]) >= best:
                best, stops[start] = value, stop
            stop += 1
        likelihood[start] = best if best > -math.inf else likelihood[start + 1] - log_total
    return stops


def own_chinese_words() -> "jieba.Tokenizer":
    """A new tokenizer over a copy of the dictionary, to which words may be added."""
    import jieba

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = dict(chinese_words().FREQ), chinese_words().total
    tokenizer.initialized = True
    return tokenizer


@cache
def chinese_tags() -> "jieba.posseg.POSTokenizer":
    """The same words with their part of speech (nr person, ns place, nt organisation, v verb)."""
    import jieba.posseg

    return jieba.posseg.POSTokenizer(chinese_words())


def chinese_parts() -> Mapping[str, str]:
    """Part of speech by word, of the words in the dictionary."""
    parts: dict[str, str] = chinese_tags().word_tag_tab
    return parts
