"""A chat model's reply to items, whatever stands around them.

A reply may be fenced, wrapped in prose, broken off, null or no JSON at all. What is whole in it is
taken, and the flaw says in words what was not; nothing is guessed to be there.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.prompts.replies import (
    EMPTY,
    OBJECT,
    TOO_LONG,
    UNSPEAKABLE,
    Flaw,
    json_values,
    storable,
)
from pipeline.prompts.schemas import Item, item_of

_OPENING = re.compile(r"[{\[]")
_LIST = re.compile(r"\[\s*(?=\")")
_BETWEEN = re.compile(r"\s*,?\s*")
_KEYS = ("items", "data", "statements", "facts", "memory")


NO_JSON = Flaw(reason="no JSON", en="it held no JSON with items", zh="其中没有含 items 的 JSON")
NO_LIST = Flaw(reason="no list", en="items was not a list", zh="items 不是列表")
BROKEN = Flaw(
    reason="broken JSON",
    en="its JSON broke off",
    zh="JSON 中途断开",
    hint_en="repeat nothing that was whole",
    hint_zh="已完整的不要重复",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The whole items of a reply; ``malformed`` counts those that are none, ``flaw`` the rest."""

    items: tuple[Item, ...] = ()
    malformed: int = 0
    flaw: Flaw | None = None


def read_reply(text: str, *, limit_chars: int) -> Reply:
    """What the reply holds, of its first ``limit_chars`` characters."""
    bounded = storable(text[:limit_chars])
    if not bounded.strip():
        return Reply(flaw=UNSPEAKABLE if text.strip() else EMPTY)
    found = _listed(bounded)
    reply = _salvaged(bounded) if found is None else _read(found)
    if len(text) > limit_chars:
        flaw = too_long(len(text), limit_chars)
        return Reply(items=reply.items, malformed=reply.malformed, flaw=flaw)
    return reply


def too_long(length: int, limit: int) -> Flaw:
    """The flaw of a text of that many characters."""
    return replace(
        TOO_LONG,
        en=f"it was far too long: {length} characters, of which {limit} are read",
        zh=f"回复太长：{length} 个字符，只读取前 {limit} 个",
    )


def _listed(text: str) -> Sequence[object] | Flaw | None:
    """The list of the first JSON value that has one; a flaw where it is no list; None: no value."""
    found: Sequence[object] | Flaw | None = None
    for place, value in enumerate(json_values(text, _OPENING)):
        if isinstance(value, dict) and (key := next((k for k in _KEYS if k in value), None)):
            if isinstance(value[key], list):
                return list(value[key])
            found = found or NO_LIST
        # A list inside of what broke off is no reply; one that comes first is.
        elif isinstance(value, list) and place == 0 and "{" not in text[: text.find("[")]:
            found = value if all(isinstance(each, dict | str) for each in value) else found
    return found


def _read(found: Sequence[object] | Flaw) -> Reply:
    if isinstance(found, Flaw):
        return Reply(flaw=found)
    items = [_item(each) for each in found]
    whole = tuple(item for item in items if item is not None)
    return Reply(items=whole, malformed=len(items) - len(whole))


def _salvaged(text: str) -> Reply:
    """The whole items of what broke off; no JSON at all where there is none to be seen."""
    objects = (value for value in json_values(text, OBJECT) if isinstance(value, Mapping))
    items = [_item(value) for value in (*_elements(text), *objects)]
    whole = {(tuple(item.s), item.t): item for item in items if item is not None}
    is_json = bool(whole) or any(f'"{key}"' in text for key in _KEYS)
    return Reply(items=tuple(whole.values()), flaw=BROKEN if is_json else NO_JSON)


def _elements(text: str) -> Iterator[str]:
    """The texts of a list that broke off, up to the first that is not whole."""
    decoder = json.JSONDecoder(strict=False)
    at = _LIST.search(text)
    place = len(text) if at is None else at.end()
    while place < len(text) and text[place] == '"':
        try:
            value, place = decoder.raw_decode(text, place)
        except ValueError:
            return
        yield value
        place = _BETWEEN.match(text, place).end()  # type: ignore[union-attr]  # it may be empty


def _item(value: object) -> Item | None:
    item = item_of(value)
    if item is None or not item.s:
        return None
    clean = item.model_copy(update=_clean(item))
    return clean if clean.t else None


def _clean(item: Item) -> dict[str, object]:
    """The item's texts as a store can keep them: JSON may spell what no text may hold."""
    return {
        "t": " ".join(storable(item.t).split()),
        "a": None if item.a is None else [storable(part).strip() for part in item.a],
        "e": [storable(name).strip() for name in item.e],
        "w": None if item.w is None else storable(item.w),
    }
