"""Reads an English sentence: subject, claims, words, values and change words.

Shallow on purpose: no parser, no tagger, only general word lists and the order of words, so a
sentence that it misreads mostly shares nothing with any other and is left alone.
"""

import re
from functools import lru_cache

from actors.rules.english_patterns import (
    APPOSITION,
    ASKED,
    CEASE,
    CHAIN,
    DENIED,
    ENDED,
    HABITS,
    HATES,
    IS_WORKER,
    KEPT_UP,
    LEAD,
    LIKES,
    MARK_RES,
    NOT,
    PLAN,
    PREFERRED,
    REPORTED,
    SAID,
    SPLIT,
    TASK,
    WORKING,
    owner,
)
from actors.rules.english_words import (
    ADVERBS,
    AUXILIARIES,
    CHANGE,
    CLASSES,
    GENERIC_VERBS,
    IRREGULAR,
    LANGUAGES,
    PEOPLE,
    SINGLE_NOUNS,
    STATES,
    STOP,
    SYNONYMS,
    VERBS,
)
from actors.rules.reading import Clause, Mark, Mode, Reading, Sense
from pipeline.sleep.kept import stem
from pipeline.sleep.slots import values

_TOKEN = re.compile(r"[A-Za-z][\w+#&]*(?:[.'][\w]+)*(?:'s|')?|\d[\w.]*|[;,:]")
_GENERIC = frozenset(stem(word) for word in GENERIC_VERBS)
_VERB_STEMS = {stem(word): word for word in sorted(VERBS)}
_SYNONYM_STEMS = {stem(word): stem(other) for word, other in SYNONYMS.items()}
_SINGLE = frozenset(stem(SYNONYMS.get(word, word)) for word in SINGLE_NOUNS)
_CLASS_OF: dict[str, frozenset[str]] = {}
for _name, _members in CLASSES.items():
    for _member in _members.split():
        _key = stem(_member)
        _CLASS_OF[_key] = _CLASS_OF.get(_key, frozenset()) | {stem(_name)}
_STATE_RES = [
    (dimension, state, re.compile(pattern, re.IGNORECASE))
    for dimension, each in STATES.items()
    for state, pattern in each.items()
]
_STATE_RE = re.compile(
    "|".join(f"(?:{pattern.pattern})" for _, _, pattern in _STATE_RES), re.IGNORECASE
)


def read_english(text: str, speaker: str) -> Reading:
    """The reading of one English sentence said by ``speaker``."""
    plain = text.replace("’", "'").replace("‘", "'").strip()
    marks = {mark for mark, pattern in MARK_RES.items() if pattern.search(plain)}
    slots, masked = values(plain, is_chinese=False)
    denied = DENIED.sub("", plain)
    if denied != plain:
        slots, _ = values(denied, is_chinese=False)
    masked_body = SAID.sub(owner, LEAD.sub("", masked))
    if any(word in CHANGE for word in re.findall(r"\w+", masked.lower())):
        marks.add(Mark.CHANGE)
    clauses = _clauses(APPOSITION.sub(r"\g<who> ", masked_body), speaker)
    words = frozenset().union(*(clause.words for clause in clauses))
    low = plain.lower().replace(".", " ").split()
    people = {_root(word) for word in speaker.lower().split()}
    people |= {_root(part) for part in clauses[0].person.split("/") if part}
    everything = words | (_content(_TOKEN.findall(masked)) - people)
    return Reading(
        text=text,
        is_chinese=False,
        clauses=clauses,
        words=everything,
        names=_names(masked_body, clauses[0].person),
        classes=frozenset().union(*(_CLASS_OF.get(word, frozenset()) for word in everything)),
        slots=slots,
        states=_states(plain),
        ended=_ended(masked_body) - people,
        marks=frozenset(marks),
        preferred=_preferred(masked_body),
        is_question=plain.endswith("?") or ASKED.match(masked_body) is not None,
        is_reported=REPORTED.match(plain) is not None,
        modifiers=frozenset(stem(word) for word in LANGUAGES if word in low),
        verbs=frozenset(word for word in everything if word in _VERB_STEMS),
        single=everything & _SINGLE,
        aligned=tuple(_root(token.lower()) for token in _TOKEN.findall(masked)),
    )


@lru_cache(maxsize=65_536)
def _base(token: str) -> str:
    """The base form of a verb where it is a known one, else the token."""
    token = token.removesuffix("'s")
    if token in IRREGULAR:
        return IRREGULAR[token]
    return _VERB_STEMS.get(stem(token), token)


@lru_cache(maxsize=65_536)
def _root(token: str) -> str:
    """The stem under which equal words meet."""
    key = stem(IRREGULAR.get(token, token.removesuffix("'s").strip("'")))
    return _SYNONYM_STEMS.get(key, key)


def _content(tokens: list[str]) -> frozenset[str]:
    found = set()
    for token in tokens:
        low = token.lower()
        if low.removesuffix("'s") in STOP or not low[0].isalpha() or low.endswith("n't"):
            continue
        root = _root(low)
        if root not in _GENERIC and len(root) > 1:
            found.add(root)
    return frozenset(found)


