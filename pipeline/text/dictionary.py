"""jieba's dictionary, read once at first use, without its log lines and its cache file."""

from functools import cache

import jieba
import jieba.posseg


@cache
def chinese_words() -> jieba.Tokenizer:
    """The tokenizer that cuts Chinese text into dictionary words."""
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


@cache
def chinese_tags() -> jieba.posseg.POSTokenizer:
    """The same words with their part of speech (nr person, ns place, nt organisation, v verb)."""
    return jieba.posseg.POSTokenizer(chinese_words())
