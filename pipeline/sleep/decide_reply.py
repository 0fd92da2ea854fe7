"""A chat model's reply to a decision: what it means for the case, or what is wrong with it.

Ids are looked up and nothing else is: an id outside the case is refused and counted. An action
that no verdict bears out changes nothing.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.entries import Candidate, Decision, Delete, Ignore, Update
from pipeline.prompts import PromptLanguage
from pipeline.prompts.decide_schema import Judgement, judgement_of
from pipeline.prompts.replies import EMPTY, OBJECT, TOO_LONG, Flaw, json_values, storable
from pipeline.prompts.shown import one_line

UNKNOWN_ID = "unknown id"
UNSUPPORTED = "unsupported action"
REASON_CHARS = 300

NO_JSON = Flaw(
    reason="no JSON", en="it held no JSON with an action", zh="其中没有含 action 的 JSON"
)
BROKEN = Flaw(reason="broken JSON", en="its JSON broke off", zh="JSON 中途断开")
NO_ACTION = Flaw(
    reason="no action",
    en="its action was none of update, delete and ignore",
    zh="action 不是 update、delete 或 ignore",
)
NO_VERDICTS = Flaw(
    reason="no verdicts", en="it had no verdicts on the newer entries", zh="没有对较新条目的判断"
)
NO_TEXT = Flaw(reason="no text", en="an update needs a text", zh="update 需要 text")

_SAID: Mapping[str, tuple[str, str]] = {
    "ignore": ("unrelated or unsure", "无关或不确定"),
    "update": ("a newer entry adds to it", "较新的条目有所补充"),
    "delete": ("a newer entry conflicts with it", "较新的条目与之冲突"),
}
_UNBORNE: Mapping[str, tuple[str, str]] = {
    "delete": (
        "The delete was refused: no entry of this case was said to conflict.",
        "删除被拒绝：没有候选被判断为冲突。",
    ),
    "update": (
        "The update was refused: no entry of this case was said to add, or one to conflict.",
        "更新被拒绝：没有候选被判断为补充，或有候选被判断为冲突。",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a reply came to; ``refused`` counts by reason what was not taken."""

    outcome: Decision | Flaw
    refused: Mapping[str, int]


def read_judgement(text: str, *, limit_chars: int) -> Judgement | Flaw:
    """The last judgement in the reply, or its flaw."""
    if len(text) > limit_chars:
        return TOO_LONG
    bounded = storable(text)
    if not bounded.strip():
        return EMPTY
    found = [each for value in json_values(bounded, OBJECT) if (each := _named(value))]
    if found:
        return judgement_of(found[-1]) or NO_ACTION
    is_json = any(f'"{key}"' in bounded for key in ("action", "verdicts"))
    return BROKEN if is_json else NO_JSON


def _named(value: object) -> Mapping[str, object] | None:
    """The object with an action, which another object may hold."""
    if not isinstance(value, Mapping) or "action" in value:
        return value if isinstance(value, Mapping) else None
    inner = (each for each in value.values() if isinstance(each, Mapping))
    return next((each for each in inner if "action" in each), None)


def read_decision(
    judgement: Judgement, candidates: Mapping[str, Candidate], *, spoken: PromptLanguage
) -> Read:
    """What a judgement means for the target.

    Args:
        candidates: by their short ids.
    """
    verdicts = judgement.verdicts
    unknown = len(verdicts.keys() - candidates.keys())
    refused = Counter({UNKNOWN_ID: unknown} if unknown else {})
    by_verdict = {
        word: [one for id_, one in candidates.items() if verdicts.get(id_) == word]
        for word in ("adds", "conflicts")
    }
    outcome = _outcome(judgement, by_verdict["adds"], by_verdict["conflicts"], spoken)
    if isinstance(outcome, Ignore) and judgement.action != "ignore":
        refused[UNSUPPORTED] += 1
    return Read(outcome=outcome, refused=dict(refused))


def _outcome(
    judgement: Judgement,
    adding: list[Candidate],
    conflicting: list[Candidate],
    spoken: PromptLanguage,
) -> Decision | Flaw:
    reason = one_line(judgement.reason)[:REASON_CHARS] or _in(spoken, _SAID[judgement.action])
    if judgement.action == "ignore":
        return Ignore(reason=reason)
    if not judgement.verdicts:
        return NO_VERDICTS
    if judgement.action == "delete" and conflicting:
        newest = max(conflicting, key=lambda one: one.entry.order)
        return Delete(superseded_by=newest.entry.id, reason=reason)
    if judgement.action == "update" and adding and not conflicting:
        text = " ".join(judgement.text.split())
        used = tuple(one.entry.id for one in adding)
        return Update(text=text, used=used, reason=reason) if text else NO_TEXT
    return Ignore(reason=_in(spoken, _UNBORNE[judgement.action]))


def _in(spoken: PromptLanguage, said: tuple[str, str]) -> str:
    return said[1] if spoken == "zh" else said[0]
