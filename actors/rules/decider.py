"""Decides what sleep does with a target, by rules; a baseline without a language model.

Source of the three actions: arXiv 2510.18866, section 3.3. Where a candidate only repeats the
target, the decision is an update to the richer of the two texts, so that the fact is kept once.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from actors.rules.chinese import read_chinese
from actors.rules.chinese_sketch import sketch_chinese
from actors.rules.english import read_english
from actors.rules.english_sketch import sketch_english
from actors.rules.judge import compare
from actors.rules.merge import union
from actors.rules.reading import Mark, Reading
from actors.rules.reasons import reason
from actors.rules.subjects import everyone
from actors.rules.verdict import Action, Verdict, Why
from pipeline.entries import Candidate, Case, Decision, Delete, Entry, Ignore, Status, Update
from pipeline.sleep.decide import validate
from pipeline.sleep.kept import is_chinese
from pipeline.text.sentences import sentences

_NOBODY = frozenset({"", "user", "用户", "assistant", "system", "tool", "unknown"})
_MOST_USED = 3
_MOST_SENTENCES = 3
_MANY_VALUED = frozenset(
    {"likes", "dislikes", "is allergic to", "comes from", "喜欢", "不喜欢", "过敏", "老家"}
)


class RuleDecider:
    """Implements ``pipeline.ports.Decider`` by rules over English and Chinese sentences."""

    def __init__(self, *, max_chars: int = 600) -> None:
        """An update that would be longer than ``max_chars`` uses fewer candidates."""
        self._max_chars = max_chars
        read("用户", "user")

    @property
    def name(self) -> str:
        """rules-baseline and the version of the rules."""
        return "rules-baseline/2"

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """One decision per case, in order; the newest conflict wins over any refinement."""
        return [validate(case, self._decide(case)) for case in cases]

    def _decide(self, case: Case) -> Decision:
        target = _reading(case.target)
        newest_first = sorted(case.candidates, key=lambda each: each.entry.order, reverse=True)
        judged = [(each, *_compared(case.target, target, each)) for each in newest_first]
        for candidate, newer, verdict in judged:
            if verdict.action is Action.DELETE:
                why = reason(verdict.why, target, newer)
                return Delete(superseded_by=candidate.entry.id, reason=why)
        refining = [each for each in judged if each[2].action is Action.UPDATE]
        if refining:
            return self._united(case, target, refining)
        _, newer, verdict = judged[0]
        return Ignore(reason=reason(verdict.why, target, newer))

    def _united(
        self, case: Case, target: Reading, refining: list[tuple[Candidate, Reading, Verdict]]
    ) -> Decision:
        """The update with the newest refining candidates that fit; it stays one statement."""
        for count in range(min(_MOST_USED, len(refining)), 0, -1):
            used = refining[:count][::-1]
            readings = [newer for _, newer, _ in used]
            is_told = all(verdict.why is Why.DETAILED for _, _, verdict in used)
            words = [everyone(each) for each in (target, *readings)]
            if is_told:
                told = (everyone(each) | each.sketch.words for each in readings)
                words = [target.sketch.core, *told]
            text = union(case.target.text, [each.entry.text for each, _, _ in used], words)
            if len(text) <= self._max_chars and len(sentences(text)) <= _MOST_SENTENCES:
                break
        else:
            too_long = "合并后的文本太长。" if target.is_chinese else "The united text is too long."
            return Ignore(reason=too_long)
        _, newer, verdict = used[-1]
        ids = tuple(each.entry.id for each, _, _ in used)
        return Update(text=text, used=ids, reason=reason(verdict.why, target, newer))


def _compared(older: Entry, target: Reading, candidate: Candidate) -> tuple[Reading, Verdict]:
    """The candidate's reading and the verdict on it."""
    newer = _reading(candidate.entry)
    if target.is_chinese != newer.is_chinese:
        return newer, Verdict(action=Action.IGNORE, why=Why.UNRELATED)
    if candidate.entry.status is Status.TENTATIVE and older.status is not Status.TENTATIVE:
        return newer, Verdict(action=Action.IGNORE, why=Why.UNRELATED)
    verdict = _by_attributes(older, candidate.entry, target, newer)
    is_speech = _is_speech(older) or _is_speech(candidate.entry)
    if verdict.action is Action.UPDATE and is_speech:
        return newer, Verdict(action=Action.IGNORE, why=Why.REPORTED)
    return newer, verdict


def _is_speech(entry: Entry) -> bool:
    """Whether the entry only keeps words as they came: "Ida: Go!", or an image's caption."""
    return entry.text.startswith((f"{entry.speaker}: ", f"{entry.speaker}：", "[image:"))


def _by_attributes(older: Entry, newer: Entry, target: Reading, candidate: Reading) -> Verdict:
    """The verdict; an attribute that a word of change gives another value is a conflict too."""
    verdict = compare(target, candidate)
    one, other = older.attributes, newer.attributes
    if verdict.action is not Action.IGNORE or one is None or other is None:
        return verdict
    if one.key in _MANY_VALUED or verdict.why is Why.REPORTED:
        return verdict
    is_same = (one.subject.casefold(), one.key.casefold()) == (
        other.subject.casefold(),
        other.key.casefold(),
    )
    is_changed = (
        bool(candidate.marks & {Mark.CHANGE, Mark.CORRECTION}) and not candidate.is_question
    )
    if is_same and is_changed and one.value.casefold() != other.value.casefold():
        return Verdict(action=Action.DELETE, why=Why.ATTRIBUTE)
    return verdict


def _reading(entry: Entry) -> Reading:
    return read(entry.text, entry.speaker)


@lru_cache(maxsize=20_000)
def read(text: str, speaker: str) -> Reading:
    """The reading of a sentence said by ``speaker``, whose own name then means the user."""
    name = "user" if speaker.casefold() in _NOBODY else speaker
    if is_chinese(text):
        reading = read_chinese(text, name)
        return replace(reading, sketch=sketch_chinese(reading, name))
    reading = read_english(text, name)
    return replace(reading, sketch=sketch_english(reading))
