"""jieba's dictionary, read once at first use, without its log lines and its cache file."""

from collections.abc import Mapping
from functools import cache

import jieba
import jieba.posseg


@cache
def chinese_words() -> jieba.Tokenizer:
    """The tokenizer that cuts Chinese text into dictionary words; add no words to it."""
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


def own_chinese_words() -> jieba.Tokenizer:
    """A new tokenizer over a copy of the dictionary, to which words may be added."""
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = dict(chinese_words().FREQ), chinese_words().total
    tokenizer.initialized = True
    return tokenizer


@cache
def chinese_tags() -> jieba.posseg.POSTokenizer:
    """The same words with their part of speech (nr person, ns place, nt organisation, v verb)."""
    return jieba.posseg.POSTokenizer(chinese_words())


def chinese_parts() -> Mapping[str, str]:
    """Part of speech by word, of the words in the dictionary."""
    parts: dict[str, str] = chinese_tags().word_tag_tab
    return parts
