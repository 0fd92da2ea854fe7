"""Items that say the same thing of the same subject with another value, or deny each other.

Only what can be told from the words is marked: sentences that are equal but for one typed value
(a time, a date, an amount), equal but for a negation, or two plain attributes of one subject of
which there can be but one. Linear in the number of items, but for items that share a sentence.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What somebody said, to be held against others of its group; ``speaker`` None is unknown."""

    id: str
    group: str
    text: str
    said_at: datetime
    speaker: str | None = None
    attributes: Attributes | None = None


Stated = tuple[Item, Entry | None]
"""An item, and its entry where it has exactly one."""

_Key = Callable[[Claim], object | None]


def contradictions(stated: Iterable[Stated]) -> list[tuple[ItemId, ItemId]]:
    """Pairs of (older, newer) items of one slot that cannot both hold, each once."""
    claims = [_claim(item, entry) for item, entry in stated]
    return [(ItemId(older), ItemId(newer)) for older, newer in contrary(claims)]


def contrary(claims: Iterable[Claim]) -> list[tuple[str, str]]:
    """Pairs of ids (older, newer) of claims of one group that cannot both hold, each once.

    Of many that differ about one thing each is held against the next newer one.
    """
    held = list(claims)
    found = {
        (older.id, newer.id)
        for group in (*_grouped(held, _attribute), *_grouped(held, _sentence))
        for older, newer in pairwise(sorted(group, key=_age))
        if _differ(older, newer)
    }
    return sorted(found)


def _claim(item: Item, entry: Entry | None) -> Claim:
    return Claim(
        id=item.id,
        group=item.slot,
        text=item.text,
        said_at=item.said_at,
        speaker=None if entry is None else entry.speaker,
        attributes=None if entry is None else entry.attributes,
    )


def _grouped(held: Iterable[Claim], key_of: _Key) -> Iterator[list[Claim]]:
    groups: dict[object, list[Claim]] = defaultdict(list)
    for one in held:
        key = key_of(one)
        if key is not None:
            groups[(one.group, key)].append(one)
    return (group for group in groups.values() if len(group) > 1)


def _age(claim: Claim) -> tuple[object, str]:
    return claim.said_at, claim.id


def _single(claim: Claim) -> Attributes | None:
    found = claim.attributes
    is_single = found is not None and (
        found.key in _ONE_AT_A_TIME or found.key.startswith("favourite ")
    )
    return found if is_single else None


def _attribute(claim: Claim) -> object | None:
    found = _single(claim)
    return None if found is None else (found.subject.casefold(), found.key)


def _sentence(claim: Claim) -> object | None:
    """What the sentence says without its values and negations; None where that is too little."""
    chinese = is_chinese(claim.text)
    _found, rest = values(claim.text, is_chinese=chinese)
    if chinese:
        core = _CHINESE_SMALL.sub("", rest)
        return core if len(core) >= 3 else None
    words = [word for word in _WORD.findall(rest.casefold()) if word not in _PASSED_OVER]
    return tuple(stem(word) for word in words) if len(words) >= 2 else None


def _differ(older: Claim, newer: Claim) -> bool:
    """Whether two about one thing say something else about it; several speakers may differ."""
    if older.speaker is not None and newer.speaker is not None and older.speaker != newer.speaker:
        return False
    one, other = _single(older), _single(newer)
    if one is not None and other is not None and one.key == other.key:
        return one.value.casefold() != other.value.casefold()
    return _denied(older.text) != _denied(newer.text) or _one_value_differs(older, newer)


def _denied(text: str) -> bool:
    return bool(negations(text))


def _one_value_differs(older: Claim, newer: Claim) -> bool:
    one, other = _values(older.text), _values(newer.text)
    return one.keys() == other.keys() and sum(one[key] != other[key] for key in one) == 1


def _values(text: str) -> dict[str, frozenset[str]]:
    """The typed values; a day says its month."""
    found, _rest = values(text, is_chinese=is_chinese(text))
    return {key: each for key, each in found.items() if key != "month" or "day" not in found}
