"""``eval longmemeval``: evidence recall by question type, with no language model.

Source: LongMemEval (arXiv 2410.10813). Every question has a history of its own, so every question
is a collection. Evidence are the turns marked as holding the answer; beside them stand the
benchmark's own measures over sessions. Questions without an answer in the history take no part.
"""

from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import InputError
from pipeline.evaluate.evidence import Question
from pipeline.evaluate.longmemeval import (
    SESSION_KS,
    TYPES,
    Item,
    Session,
    items,
    ndcg,
    recall_all,
    recall_any,
)
from pipeline.evaluate.posed import Posed, of_longmemeval
from pipeline.messages import Json
from serve.evaluation.asking import Asked
from serve.evaluation.evidence import Benchmark
from serve.evaluation.samples import Sample, document_of, sample_of
from serve.formats import ConversationIn
from serve.formats.conversation import message

QUICK_QUESTIONS = 3


def load(path: Path, *, quick: bool, first: int | None = None) -> list[Item]:
    """The questions of a file; ``quick`` takes the first three, ``first`` so many.

    Raises:
        InputError: the file is not of the published form.
    """
    return items(document_of(path))[: QUICK_QUESTIONS if quick else first]


def samples(asked: Sequence[Item], *, with_abstention: bool = False) -> list[Sample]:
    """A sample for every question whose evidence is in its history.

    Args:
        with_abstention: take those without an answer there too, whose histories have no question.

    Raises:
        InputError: there is none.
    """
    found = [_sample(item) for item in asked if with_abstention or not item.is_abstention]
    kept = [sample for sample in found if with_abstention or sample.questions]
    if not any(sample.questions for sample in kept):
        raise InputError("expected questions with evidence, got none", field="questions")
    return kept


def posed(asked: Sequence[Item]) -> list[tuple[str, Posed]]:
    """The questions as they are posed, each with its sample's name."""
    return [(item.id, of_longmemeval(item)) for item in asked]


def _sample(item: Item) -> Sample:
    sessions = [_conversation(session, place) for place, session in enumerate(item.sessions)]
    gold = frozenset(
        _name(place, number)
        for place, session in enumerate(item.sessions)
        for number, turn in enumerate(session.turns)
        if turn.is_evidence and not item.is_abstention
    )
    question = Question(text=item.question, gold=gold, category=item.type)
    return sample_of(item.id, [each for each in sessions if each.messages], [question])


def _conversation(session: Session, place: int) -> ConversationIn:
    return ConversationIn(
        collection=None,
        conversation=f"{place}-{session.id}",
        zone=None,
        messages=tuple(
            message(
                turn.role,
                turn.content,
                said_at=session.said_at,
                message_id=_name(place, number),
            )
            for number, turn in enumerate(session.turns)
        ),
    )


def _name(session: int, turn: int) -> str:
    """A message's id: a session can come twice in a history, so places tell them apart."""
    return f"{session}:{turn}"


def benchmark(path: Path, samples: Sequence[Sample]) -> Benchmark:
    """What is measured of these samples."""
    return Benchmark(name="longmemeval", file=path.name, samples=samples, groups=TYPES)


def sessions_found(
    asked: Sequence[Asked], samples: Sequence[Sample], of: Sequence[Item]
) -> dict[str, Json]:
    """The benchmark's measures over sessions, means over the questions, each in 0..1."""
    by_id = {item.id: item for item in of}
    totals: dict[str, float] = {}
    searched = [sample for sample in samples if sample.questions]
    for each, sample in zip(asked, searched, strict=True):
        item = by_id[sample.name]
        names = [item.sessions[int(one.partition(":")[0])].id for one in each.ranked]
        ranked = list(dict.fromkeys(names))
        for k in SESSION_KS:
            for name, rule in (
                ("recall_any", recall_any),
                ("recall_all", recall_all),
                ("ndcg", ndcg),
            ):
                value = rule(ranked, item.answer_sessions, k=k)
                totals[f"{name}@{k}"] = totals.get(f"{name}@{k}", 0.0) + value
    return {name: round(total / len(searched), 4) for name, total in totals.items()}