def _is_verb_form(token: str) -> bool:
    if token in AUXILIARIES or token in IRREGULAR:
        return True
    return stem(token) in _VERB_STEMS and token.endswith(("s", "ed")) and not token.endswith("'s")


def _skip(tokens: list[str], place: int) -> int:
    while place < len(tokens) and tokens[place].lower() in ADVERBS | {",", "both"}:
        place += 1
    return place


def _subject(tokens: list[str], speaker: str) -> tuple[str, list[str], int]:
    """Person path, the subject's other tokens, and where the predicate starts."""
    path: list[str] = []
    other: list[str] = []
    place = 0
    if tokens and tokens[0].lower() in ("i", "my"):
        path, place = [speaker.lower()], 1
    elif tokens and tokens[0].lower() in ("the", "a", "an", "our", "this", "their", "his", "her"):
        place = 1
    if _is_command(tokens):
        return "", [], 0
    while place < len(tokens):
        token, low = tokens[place], tokens[place].lower().removesuffix("'s").strip("'")
        is_possessive = tokens[place].endswith("'") or tokens[place].endswith("'s")
        is_first = not path and not other
        if (
            low == "user"
            or (low in PEOPLE and (path or not other))
            or (
                is_first
                and token[0].isupper()
                and (is_possessive or _starts_predicate(tokens, place + 1))
            )
        ):
            path.append(speaker.lower() if low == "user" else low)
        elif (
            (not is_first and _is_verb_form(low) and not is_possessive)
            or (path and not other and low in ADVERBS | {"am", "also"})
            or (path and not other and not is_possessive and tokens[place - 1][-1:] not in "'s")
        ):
            break
        else:
            other.append(token)
        place += 1
    return "/".join(path), other, place


def _is_command(tokens: list[str]) -> bool:
    """Whether a sentence starts with a bare verb that is no noun with a verb after it."""
    low = [token.lower() for token in tokens[:4]]
    return bool(low) and low[0] in VERBS and not any(_is_verb_form(token) for token in low[1:])


def _starts_predicate(tokens: list[str], place: int) -> bool:
    place = _skip(tokens, place)
    if place >= len(tokens):
        return False
    low = tokens[place].lower()
    return _is_verb_form(low) or (low.endswith(("s", "ed")) and low.isalpha() and len(low) > 3)


def _clauses(masked: str, speaker: str) -> tuple[Clause, ...]:
    parts = [part for part in SPLIT.split(masked.rstrip(". ")) if part and part.strip()]
    tokens = [_TOKEN.findall(part) for part in parts]
    joined: list[list[str]] = []
    for each in tokens:
        if joined and not _opens_clause(each):
            joined[-1].extend(each)
        elif each:
            joined.append(each)
    person, other, place = _subject(joined[0], speaker) if joined else ("", [], 0)
    clauses = [_clause(person, other, joined[0][place:] if joined else [])]
    for each in joined[1:]:
        own_person, own_other, own_place = _subject(each, speaker)
        if (
            own_place
            and (own_person or own_other)
            and not _is_verb_form(each[_skip(each, 0)].lower())
        ):
            clauses.append(_clause(own_person or person, own_other, each[own_place:]))
        else:
            clauses.append(_clause(person, other, each))
    return tuple(clauses)


def _opens_clause(tokens: list[str]) -> bool:
    place = _skip(tokens, 0)
    if place >= len(tokens):
        return False
    low = tokens[place].lower()
    if _is_verb_form(low):
        return True
    is_subject = low in ("the", "he", "she", "they", "it", "his", "her", "their", "i", "my")
    rest = tokens[place + 1 : place + 5]
    return is_subject and any(_is_verb_form(token.lower()) for token in rest)


def _clause(person: str, other: list[str], predicate: list[str]) -> Clause:
    low = [token.lower() for token in predicate if token not in ",;:"]
    text = " ".join(low)
    verbs = [_base(token) for token in low[: _head_length(low)]]
    verb = _main_verb(verbs, low)
    thing = _content(other)
    people = {_root(part) for part in person.split("/") if part}
    value = _content(predicate) - people
    sense, flips = _sense(verb, low, text, bool(thing) or not person)
    head = low[:6]
    negative = (
        any(token in NOT or token.endswith("n't") for token in head) or "no longer" in text[:40]
    )
    negative = negative or (low[:1] in (["has"], ["have"]) and low[1:2] == ["no"])
    ceases = any(v in CEASE for v in verbs[:2]) or bool(
        re.match(r"(?:\w+ )?(?:gave|given|giving) up\b", text)
    )
    return Clause(
        person=person,
        thing=thing,
        verb=verb,
        sense=sense,
        mode=_mode(low, text),
        words=thing | value,
        value=value,
        is_negative=(negative != ceases) != flips,
        begins=any(v in ("start", "begin", "learn", "become", "come") for v in verbs[:3]),
        ends=(ceases and not negative)
        or "no longer" in text
        or bool(re.search(r"\bany ?more\b|\bany longer\b", text)),
    )


