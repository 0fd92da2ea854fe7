"""Which retold sentences need their speaker in front, because they have no subject of their own.

Imperatives, fragments without a verb and very short sentences: alone they say nothing of anybody.
"""

import re
from collections.abc import Sequence

from pipeline.awake.pronouns_verbs import AUXILIARIES, UNCHANGED, VERBS, is_past, third_person

SHORT_WORDS = 5
SHORT_HAN = 8

_FIRST_SENTENCE = re.compile(r"^.*?[.!?](?=\s|$)|^.+$", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HAN = re.compile(r"[㐀-鿿]")
_MONTH = re.compile(r"\bMay\b")
_COPULAS = frozenset({"is", "are", "be", "been", "has", "does", "isn't", "aren't", "hasn't"})
_FINITE = _COPULAS | UNCHANGED | frozenset(AUXILIARIES) | VERBS | {third_person(v) for v in VERBS}
_CONTRACTED = re.compile(r"\w['’](?:s|re|ll|ve|d|m)$")
_IMPERATIVE = re.compile(
    r"^(?:please|do not|don['’]t|never|always|let['’]s|be|go|keep|check|forget|add|update|use|set|"
    r"remember|make sure|send)\b",
    re.IGNORECASE,
)
_NO_SUBJECT_CHINESE = re.compile(
    r"^(?:[买换录搬写做学吃喝看听试花送收退订办修养种开卖租跑挂交读画报](?:了|完|到|好|过|把|着)|"
    r"只(?:会|有|能|要|是|想)|第[一二三四五六七八九十][首次步]|最近|上次|预算|要是|别(?!的|人)|不要|回答|每次)"
)


def needs_speaker(said: str, told: str, names: Sequence[str], *, is_chinese: bool) -> bool:
    """Whether the sentence leaves open whose it is.

    Args:
        said: the sentence in the first person.
        told: the sentence retold.
        names: of the speaker and, where known, the addressee.
        is_chinese: whether Chinese rules decide.
    """
    low = told.casefold()
    if names[0].casefold() in low:
        return not is_chinese and bool(_IMPERATIVE.match(said)) and not _starts(low, names[0])
    if is_chinese:
        bare = len(_HAN.findall(told)) < SHORT_HAN
        return bare or bool(_NO_SUBJECT_CHINESE.match(said))
    return _is_bare(told) and not any(_starts(low, name) for name in names)


def _starts(low: str, name: str) -> bool:
    return low.startswith(name.casefold())


def _is_bare(told: str) -> bool:
    first = _FIRST_SENTENCE.match(told)
    found = _WORD.findall(_MONTH.sub("", first[0] if first else told))
    words = [word.lower().replace("’", "'") for word in found]
    is_imperative = bool(_IMPERATIVE.match(told)) or (bool(words) and words[0] in VERBS)
    return is_imperative or len(words) <= SHORT_WORDS or not any(map(_is_finite, words))


def _is_finite(word: str) -> bool:
    return word in _FINITE or is_past(word) or bool(_CONTRACTED.search(word))
