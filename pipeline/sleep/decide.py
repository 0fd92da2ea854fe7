"""Decisions of sleep: what of a decider's answer may stand, and under which key it is cached.

Source: arXiv 2510.18866, section 3.3 (update, delete, ignore; only the target changes). The
published system takes any answer as it comes; here an update that loses a name, a number or a
negation, or names an entry outside its case, becomes ignore with the reason. So does one that would
overrule a user's correction by what was stored before it.
"""

from collections.abc import Sequence
from typing import assert_never

from pipeline.entries import Case, Decision, Delete, Entry, Ignore, Update, Writer
from pipeline.ids import EntryId, digest
from pipeline.sleep.kept import is_chinese, lost


def validate(case: Case, decision: Decision) -> Decision:
    """The decision if it may be applied to the case, else ignore with the reason."""
    match decision:
        case Ignore():
            return decision
        case Delete():
            return _validated_delete(case, decision)
        case Update():
            return _validated_update(case, decision)
        case _:
            assert_never(decision)


def _validated_delete(case: Case, decision: Delete) -> Decision:
    if decision.superseded_by in {candidate.entry.id for candidate in case.candidates}:
        return _respected(case, decision, (decision.superseded_by,))
    return _refused(
        case,
        "The delete was refused: it names no candidate of this case.",
        "删除被拒绝：所指的条目不在候选之中。",
    )


def _validated_update(case: Case, decision: Update) -> Decision:
    if not decision.text.strip():
        return _refused(
            case, "The update was refused: its text is empty.", "更新被拒绝：文本为空。"
        )
    texts = {candidate.entry.id: candidate.entry.text for candidate in case.candidates}
    if not decision.used or not set(decision.used) <= texts.keys():
        return _refused(
            case,
            "The update was refused: it must use candidates of this case, at least one.",
            "更新被拒绝：必须至少使用一个候选，且只能使用候选。",
        )
    missing = lost(decision.text, [case.target.text, *(texts[used] for used in decision.used)])
    if not missing:
        return _respected(case, decision, decision.used)
    listed = ", ".join(missing)
    return _refused(
        case,
        f"The update was refused: its text loses {listed}.",
        f"更新被拒绝：新文本丢失了 {listed}。",
    )


def _respected(case: Case, decision: Decision, used: Sequence[EntryId]) -> Decision:
    """The decision, unless it would overrule a user who knew of all that it rests on."""
    target = case.target
    newer = [one.entry for one in case.candidates if one.entry.id in used]
    if target.written_by is not Writer.USER or any(
        entry.written_at > target.written_at for entry in newer
    ):
        return decision
    return _refused(
        case,
        "The decision was refused: a user corrected this entry after that was stored.",
        "决定被拒绝：用户在此之后亲自更正过这一条。",
    )


def _refused(case: Case, english: str, chinese: str) -> Ignore:
    return Ignore(reason=chinese if is_chinese(case.target.text) else english)


def case_key(case: Case, decider_name: str) -> str:
    """The key under which a decider's answer to a case is cached, a hex digest.

    It covers text, date, kind and speaker of the target and of every candidate in order, and
    their own ids: a decision names entries, so it must never answer for another collection.
    """
    entries = [case.target, *(candidate.entry for candidate in case.candidates)]
    return digest(decider_name, *(part for entry in entries for part in _parts(entry)))


def _parts(entry: Entry) -> tuple[str, ...]:
    return (entry.id, entry.text, entry.said_at.isoformat(), entry.kind, entry.speaker)