def _head_length(low: list[str]) -> int:
    """How many tokens belong to the verb group at the start of a predicate."""
    place = 0
    while place < len(low) and (
        low[place] in AUXILIARIES | ADVERBS | {"to", "able"} or _base(low[place]) in CHAIN | CEASE
    ):
        place += 1
    return place + 1


def _main_verb(verbs: list[str], low: list[str]) -> str:
    content = [
        v for v in verbs if v not in AUXILIARIES and v not in ADVERBS and v not in ("to", "able")
    ]
    known = [v for v in content if v in VERBS]
    if known:
        return known[-1]
    if content and low and low[0] not in AUXILIARIES:
        return content[0]
    return "be" if low and low[0] in ("is", "are", "was", "were") else _base(low[0]) if low else ""


def _sense(verb: str, low: list[str], text: str, is_thing: bool) -> tuple[Sense, bool]:
    """The sort of claim and whether its verb denies by itself."""
    if not is_thing and re.search(
        r"\b(?:liv(?:es?|ing)|resid\w+|settled|stay(?:s|ing)) (?:\w+ )?(?:in|at|on|near|"
        r"between)\b|\bbased (?:in|at|near)\b"
        r"|\b(?:moved|relocated|moving|relocating|moves|move|relocate)(?: \w+){0,2}? (?:to|into)\b",
        text,
    ):
        return Sense.RESIDENCE, False
    if re.search(r"\b(?:named|called)\b|^name is\b", text):
        return Sense.NAMED, False
    if verb in HATES or re.search(r"can(?:not|'t| no longer| not) (?:\w+ )?(?:stand|bear)", text):
        return Sense.TASTE, True
    if verb in LIKES or re.search(r"\b(?:fond of|fan of|keen on|is into|really into|fan)\b", text):
        return Sense.TASTE, False
    is_effort = re.search(r"\bwork\w* (?:on|out|hard|with|towards?)\b", text) is not None
    if not is_thing and not is_effort and (verb in WORKING or IS_WORKER.search(text)):
        return Sense.WORK, False
    if verb in ("want", "wish", "request") or re.search(
        r"^would like|^asked? (?:for|to|the)", text
    ):
        return Sense.WISH, False
    if re.search(
        r"\b(?:can|cannot|can't|able|knows how|learn(?:ed|t) (?:how )?to)\b", " ".join(low[:5])
    ):
        return Sense.ABLE, False
    if verb == "be":
        return Sense.IS, False
    if verb in ("have", "own", "keep", "possess", "get", "adopt"):
        return Sense.HAS, False
    return (Sense.HABIT if verb in HABITS else Sense.OTHER), False


def _mode(low: list[str], text: str) -> Mode:
    if TASK.search(text):
        return Mode.TASK
    if PLAN.search(text):
        return Mode.PLAN
    if text.startswith("used to"):
        return Mode.PAST
    place = _skip(low, 0)
    if place >= len(low):
        return Mode.STATE
    first = low[place]
    if first in (
        "is",
        "are",
        "am",
        "can",
        "cannot",
        "can't",
        "does",
        "do",
        "doesn't",
        "don't",
        "isn't",
        "may",
    ):
        return Mode.STATE
    if first in ("has", "have"):
        rest = [token for token in low[place + 1 :] if token not in ADVERBS]
        is_perfect = bool(rest) and (
            rest[0].endswith("ed") or rest[0] in IRREGULAR or rest[0] in ("been", "had")
        )
        return Mode.EVENT if is_perfect else Mode.STATE
    is_past = first.endswith("ed") or (
        first in IRREGULAR and first not in ("has", "goes", "does", "read", "put", "set")
    )
    return Mode.EVENT if is_past or first in ("was", "were", "did", "had") else Mode.STATE


def _names(masked: str, person: str) -> frozenset[str]:
    people = set(person.split("/"))
    found = set()
    for match in re.finditer(r"(?<!^)(?<![.:;] )\b[A-Z][\w-]*|\b[A-Za-z]+\d\w*", masked):
        word = match[0].lower().removesuffix("'s")
        if word not in people and word not in STOP and len(word) > 1:
            found.add(_root(word))
    return frozenset(found)


def _states(text: str) -> frozenset[tuple[str, str]]:
    if _STATE_RE.search(text) is None:
        return frozenset()
    found = {(dim, state) for dim, state, pattern in _STATE_RES if pattern.search(text)}
    if ("progress", "under way") in found:
        found.discard(("progress", "done"))
    return frozenset(found)


def _ended(masked: str) -> frozenset[str]:
    low = masked.lower()
    found: frozenset[str] = frozenset()
    for pattern in ENDED:
        for match in pattern.finditer(low):
            if KEPT_UP.search(low, 0, match.start("x")) is None:
                found |= _content(_TOKEN.findall(match["x"]))
    return found


def _preferred(masked: str) -> tuple[frozenset[str], frozenset[str]] | None:
    match = PREFERRED.search(masked.lower())
    if match is None:
        return None
    return _content(_TOKEN.findall(match["x"])), _content(_TOKEN.findall(match["y"]))
