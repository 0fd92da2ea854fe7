"""The names in a statement: capitalised words in English, tagged words in Chinese."""

import re

from pipeline.awake.pronouns_verbs import VERBS
from pipeline.text.dictionary import chinese_tags

MOST = 12

_HAN = re.compile(r"[㐀-鿿]")
_NAME = re.compile(
    r"[A-Z][A-Za-z0-9&]*(?:['’-][A-Z]\w+)*"
    r"(?:(?: (?:of|de|van|von|la) | )[A-Z][A-Za-z0-9&]*(?:['’-][A-Z]\w+)*)*"
)
_AT_START = re.compile(r"(?:^|[.!?:\n]\s+|[\"“*(]|\bI )$")
_NO_NAMES_WORDS = """
I It The This That These Those A An And But Or So If When While What Who Where Why How Which
He She They We You My Your His Her Their Our Its Not No Yes Ok OK In On At For From With To
As By Of There Here Then Also Just Even After Before Since Because Maybe Perhaps Oh Hey Hi
Hello Wow Thanks Thank Please Let Lets Do Does Did Is Are Was Were Be Been Have Has Had Can
Could Will Would Should May Might Must The
"""
_NO_NAMES = frozenset(_NO_NAMES_WORDS.split())
_TAGS = ("nr", "ns", "nt")
_NO_CHINESE_NAMES = frozenset({"东西", "中度", "满怀", "人山人海", "和平", "高峰", "明白", "小康"})


def entities(text: str, *, known: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The distinct names in order of mention, at most twelve.

    ``known`` are names, such as those of speakers, that count wherever they stand.
    """
    found = dict.fromkeys([*_latin(text, known), *_chinese(text)])
    return tuple(found)[:MOST]


def _latin(text: str, known: frozenset[str]) -> list[str]:
    return [_bare(m.group()) for m in _NAME.finditer(text) if _is_name(text, m, known)]


def _bare(name: str) -> str:
    """The name without the small words that a sentence or a question begins with."""
    words = name.split(" ")
    while words and (words[0] in _NO_NAMES or _is_verb(words)):
        del words[0]
    return " ".join(words)


def _is_verb(words: list[str]) -> bool:
    """``Keep Mara``: an imperative in front of a name."""
    return len(words) > 1 and words[0].lower() in VERBS


def _is_name(text: str, match: re.Match[str], known: frozenset[str]) -> bool:
    name = _bare(match.group())
    if name in known:
        return True
    if len(name) < 2:
        return False
    starts = name == match.group() and _AT_START.search(text[: match.start()][-3:])
    return " " in name or not starts


def _chinese(text: str) -> list[str]:
    if not _HAN.search(text):
        return []
    tagged = chinese_tags().cut(text, HMM=False)
    found = [pair.word for pair in tagged if pair.flag.startswith(_TAGS) and len(pair.word) > 1]
    return [word for word in found if word not in _NO_CHINESE_NAMES]
