"""English first and second persons to names, with the verbs that agree with them.

Rules over words, no tagger. ``we`` become the speaker and others, then they. A ``you`` that means
anybody stays.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.awake.pronouns_verbs import (
    ADVERBS,
    AUXILIARIES,
    NO_VERBS,
    UNCHANGED,
    VERBS,
    is_past,
    third_person,
)

_GUARDED = re.compile(r"“[^”]*”|`[^`]*`|(?<!\w)\"[^\"]*\"|https?://\S+")
_TOKEN = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*|[^A-Za-z]+")
_SENTENCE_END = re.compile(r"[.!?:\n]\s*[\"'”)]*\s*$")
_ANYBODY = re.compile(
    r"\b(?:makes|making|helps|lets|gives|keeps|teaches|allows|takes|brings|gets|"
    r"when(?:ever)?|once|where|before|after|while|unless|like|what) you\b"
    r"|\byou (?:never know|can never|just never|guys|know what|have to admit)\b"
    r"|\b(?:thank|thanks to|see|catch) you\b",
    re.IGNORECASE,
)
_INVERTING_WORDS = """
am are was were do does did have had don't didn't haven't hadn't aren't weren't wasn't can
could will would should shall may might must can't couldn't won't wouldn't shouldn't
"""
_INVERTING = frozenset(_INVERTING_WORDS.split())
_LONG = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_FIRST = frozenset({"i", "me", "my", "mine", "myself", "im", "ive"})
_MANY = frozenset({"we", "us", "our", "ours", "ourselves"})
_SECOND = frozenset({"you", "your", "yours", "yourself", "ur"})
_HAD_WORDS = """
better been rather
"""
_HAD = frozenset(_HAD_WORDS.split())
_LOOK_AHEAD = 8


@dataclass(slots=True)
class _Words:
    """The tokens of a sentence, words and what lies between them in turn, changed in place."""

    tokens: list[str]
    speaker: str
    addressee: str | None
    is_joined: bool = False

    def low(self, place: int) -> str:
        return self.tokens[place].lower().replace("’", "'") if self._is_word(place) else ""

    def neighbour(self, place: int, step: int) -> int:
        """The next word in this direction inside the clause, -1 where a mark stands between."""
        place += step
        while 0 <= place < len(self.tokens):
            if self._is_word(place):
                return place
            if self.tokens[place].strip():
                return -1
            place += step
        return -1

    def starts(self, place: int) -> bool:
        before = "".join(self.tokens[max(0, place - 2) : place])
        return not before.strip(" \"'“(*_-") or bool(_SENTENCE_END.search(before))

    def _is_word(self, place: int) -> bool:
        return 0 <= place < len(self.tokens) and self.tokens[place][:1].isalpha()


def retold_in_english(sentence: str, speaker: str, addressee: str | None) -> str:
    """``I'm moving to my aunt's`` said by Mara is ``Mara is moving to Mara's aunt's``."""
    parts: list[str] = []
    cut = 0
    anybody = addressee is None or bool(_ANYBODY.search(sentence))
    tell = _teller(speaker, None if anybody else addressee)
    for guarded in _GUARDED.finditer(sentence):
        parts += [tell(sentence[cut : guarded.start()]), guarded.group()]
        cut = guarded.end()
    parts.append(tell(sentence[cut:]))
    return "".join(parts)


def _teller(speaker: str, addressee: str | None) -> Callable[[str], str]:
    def tell(text: str) -> str:
        words = _Words(_TOKEN.findall(text), speaker, addressee)
        for place in range(len(words.tokens)):
            _rename(words, place)
        return "".join(words.tokens)

    return tell


def _rename(words: _Words, place: int) -> None:
    low = words.low(place)
    base, _, ending = low.partition("'")
    if base in _FIRST and not _is_roman_numeral(words, place):
        _rename_one(words, place, words.speaker, base, ending)
    elif base in _MANY:
        _rename_many(words, place, base, ending)
    elif base in _SECOND and words.addressee:
        _rename_one(words, place, words.addressee, base, ending)


def _is_roman_numeral(words: _Words, place: int) -> bool:
    """``World War I``, ``Part I``: a capital noun before, no verb after."""
    before = words.neighbour(place, -1)
    if words.tokens[place] != "I" or before < 0 or not words.tokens[before][0].isupper():
        return False
    after = words.low(words.neighbour(place, 1))
    is_verb = after in VERBS | UNCHANGED | ADVERBS or after in AUXILIARIES or is_past(after)
    return not is_verb and not words.starts(before)


def _rename_one(words: _Words, place: int, name: str, base: str, ending: str) -> None:
    if base in {"my", "mine", "your", "yours", "ur"}:
        _put(words, place, _possessive(name))
    elif base in {"myself", "yourself"}:
        _reflexive(words, place, name)
    elif base == "me":
        _put(words, place, name)
    elif base in {"im", "ive"}:
        _put(words, place, f"{name} {'is' if base == 'im' else 'has'}")
    elif ending:
        _contracted(words, place, name, f"'{ending}")
    else:
        _subject(words, place, name)


def _contracted(words: _Words, place: int, name: str, ending: str) -> None:
    """``I'd been`` had been, ``I'd go`` would go, ``I've`` has."""
    long = _LONG.get(ending)
    if long is None:
        return
    after = words.low(words.neighbour(place, 1))
    if ending == "'d" and (after in _HAD or is_past(after)):
        long = "had"
    _put(words, place, f"{name} {AUXILIARIES.get(long, long)}")


