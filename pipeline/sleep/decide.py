"""Decisions of sleep: what of a decider's answer may stand, and under which key it is cached.

Source: arXiv 2510.18866, section 3.3 (update, delete, ignore; only the target changes). The
published system takes any answer as it comes; here an update that loses a name, a number or a
negation, makes one up, changes the language, or names an entry outside its case, becomes ignore
with the reason. So does what would overrule a user's correction by what was stored before it, or a
firm statement by an unsure one.
"""

from collections.abc import Sequence
from typing import assert_never

from pipeline.entries import Case, Decision, Delete, Entry, Ignore, Status, Update, Writer
from pipeline.ids import EntryId, digest
from pipeline.sleep.decide_lines import day
from pipeline.sleep.kept import invented, is_chinese, lost
from pipeline.text.languages import language


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
    return _refused_text(case, decision) or _respected(case, decision, decision.used)


def _refused_text(case: Case, decision: Update) -> Ignore | None:
    """Why the text cannot stand for what it unites; None where it can."""
    united = [case.target, *(one.entry for one in case.candidates if one.entry.id in decision.used)]
    texts = [entry.text for entry in united]
    if (language(decision.text) == "zh") != (language(case.target.text) == "zh"):
        return _refused(
            case,
            "The update was refused: its text is in another language.",
            "更新被拒绝：新文本换了语言。",
        )
    if missing := ", ".join(lost(decision.text, texts)):
        return _refused(
            case,
            f"The update was refused: its text loses {missing}.",
            f"更新被拒绝：新文本丢失了 {missing}。",
        )
    if made_up := ", ".join(invented(decision.text, [*texts, *map(day, united)])):
        return _refused(
            case,
            f"The update was refused: nobody said {made_up}.",
            f"更新被拒绝：没有人说过 {made_up}。",
        )
    return None


def _respected(case: Case, decision: Decision, used: Sequence[EntryId]) -> Decision:
    """The decision, unless it would overrule what is firmer than all that it rests on."""
    target = case.target
    newer = [one.entry for one in case.candidates if one.entry.id in used]
    is_firm = target.status is not Status.TENTATIVE
    if is_firm and any(entry.status is Status.TENTATIVE for entry in newer):
        return _refused(
            case,
            "The decision was refused: it rests on what its speaker was unsure of.",
            "决定被拒绝：它所依据的内容，说话人自己并不确定。",
        )
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

    It covers all that is shown of the target and of every candidate in order, and their own ids:
    a decision names entries, so it must never answer for another collection.
    """
    entries = [case.target, *(candidate.entry for candidate in case.candidates)]
    return digest(decider_name, *(part for entry in entries for part in _parts(entry)))


def _parts(entry: Entry) -> tuple[str, ...]:
    said = (entry.said_at.isoformat(), entry.zone)
    return (entry.id, entry.text, *said, entry.kind, entry.status, entry.speaker)
