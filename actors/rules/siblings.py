"""Whether two sentences of one form speak of two things of one sort: the front door, the back door.

Both say the same of things told apart by a word: then neither value replaces the other. Words are
aligned, values left out; a word that only one of the two holds, at the place of one that only the
other holds, is *swapped*. Language-independent.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from actors.rules.reading import Reading
from actors.rules.subjects import differing_values
from actors.rules.verdict import Why

_LEAST_SHARED = 0.5
_MOST_SWAPPED = 2
_GRAMMAR_WORDS = """
a an the is are was were be been has have had do does did not no it its this that at in on of to for
from with by and or as than about his her their my our now then so very just also
can cannot could will would may might must should learn start begin becom come recent late
的 了 是 在 有 和 与 跟 把 被 从 到 向 对 给 为 就 也 都 还 又 很 不 没 没有 现在 已经 着 过
最近 会 不会 能 不能 学会 开始 可以
"""
_GRAMMAR = frozenset(_GRAMMAR_WORDS.split())
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Words of the older sentence and those at their place in the newer one.

    ``is_attributive`` says that both stand before the same word.
    """

    older: tuple[str, ...]
    newer: tuple[str, ...]
    is_attributive: bool

    @property
    def is_short(self) -> bool:
        """Whether no more than a word or two were exchanged."""
        return max(len(self.older), len(self.newer)) <= _MOST_SWAPPED


def is_sibling(target: Reading, candidate: Reading, why: Why) -> bool:
    """Whether the rule that spoke took two things of one sort for one."""
    if target.is_chinese != candidate.is_chinese:
        return False
    found = swapped(target, candidate)
    match why:
        case Why.VALUE:
            is_apart = _is_of_another_year(target, candidate) or _is_labelled(target, candidate)
            return is_apart or bool(found)
        case Why.ATTRIBUTE | Why.STATE:
            return len(found) > 1
        case Why.FLIP:
            return bool(found)
        case Why.ENDED:
            return any(each.is_attributive for each in found)
        case Why.REFINED | Why.EXTENDED | Why.DETAILED | Why.REPEATED:
            is_turned = target.main.is_negative != candidate.main.is_negative
            return bool(found) and (is_turned or _has_other_values(target, candidate))
        case _:
            return False


def swapped(target: Reading, candidate: Reading) -> list[Swap]:
    """The swapped words; none where the sentences are not of one form.

    What clauses have as their verbs tells nothing apart, nor does grammar.
    """
    old, new = target.aligned, candidate.aligned
    matches = SequenceMatcher(None, old, new, autojunk=False)
    shared = sum(size for _, _, size in matches.get_matching_blocks())
    if shared < _LEAST_SHARED * max(len(old), len(new)):
        return []
    idle = _GRAMMAR.union(clause.verb for each in (target, candidate) for clause in each.clauses)
    swaps = [
        Swap(
            older=_only(old[a:b], {*new, *idle}),
            newer=_only(new[c:d], {*old, *idle}),
            is_attributive=b < len(old) and old[b] not in idle,
        )
        for tag, a, b, c, d in matches.get_opcodes()
        if tag == "replace"
    ]
    return [each for each in swaps if each.older and each.newer and each.is_short]


def _only(words: Sequence[str], known: set[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in known)


def _has_other_values(target: Reading, candidate: Reading) -> bool:
    """Whether the newer sentence names values of a sort that the older one has, but others."""
    shared = target.slots.keys() & candidate.slots.keys()
    return any(not target.slots[key] <= candidate.slots[key] for key in shared)


def _is_of_another_year(target: Reading, candidate: Reading) -> bool:
    """Whether each measures in a year of its own."""
    old, new = target.slots.get("year"), candidate.slots.get("year")
    if old is None or new is None or old == new:
        return False
    return not differing_values(target, candidate) <= {"year", "month", "day"}


def _is_labelled(target: Reading, candidate: Reading) -> bool:
    """Whether a number in the subject tells them apart: version 1 and version 2."""
    forms = [_NUMBER.sub("#", reading.text) for reading in (target, candidate)]
    old, new = (_NUMBER.findall(reading.text) for reading in (target, candidate))
    if forms[0] != forms[1] or len(old) < 2:
        return False
    apart = [one for one, other in zip(old, new, strict=True) if one != other]
    return old[0] != new[0] and len(apart) > 1