def _subject(words: _Words, place: int, name: str) -> None:
    before = words.neighbour(place, -1)
    _put(words, place, name)
    is_first = words.low(place) != "you"
    if words.low(before) in _INVERTING:
        _agree_inverted(words, before)
    elif words.low(before) == "and" and _joins_subjects(words, before):
        words.is_joined = True
    else:
        _agree(words, place, sure=is_first and name == words.speaker)


def _joins_subjects(words: _Words, conjunction: int) -> bool:
    """``My wife and I like``: two subjects; ``I cook and I like`` are two sentences."""
    before = words.neighbour(conjunction, -1)
    return before >= 0 and not is_past(words.low(before)) and words.low(before) not in VERBS


def _agree_inverted(words: _Words, auxiliary: int) -> None:
    low = words.low(auxiliary)
    if low in AUXILIARIES:
        _put(words, auxiliary, AUXILIARIES[low])


def _agree(words: _Words, subject: int, *, sure: bool) -> None:
    """Makes the verb after the subject agree, and those that ``and`` ties to it."""
    verb = words.neighbour(subject, 1)
    while words.low(verb) in ADVERBS or (words.low(verb).endswith("ly") and verb >= 0):
        verb = words.neighbour(verb, 1)
    low = words.low(verb)
    if (verb < 0 or low in NO_VERBS or words.tokens[verb][0].isupper()) and low != "am":
        return
    known = low in VERBS or low in AUXILIARIES or low == "am"
    if not (sure or known) or low in UNCHANGED or is_past(low):
        return
    words.tokens[verb] = third_person(words.tokens[verb].replace("’", "'"))
    if low in VERBS:
        _agree_tied(words, verb)


def _agree_tied(words: _Words, verb: int) -> None:
    """``likes tea and hate``: the second verb has the same subject when no other comes between."""
    place = verb
    for _ in range(_LOOK_AHEAD):
        place = words.neighbour(place, 1)
        low = words.low(place)
        if place < 0 or low in {"to", "can", "will", "would", "could", "should", "help", "make"}:
            return
        if low in {"i", "we", "you", "they", "he", "she", "it", "who", "that", "people", "when"}:
            return
        if low in {"and", "but", "or"}:
            tied = words.neighbour(place, 1)
            while words.low(tied) in ADVERBS:
                tied = words.neighbour(tied, 1)
            if words.low(tied) in VERBS and words.low(words.neighbour(tied, 1)) not in {"", "and"}:
                words.tokens[tied] = third_person(words.tokens[tied])
            return


def _rename_many(words: _Words, place: int, base: str, ending: str) -> None:
    """The speaker and others at first, they from then on; our things are the speaker's."""
    if base in {"our", "ours"}:
        _put(words, place, "their" if words.is_joined else _possessive(words.speaker))
        return
    if base == "ourselves":
        _put(words, place, "themselves")
        return
    if base == "us" and words.low(words.neighbour(place, -1)) == "let":
        return
    long = _LONG.get(f"'{ending}", "") if ending else ""
    again = "them" if base == "us" else "they"
    name = again if words.is_joined else f"{words.speaker} and others"
    _put(words, place, f"{name} {long}".strip())
    words.is_joined = True


def _reflexive(words: _Words, place: int, name: str) -> None:
    before = words.neighbour(place, -1)
    if words.low(before) == "by":
        _put(words, before, "alone")
        words.tokens[place] = ""
        words.tokens[before + 1] = ""
    else:
        _put(words, place, name if words.low(before) in {"like", "to", "for", "of"} else "themself")


def _put(words: _Words, place: int, text: str) -> None:
    starts = words.starts(place)
    words.tokens[place] = text[:1].upper() + text[1:] if starts else text


def _possessive(name: str) -> str:
    return f"{name}'s"
