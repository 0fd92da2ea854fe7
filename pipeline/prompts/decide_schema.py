"""What a reply to a decision must look like; verdicts come first, so that the action rests on them.

The JSON schema is what a server is asked to enforce. What came is read in any case, and what means
the same is taken: verdicts as one object or as texts, other words for an action.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from pipeline.messages import Json

VerdictWord = Literal["adds", "conflicts", "unrelated"]
ActionWord = Literal["update", "delete", "ignore"]

_VERDICTS: Mapping[str, VerdictWord] = {
    **dict.fromkeys(("adds", "add", "update", "refines", "repeats", "补充", "重复"), "adds"),
    **dict.fromkeys(("conflicts", "conflict", "delete", "contradicts", "冲突"), "conflicts"),
}
_ACTIONS: Mapping[str, ActionWord] = {
    **dict.fromkeys(("update", "merge", "更新"), "update"),
    **dict.fromkeys(("delete", "remove", "删除"), "delete"),
    **dict.fromkeys(("ignore", "none", "noop", "keep", "忽略"), "ignore"),
}
_PAIR = re.compile(r"\s*(\w+)\s*[:：= ]\s*(\w+)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One reply: one action, a verdict for each short id, the text of an update, and why."""

    action: ActionWord
    verdicts: Mapping[str, VerdictWord]
    text: str = ""
    reason: str = ""


def judgement_of(value: object) -> Judgement | None:
    """The judgement that an object is; None where it names no action that there is."""
    if not isinstance(value, Mapping):
        return None
    said = value.get("action")
    action = _ACTIONS.get(said.strip().lower()) if isinstance(said, str) else None
    if action is None:
        return None
    return Judgement(
        action=action,
        verdicts=dict(_verdicts(value.get("verdicts"))),
        text=_text(value.get("text")),
        reason=_text(value.get("reason")),
    )


def _verdicts(value: object) -> Iterator[tuple[str, VerdictWord]]:
    """Verdicts by id, whether they come as rows, as texts or as one object."""
    rows = value if isinstance(value, list) else []
    if isinstance(value, Mapping):
        rows = [{"id": name, "verdict": said} for name, said in value.items()]
    for row in rows:
        match row:
            case {"id": str() | int() as name, "verdict": str() as said}:
                yield str(name), _word(said)
            case str() if found := _PAIR.fullmatch(row):
                yield found[1], _word(found[2])


def _word(said: str) -> VerdictWord:
    """A word that is none of ours changes nothing."""
    return _VERDICTS.get(said.strip().lower(), "unrelated")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@cache
def decision_schema() -> Mapping[str, Json]:
    """The JSON schema of a reply, always the same, so that servers compile it once."""
    verdict: Json = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "verdict": {"type": "string", "enum": ["unrelated", "adds", "conflicts"]},
        },
        "required": ["id", "verdict"],
        "additionalProperties": False,
    }
    schema: Json = {
        "type": "object",
        "properties": {
            "verdicts": {"type": "array", "items": verdict},
            "action": {"type": "string", "enum": ["ignore", "update", "delete"]},
            "text": {"type": "string"},
            "reason": {"type": "string"},
        },
        "required": ["verdicts", "action", "text", "reason"],
        "additionalProperties": False,
    }
    return cast(Mapping[str, Json], schema)
