"""English first and second persons to names, with the verbs that agree with them.

Rules over words, no tagger. ``we`` become the speaker and others, then they. A ``you`` that means
anybody stays.
"""

import re
from dataclasses import dataclass, field

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
_SENTENCES = re.compile(r"(?<=[.!?])(?=\s)")
_SENTENCE_END = re.compile(r"[.!?:\n]\s*[\"'”)]*\s*$")
_ANYBODY = re.compile(
    r"\b(?:makes|making|helps|lets|gives|keeps|teaches|allows|takes|brings|gets|"
    r"when(?:ever)?|once|where|before|after|while|unless|what) you\b"
    r"|\byou (?:never know|can never|just never|guys|know what|have to admit)\b"
    r"|\b(?:thank|thanks to|see|catch) you\b|\byou (?:all|both|two|folks)\b",
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
better been
"""
_WITH_OBJECT = frozenset(
    {"let", "lets", "help", "helps", "helped", "make", "makes", "made", "see", "saw", "hear"}
    | {"watch", "for", "to", "with", "of", "from", "about", "like", "at", "than", "wish", "and"}
)
_HAD = frozenset(_HAD_WORDS.split())
_NEW_SUBJECTS_WORDS = """
i we you they who people friends kids
"""
_NEW_SUBJECTS = frozenset(_NEW_SUBJECTS_WORDS.split())
_NO_LONGER_SURE = frozenset(
    {"to", "can", "will", "would", "could", "should", "help", "make", "let", "he", "she", "it"}
    | {"that", "when", "if", "which", "where", "how", "what"}
)
_OWN_AUXILIARIES = frozenset({"am", "haven't", "don't", "have"})
_SPEAKING = frozenset({"spoke", "talked", "chatted", "talk", "chat", "speak", "meet"})
_AFTER_ALONE = (
    r"(?=\s*(?:[.,;:!?)]|$|\b(?:and|but|or|in|at|for|since|now|when|while|with|because|from|there|"
    r"here|this|last|again|until|till|after|before|if|to|so)\b))"
)
_OWNERS = frozenset({"my", "our", "his", "her", "their", "your", "the"})
_LOOK_AHEAD = 8


@dataclass(slots=True)
class _Words:
    """The tokens of a sentence, words and what lies between them in turn, changed in place."""

    tokens: list[str]
    speaker: str
    addressee: str | None
    is_joined: bool = False
    subjects: set[int] = field(default_factory=set)

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
    told = "".join(_one(part, speaker, addressee) for part in _SENTENCES.split(sentence))
    return re.sub(rf", {re.escape(addressee)}(?=[.!?])", "", told) if addressee else told


def _one(sentence: str, speaker: str, addressee: str | None) -> str:
    kept = _ANYBODY.search(sentence) is not None
    words = _Words([], speaker, None if kept else addressee)
    cut = 0
    for guarded in _GUARDED.finditer(sentence):
        words.tokens += [*_TOKEN.findall(sentence[cut : guarded.start()]), f"\0{guarded.group()}"]
        cut = guarded.end()
    words.tokens += _TOKEN.findall(sentence[cut:])
    for place in range(len(words.tokens)):
        _rename(words, place)
    told = "".join(words.tokens).replace("\0", "")
    for name in (speaker, words.addressee):
        told = _named_once(told, name) if name else told
    return told


def _named_once(told: str, name: str) -> str:
    """The sentence with ``their own`` and ``alone`` for someone whom it named before, and
    ``help Mara keep their`` where the owner is who keeps.
    """
    first = told.casefold().find(name.casefold())
    if first < 0 or told.casefold().count(name.casefold()) < 2:
        return told
    cut, owner = first + len(name), re.escape(_possessive(name))
    rest = re.sub(rf"\bon {owner} own{_AFTER_ALONE}", "alone", told[cut:])
    rest = re.sub(rf"\b{owner} own\b", "their own", rest)
    helped = rf"(\b(?:help|helps|helped|let|lets) {re.escape(name)} (?:to )?[a-z]+ (?:up )?){owner}"
    return re.sub(helped, r"\1their", told[:cut] + rest)


def _rename(words: _Words, place: int) -> None:
    low = words.low(place)
    base, _, ending = low.partition("'")
    if base in _FIRST and not _is_roman_numeral(words, place):
        _rename_one(words, place, words.speaker, base, ending)
    elif base in _MANY:
        _rename_many(words, place, base, ending)
    elif base in _SECOND and words.addressee:
        _rename_one(words, place, words.addressee, base, ending)


def _is_subject_too(words: _Words, place: int) -> bool:
    """``I bought me a hat``: one word, a verb, between the subject and the same object."""
    verb = words.neighbour(place, -1)
    return verb >= 0 and words.neighbour(verb, -1) in words.subjects


def _is_roman_numeral(words: _Words, place: int) -> bool:
    """``World War I``, ``Part I``: a capital noun before, no verb after."""
    before = words.neighbour(place, -1)
    if before < 0 and words.tokens[place] == "I":
        return words.starts(place) and "".join(words.tokens[place + 1 : place + 2])[:1] in {
            ".",
            ")",
        }
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
        _put(words, place, "themself" if _is_subject_too(words, place) else name)
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
    if long in AUXILIARIES:
        _agree_tied(words, place)


def _subject(words: _Words, place: int, name: str) -> None:
    before = words.neighbour(place, -1)
    is_first = words.low(place) == "i"
    if is_first:
        words.subjects.add(place)
    _put(words, place, name)
    if words.low(before) in _INVERTING:
        _agree_inverted(words, before)
    elif words.low(before) == "and" and _joins_subjects(words, before):
        words.is_joined = True
    elif is_first or words.low(before) not in _WITH_OBJECT:
        _agree(words, place, sure=is_first)


def _joins_subjects(words: _Words, conjunction: int) -> bool:
    """``My wife and I like``: two subjects; ``I cook and I like`` are two sentences."""
    noun = words.neighbour(conjunction, -1)
    owner = words.neighbour(noun, -1) if noun >= 0 else -1
    if noun < 0 or words.low(owner).endswith("'s") or words.low(owner) in _OWNERS:
        return noun >= 0
    return words.tokens[noun][0].isupper() and words.low(noun) not in VERBS


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
    if known:
        _agree_tied(words, verb)


def _agree_tied(words: _Words, verb: int) -> None:
    """``likes tea and hate``: the second verb has the same subject when no other comes between."""
    place, sure = verb, words.low(verb) not in AUXILIARIES.values()
    for _ in range(_LOOK_AHEAD):
        place = words.neighbour(place, 1)
        low = words.low(place)
        if place < 0 or low in _NEW_SUBJECTS:
            return
        sure = sure and low not in _NO_LONGER_SURE
        if low in {"and", "but", "or"}:
            _agree_after(words, place, sure=sure)
            return


def _agree_after(words: _Words, conjunction: int, *, sure: bool) -> None:
    tied = words.neighbour(conjunction, 1)
    while words.low(tied) in ADVERBS:
        tied = words.neighbour(tied, 1)
    low, after = words.low(tied), words.low(words.neighbour(tied, 1))
    if low in _OWN_AUXILIARIES or (sure and low in VERBS and after not in {"", "and"}):
        words.tokens[tied] = third_person(words.tokens[tied].replace("’", "'"))


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
    name = again if words.is_joined else f"{words.speaker} and {_company(words, place)}"
    _put(words, place, f"{name} {long}".strip())
    words.is_joined = True


def _company(words: _Words, place: int) -> str:
    """Who else ``we`` are: the addressee where we speak with each other, else others."""
    verb = words.neighbour(place, 1)
    if words.low(verb) in {"last", "first"} | ADVERBS:
        verb = words.neighbour(verb, 1)
    return words.addressee if words.addressee and words.low(verb) in _SPEAKING else "others"


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
