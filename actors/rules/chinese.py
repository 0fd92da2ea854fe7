"""Reads a Chinese sentence: subject, claims, words, values and change words.

Words come from jieba without its hidden Markov model, so equal strings are cut alike as far as
the dictionary goes; the rest is word lists and the order of words, as in the English reader.
"""

import re
from functools import lru_cache

import jieba

from actors.rules.chinese_patterns import (
    ABLE,
    ADDED,
    ASKED,
    BEGINS,
    COPULA,
    DENIED,
    ENDED,
    ENDS,
    EVENT,
    GLUED,
    HABIT,
    HAS,
    HATES,
    LEAD,
    MARK_RES,
    MOVES,
    NEGATIVE,
    NOT_VERBS,
    PAST,
    PLAN,
    PREFERRED,
    REPORTED,
    RESIDENCE,
    SAID,
    SPLIT,
    TASK,
    TASTE,
    TIME,
    WISH,
    WORK,
    WORK_STEP,
)
from actors.rules.chinese_words import (
    CLASSES,
    GENERIC_SUFFIXES,
    LANGUAGES,
    NOT_NAME_ENDS,
    PEOPLE,
    PREDICATE,
    SINGLE_NOUNS,
    STATES,
    STOP,
    SURNAMES,
    SYNONYMS,
    WORKS_AS,
)
from actors.rules.reading import Clause, Mode, Reading, Sense
from pipeline.sleep.slots import values
from pipeline.text.dictionary import chinese_parts, own_chinese_words

_OPENING = PEOPLE | SINGLE_NOUNS | {"和", "跟", "与", "默认"}
_CLASS_OF: dict[str, frozenset[str]] = {}
for _name, _members in CLASSES.items():
    for _member in _members.split():
        _CLASS_OF[_member] = _CLASS_OF.get(_member, frozenset()) | {_name}
_STATE_RES = [
    (dimension, state, re.compile(pattern))
    for dimension, each in STATES.items()
    for state, pattern in each.items()
]
_STATE_RE = re.compile("|".join(f"(?:{pattern.pattern})" for _, _, pattern in _STATE_RES))


def read_chinese(text: str, speaker: str) -> Reading:
    """The reading of one Chinese sentence said by ``speaker``."""
    plain = text.strip().replace(" ", " ")
    slots, masked = values(plain, is_chinese=True)
    denied = DENIED.sub("", plain)
    if denied != plain:
        slots, _ = values(denied, is_chinese=True)
    body = SAID.sub("", LEAD.sub("", masked)) or masked
    masked_body = TIME.sub("", body).strip()
    clauses = _clauses(masked_body, speaker)
    everything = frozenset().union(*(clause.words for clause in clauses)) | _content(
        TIME.sub("", masked), clauses[0].person
    )
    return Reading(
        text=text,
        is_chinese=True,
        clauses=clauses,
        words=everything,
        names=_names(masked_body, everything),
        classes=_classes(everything),
        slots=slots,
        states=_states(plain),
        ended=_ended(masked_body) - {clauses[0].person, speaker},
        marks=frozenset(mark for mark, pattern in MARK_RES.items() if pattern.search(plain)),
        preferred=_preferred(masked_body),
        is_question=plain.endswith(("?", "？", "吗。")) or ASKED.match(body) is not None,
        is_reported=REPORTED.match(plain) is not None,
        modifiers=frozenset(SYNONYMS.get(word, word) for word in LANGUAGES if word in plain),
        verbs=frozenset(word for word in everything if word in PREDICATE),
        single=frozenset(word for word in everything if word in SINGLE_NOUNS),
        parts=_parts(everything),
        aligned=tuple(_root(word) for word in _cut(re.sub(r"[^\w]", " ", masked))),
    )


@lru_cache(maxsize=1)
def _tokenizer() -> jieba.Tokenizer:
    """A dictionary of its own, so that the words added here change no other reader's."""
    tokenizer = own_chinese_words()
    listed = (word for members in CLASSES.values() for word in members.split())
    for word in sorted({*PEOPLE, *SINGLE_NOUNS, *WORKS_AS, *PREDICATE, *listed, *ADDED}):
        if len(word) > 1:
            tokenizer.add_word(word)
    return tokenizer


@lru_cache(maxsize=65_536)
def _cut(text: str) -> tuple[str, ...]:
    """The words of a text; a verb that the dictionary glues to its object is taken off."""
    found: list[str] = []
    for word in _tokenizer().cut(text, HMM=False):
        glued = GLUED.fullmatch(word)
        found.extend(
            [each for each in glued.groups() if each] if glued else [word] if word.strip() else []
        )
    return _with_names(found)


