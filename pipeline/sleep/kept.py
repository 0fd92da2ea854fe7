"""What a merged text must not lose: names, numbers and negations.

Works on surfaces alone, in English and Chinese, so it errs on the side of asking for more.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import snowballstemmer

from pipeline.sleep.slots import values
from pipeline.text.dictionary import chinese_tags

_STEM = snowballstemmer.stemmer("english")
_CJK = re.compile(r"[一-鿿]")
_WORD = re.compile(r"[A-Za-z][\w'’+#.-]*\w|[A-Za-z]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_NAMES = _words(
    "a an the i my our your his her its their this that these those user users he she it they we "
    "you in on at since as after before when while if from to for with by and but or so yet not "
    "no never actually correction update now also both every each all some there here"
)
_NOT = _words("not no never without neither nor cannot none nobody nothing")
_PASSED_OVER = _words(
    "a an the any to be been is are was were do does did have has had will would can could of in "
    "on at for with as very much more longer yet ever also only that it"
)
_ZH_NOT = re.compile(
    r"(?<![差级区分性类特告个识辨派])"
    r"(?:不再|不要|没有|不(?![过错同但仅久断少管论如])|没(?!关系)|别(?!人|的|墅)|无(?!论)|"
    r"未(?!来|婚)|勿)"
    r"([一-鿿]{1,2})"
)
_REACH = 4
_BEGINS = re.compile(r"(?:^|[.!?;:,。！？；：，]\s*)([A-Z][a-z]+)\b")


def is_chinese(text: str) -> bool:
    """Whether a text is to be read as Chinese: it holds CJK characters."""
    return _CJK.search(text) is not None


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case English word."""
    return str(_STEM.stemWord(word))


def numbers(text: str) -> frozenset[str]:
    """Times, dates and amounts in one notation, each with its type but without its unit."""
    found, _ = values(text, is_chinese=is_chinese(text))
    return frozenset(
        f"{key.partition(':')[0]} {value}" for key, each in found.items() for value in each
    )


@lru_cache(maxsize=4_096)
def names(text: str) -> frozenset[str]:
    """Proper names, titles and identifiers, lower-case; a Chinese text also gives tagged names."""
    found = {
        word.removesuffix("'s").removesuffix("’s").lower()
        for word in _WORD.findall(text)
        if word != word.lower()
    }
    found |= {title.lower() for title in re.findall(r"《([^》]+)》", text)}
    if is_chinese(text):
        found |= {
            pair.word
            for pair in chinese_tags().lcut(text)
            if pair.flag in ("nr", "ns", "nt", "nz") and len(pair.word) > 1
        }
    return frozenset(found - _NOT_NAMES)


def negations(text: str) -> frozenset[str]:
    """What a text denies: the stem (English) or the characters (Chinese) after each negation."""
    if is_chinese(text):
        return frozenset(_ZH_NOT.findall(text))
    return frozenset(scope[0] for scope in _scopes(text) if scope)


def _scopes(text: str) -> list[list[str]]:
    tokens = re.findall(r"[a-z]+(?:'[a-z]+)?|\d+|[.,;:!?]", text.lower().replace("’", "'"))
    scopes = []
    for place, token in enumerate(tokens):
        if token in _NOT or token.endswith("n't"):
            after = tokens[place + 1 : place + 9]
            stop = next((i for i, word in enumerate(after) if not word[0].isalnum()), len(after))
            scopes.append([stem(w) for w in after[:stop] if w not in _PASSED_OVER][:5])
    return scopes


def lost(text: str, sources: Sequence[str]) -> list[str]:
    """Names, numbers and denied words of the sources that ``text`` lacks, sorted, none twice."""
    lowered = text.lower()
    missing: set[str] = set()
    for source in sources:
        missing |= {name for name in names(source) if name not in lowered}
        missing |= numbers(source) - numbers(text)
        missing |= {f"not {word}" for word in negations(source) if not _denies(text, word)}
    return sorted(missing)


def invented(text: str, sources: Sequence[str]) -> list[str]:
    """Names and numbers of ``text`` that no source has, sorted, none twice.

    A capital that only begins a sentence makes no name.
    """
    lowered = "\n".join(sources).lower()
    began = {match[1].lower() for match in _BEGINS.finditer(text)}
    known = frozenset[str]().union(*(numbers(source) for source in sources))
    made = {name for name in names(text) - began if name not in lowered}
    return sorted(made | (numbers(text) - known))


def _denies(text: str, word: str) -> bool:
    if is_chinese(text):
        near = rf"[不没别无未勿][^，。；,;]{{0,{_REACH}}}?{re.escape(word[0])}"
        return re.search(near, text) is not None
    return any(word in scope for scope in _scopes(text))
