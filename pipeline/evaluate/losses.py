"""Where the evidence of a question was lost on its way from a message to a context.

Knows nothing of stores: it is told what each step still had.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.evaluate.evidence import Question


class Step(StrEnum):
    """What became of a message that holds an answer; all but the first are losses."""

    FOUND = "found"
    NOT_EXTRACTED = "not extracted"
    NOT_CURRENT = "no longer current"
    NOT_A_CANDIDATE = "not in the candidates"
    RANKING = "cut by ranking"
    BUDGET = "cut by the budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The messages that each step of one question still had.

    ``extracted`` are those that any entry holds, ``current`` those that a current one does;
    ``candidates`` those of all hits, ``ranked`` as many of the best as the context rests on,
    ``shown`` those of the context.
    """

    extracted: Collection[str]
    current: Collection[str]
    candidates: Collection[str]
    ranked: Collection[str]
    shown: Collection[str]


def step_of(message: str, trail: Trail) -> Step:
    """The first step that no longer had the message; FOUND where the context shows it."""
    if message in trail.shown:
        return Step.FOUND
    kept = (
        (trail.extracted, Step.NOT_EXTRACTED),
        (trail.current, Step.NOT_CURRENT),
        (trail.candidates, Step.NOT_A_CANDIDATE),
        (trail.ranked, Step.RANKING),
    )
    return next((step for had, step in kept if message not in had), Step.BUDGET)


def losses(trails: Sequence[Trail], questions: Sequence[Question]) -> Mapping[Step, float]:
    """Per step the mean over questions of the share of gold messages that ended there, in 0..1.

    The shares add up to 1, and that of FOUND is the evidence recall; all 0 without questions.
    """
    shares = dict.fromkeys(Step, 0.0)
    for trail, question in zip(trails, questions, strict=True):
        for message in question.gold:
            shares[step_of(message, trail)] += 1 / len(question.gold) / len(questions)
    return shares