def _with_names(cut: list[str]) -> tuple[str, ...]:
    """The words, a surname and the given name that the dictionary cut apart put together."""
    found: list[str] = []
    for word in cut:
        if len(word) == 1 and found and _is_bare_surname(found) and _is_given_name(word):
            found[-1] += word
        else:
            found.append(word)
    return tuple(found)


def _is_bare_surname(found: list[str]) -> bool:
    last = found[-1]
    return last in SURNAMES and (len(found) == 1 or last not in STOP | PREDICATE)


def _is_given_name(word: str) -> bool:
    is_grammar = word in STOP or word in PREDICATE or word in PEOPLE or word in NOT_NAME_ENDS
    return not is_grammar and "一" <= word <= "龥"


@lru_cache(maxsize=65_536)
def _root(word: str) -> str:
    if word in SYNONYMS:
        return SYNONYMS[word]
    if len(word) == 2 and word[0] in "吃喝抽吸戒":
        return word[1]
    return word.lower()


def _content(text: str, person: str = "") -> frozenset[str]:
    people = frozenset(person.split("/"))
    for each in people - {"user", ""}:
        text = text.replace(each, " ")
    found = set()
    for word in _cut(re.sub(r"[^\w]", " ", text)):
        root = _root(word)
        if word not in STOP and root not in STOP and root not in people and not root.isdigit():
            found.add(root)
    return frozenset(found)


