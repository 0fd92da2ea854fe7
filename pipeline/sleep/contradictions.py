"""Items that say the same thing of the same subject with another value, or deny each other.

Only what can be told from the words is marked: sentences that are equal but for one typed value
(a time, a date, an amount), equal but for a negation, or two plain attributes of one subject of
which there can be but one. Linear in the number of items, but for items that share a sentence.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from pipeline.entries import Attributes, Entry
from pipeline.ids import ItemId
from pipeline.scratchpad import Item
from pipeline.sleep.kept import is_chinese, negations, stem
from pipeline.sleep.slots import values

_ONE_AT_A_TIME = frozenset(
    ("name", "birthday", "phone", "email", "lives in", "comes from", "works at")
) | frozenset(("名字", "生日", "电话", "邮箱", "住在", "老家", "工作于"))
"""Attributes of which a subject has one value at a time."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSED_OVER = _words(
    "a an the is are was were be been being do does did has have had will would not no never "
    "now currently still really also please any t s don doesn didn isn aren wasn weren hasn haven "
    "wouldn"
)
_WORD = re.compile(r"[^\W_]+")
_CHINESE_SMALL = re.compile(r"[不没无未别勿再也都就还很了的是有在，。！？；、,.!?;\s]")

Stated = tuple[Item, Entry | None]
"""An item, and its entry where it has exactly one."""

_Key = Callable[[Stated], object | None]


def contradictions(stated: Iterable[Stated]) -> list[tuple[ItemId, ItemId]]:
    """Pairs of (older, newer) items of one slot that cannot both hold, each once.

    Of many that differ about one thing each is held against the next newer one.
    """
    held = list(stated)
    found = {
        (older[0].id, newer[0].id)
        for group in (*_grouped(held, _attribute), *_grouped(held, _sentence))
        for older, newer in pairwise(sorted(group, key=_age))
        if _differ(older, newer)
    }
    return sorted(found)


def _grouped(held: Iterable[Stated], key_of: _Key) -> Iterator[list[Stated]]:
    groups: dict[object, list[Stated]] = defaultdict(list)
    for one in held:
        key = key_of(one)
        if key is not None:
            groups[(one[0].slot, key)].append(one)
    return (group for group in groups.values() if len(group) > 1)


def _age(stated: Stated) -> tuple[object, str]:
    return stated[0].said_at, stated[0].id


def _single(entry: Entry | None) -> Attributes | None:
    found = None if entry is None else entry.attributes
    is_single = found is not None and (
        found.key in _ONE_AT_A_TIME or found.key.startswith("favourite ")
    )
    return found if is_single else None


def _attribute(stated: Stated) -> object | None:
    found = _single(stated[1])
    return None if found is None else (found.subject.casefold(), found.key)


def _sentence(stated: Stated) -> object | None:
    """What the sentence says without its values and negations; None where that is too little."""
    item, _entry = stated
    chinese = is_chinese(item.text)
    _found, rest = values(item.text, is_chinese=chinese)
    if chinese:
        core = _CHINESE_SMALL.sub("", rest)
        return core if len(core) >= 3 else None
    words = [word for word in _WORD.findall(rest.casefold()) if word not in _PASSED_OVER]
    return tuple(stem(word) for word in words) if len(words) >= 2 else None


def _differ(older: Stated, newer: Stated) -> bool:
    """Whether two about one thing say something else about it; several speakers may differ."""
    if _is_others(older[1], newer[1]):
        return False
    one, other = _single(older[1]), _single(newer[1])
    if one is not None and other is not None and one.key == other.key:
        return one.value.casefold() != other.value.casefold()
    return _denied(older[0].text) != _denied(newer[0].text) or _one_value_differs(older, newer)


def _is_others(one: Entry | None, other: Entry | None) -> bool:
    return one is not None and other is not None and one.speaker != other.speaker


def _denied(text: str) -> bool:
    return bool(negations(text))


def _one_value_differs(older: Stated, newer: Stated) -> bool:
    one, other = _values(older[0].text), _values(newer[0].text)
    return one.keys() == other.keys() and sum(one[key] != other[key] for key in one) == 1


def _values(text: str) -> dict[str, frozenset[str]]:
    """The typed values; a day says its month."""
    found, _rest = values(text, is_chinese=is_chinese(text))
    return {key: each for key, each in found.items() if key != "month" or "day" not in found}