def _classes(words: frozenset[str]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for word in words:
        found |= _CLASS_OF.get(word, frozenset())
        found |= {suffix for suffix in GENERIC_SUFFIXES if word != suffix and word.endswith(suffix)}
    return found


def _parts(words: frozenset[str]) -> frozenset[str]:
    """Words inside longer ones, so that a bank is found in a bank's full name."""
    inner = (part for word in words if len(word) > 2 for part in _tokenizer().cut_for_search(word))
    return frozenset(_root(part) for part in inner) - words


def _is_person(word: str, speaker: str) -> bool:
    if word in ("用户", "我", speaker) or word in PEOPLE:
        return True
    return _is_name(word)


@lru_cache(maxsize=65_536)
def _is_name(word: str) -> bool:
    """Whether a word is a person's name: so in the dictionary, or a surname and one or two more."""
    tag = _tag(word)
    if tag:
        return tag.startswith("nr")
    is_named = word[0] in SURNAMES and 2 <= len(word) <= 3
    return (is_named and word[-1] not in NOT_NAME_ENDS) or re.fullmatch(
        "[A-Z][a-z]+", word
    ) is not None


def _tag(word: str) -> str:
    """The word's part of speech in the dictionary, empty for an unknown word."""
    return _tags().get(word, "")


@lru_cache(maxsize=1)
def _tags() -> dict[str, str]:
    return dict(chinese_parts())


def _clauses(masked: str, speaker: str) -> tuple[Clause, ...]:
    parts = [part.strip() for part in SPLIT.split(masked) if part and part.strip()]
    clauses: list[Clause] = []
    for part in parts or [masked]:
        subject, predicate = _subject(part)
        if clauses and not predicate:
            subject, predicate = "", part
        person, thing = _owner(subject, speaker)
        if clauses and not person and not thing:
            person, thing = clauses[0].person, clauses[0].thing
        clauses.append(_clause(person, thing, predicate))
    return tuple(clauses)


def _subject(part: str) -> tuple[str, str]:
    """Subject and predicate of a clause."""
    copula = COPULA.match(part)
    if copula and _is_noun_phrase(copula["np"], is_bare=copula["cop"] != "是"):
        return copula["np"], copula["cop"] + copula["v"]
    words = _cut(part)
    follows = words[1] if len(words) > 1 else ""
    if words and words[0] in ("用户", "我") and follows not in PEOPLE | {"的", "用"}:
        return words[0], part[len(words[0]) :].strip()
    for count in (1, 2, 3):
        name = "".join(words[:count])
        if words[count:] and _is_name(name) and words[count] not in PEOPLE | {"的"}:
            return name, part[part.index(name) + len(name) :].strip()
    place = 0
    for word in words:
        if word in PREDICATE and (place or word not in _OPENING):
            break
        place = part.index(word, place) + len(word)
    return part[:place].strip(), part[place:].strip()


def _is_noun_phrase(text: str, *, is_bare: bool) -> bool:
    """Whether what stands before a copula is its subject; without 的 only where ``is_bare``."""
    if NEGATIVE.search(text) or "把" in text or "从" in text:
        return False
    return "的" in text or (is_bare and not set(_cut(text)) & PREDICATE)


def _owner(subject: str, speaker: str) -> tuple[str, frozenset[str]]:
    """Person path and the content words of the rest of the subject."""
    path: list[str] = []
    rest = subject
    if rest.startswith("我"):
        path, rest = [speaker], rest[1:]
    while rest:
        rest = rest.removeprefix("的")
        name = re.match(r"[^的\s]+", rest)
        words = _cut(name[0]) if name else ()
        is_owner_first = len(words) > 1 and words[1] in PREDICATE and _is_name(words[0])
        whole = words[0] if is_owner_first else name[0] if name else ""
        if whole and not path and _is_person(whole, speaker):
            path.append(speaker if whole == "用户" else whole)
            rest = rest[len(whole) :]
        elif words and words[0] in ("用户",) and not path:
            path.append(speaker)
            rest = rest[len(words[0]) :]
        elif words and words[0] in PEOPLE:
            path.append(SYNONYMS.get(words[0], words[0]))
            rest = rest[len(words[0]) :]
        else:
            break
    thing = _content(rest)
    if re.search("最(?:喜欢|爱|常)", rest):
        thing |= {"最爱"}
    return "/".join(path), thing


def _clause(person: str, thing: frozenset[str], predicate: str) -> Clause:
    value = _content(predicate, person)
    sense = _sense(predicate, bool(thing) or not person)
    verb = next((word for word in _cut(predicate) if word in PREDICATE and _is_verb(word)), "")
    flips = sense is Sense.TASTE and HATES.search(predicate) is not None
    head = predicate[:8] if sense is not Sense.WISH else predicate[:3]
    is_moved = sense in (Sense.RESIDENCE,) and MOVES.search(predicate) is not None
    return Clause(
        person=person,
        thing=thing,
        verb=verb,
        sense=sense,
        mode=_lasting(_mode(predicate, is_moved), sense),
        words=thing | value,
        value=value,
        is_negative=(NEGATIVE.search(head) is not None) != flips,
        begins=BEGINS.search(predicate) is not None or WORK_STEP.search(predicate) is not None,
        ends=ENDS.search(predicate) is not None,
    )


def _lasting(mode: Mode, sense: Sense) -> Mode:
    """A taste is a state, also where 了 says that it has changed."""
    return Mode.STATE if sense is Sense.TASTE and mode is Mode.EVENT else mode


def _is_verb(word: str) -> bool:
    return word not in NOT_VERBS


def _sense(predicate: str, is_thing: bool) -> Sense:
    if re.match("(?:名)?叫|名字是|不叫", predicate) or re.search(
        r"(?:只|个|位|条).{1,6}叫\w", predicate
    ):
        return Sense.NAMED
    if not is_thing and RESIDENCE.search(predicate):
        return Sense.RESIDENCE
    if TASTE.search(predicate) or HATES.search(predicate):
        return Sense.TASTE
    if not is_thing and WORK.search(predicate):
        return Sense.WORK
    if WISH.search(predicate):
        return Sense.WISH
    if re.match("是|为|变|改成|换成|改为", predicate):
        return Sense.IS
    if ABLE.match(predicate):
        return Sense.ABLE
    if HAS.search(predicate[:6]):
        return Sense.HAS
    return Sense.HABIT if HABIT.search(predicate) else Sense.OTHER


def _mode(predicate: str, is_moved: bool) -> Mode:
    if PAST.search(predicate):
        return Mode.PAST
    if PLAN.search(predicate):
        return Mode.PLAN
    if TASK.search(predicate):
        return Mode.TASK
    if re.match("(?:还|也|又)?(?:养|有|领养|收养)了", predicate):
        return Mode.STATE
    if EVENT.search(predicate) and not BEGINS.search(predicate):
        return Mode.EVENT
    return Mode.EVENT if is_moved else Mode.STATE


def _names(masked: str, words: frozenset[str]) -> frozenset[str]:
    found = {
        word.lower() for word in re.findall(r"[A-Za-z][\w.+-]*", masked) if word != word.lower()
    }
    found |= {
        word
        for word in words
        if _tag(word) in ("nr", "ns", "nt", "nrt", "nrfg") or word in LANGUAGES
    }
    for pattern in (r"《([^》]+)》", r"叫(?:做|作)?([^，。；的和]{1,4})"):
        for match in re.findall(pattern, masked):
            found |= _content(match)
    return frozenset(found & words) | frozenset(name for name in found if name.isascii())


def _states(text: str) -> frozenset[tuple[str, str]]:
    if _STATE_RE.search(text) is None:
        return frozenset()
    found = {(dim, state) for dim, state, pattern in _STATE_RES if pattern.search(text)}
    if ("diet", "vegetarian") in found:
        found.discard(("diet", "meat"))
    return frozenset(found)


def _ended(masked: str) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for pattern in ENDED:
        for match in pattern.finditer(masked):
            found |= _content(match["x"])
    return found


def _preferred(masked: str) -> tuple[frozenset[str], frozenset[str]] | None:
    for pattern in PREFERRED:
        match = pattern.search(masked)
        if match:
            return _content(match["x"]), _content(match["y"])
    return None
