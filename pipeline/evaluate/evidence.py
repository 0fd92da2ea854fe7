"""Evidence recall without a language model: which source messages a search brings back.

Source: LoCoMo (arXiv 2402.17753), where every question names the messages that hold its answer.
Knows nothing of models, stores or files.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

MAX_SOURCES = 3
"""An entry that cites more messages than this is no evidence for any of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and the ids of the messages that hold its answer; ``gold`` may be empty."""

    text: str
    gold: frozenset[str]
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One emitted line of a context and the ids of the messages that it cites."""

    text: str
    sources: tuple[str, ...]


def ranked_messages(ranked: Iterable[Sequence[str]], *, k: int) -> list[str]:
    """The first ``k`` distinct messages of ranked entries, each given by its sources in order."""
    seen: dict[str, None] = {}
    for sources in ranked:
        for source in sources:
            if len(seen) == k:
                return list(seen)
            seen.setdefault(source)
    return list(seen)


def found_fraction(found: Collection[str], gold: Collection[str]) -> float:
    """The share of ``gold`` among ``found``, in 0..1; ``gold`` is not empty."""
    return sum(1 for message in gold if message in found) / len(gold)


def messages_in_context(
    lines: Sequence[Line], gold: Collection[str], *, texts: Mapping[str, str]
) -> set[str]:
    """The ``gold`` messages that a context shows.

    A message is shown when a line with at most three sources cites it, or when its own text
    (``texts``, whitespace folded, not blank) is part of the context.
    """
    cited = {s for line in lines if len(line.sources) <= MAX_SOURCES for s in line.sources}
    context = _folded("\n".join(line.text for line in lines))
    return {m for m in gold if m in cited or _is_shown(_folded(texts.get(m, "")), context)}


def within_budget(
    lines: Sequence[Line], *, counts: Sequence[int], budget_tokens: int
) -> list[Line]:
    """The lines emitted greedily in rank order: each one that still fits the budget."""
    kept: list[Line] = []
    left = budget_tokens
    for line, tokens in zip(lines, counts, strict=True):
        if tokens <= left:
            kept.append(line)
            left -= tokens
    return kept


def existing(questions: Iterable[Question], ids: Collection[str]) -> list[Question]:
    """The questions with the gold ids that exist; those left without one are dropped."""
    kept = (
        Question(text=q.text, gold=frozenset(g for g in q.gold if g in ids), category=q.category)
        for q in questions
    )
    return [question for question in kept if question.gold]


def mean_recall(found: Sequence[Collection[str]], questions: Sequence[Question]) -> float:
    """The mean over questions of the found fraction of their gold ids; 0 without questions."""
    if not questions:
        return 0.0
    pairs = zip(found, questions, strict=True)
    return sum(found_fraction(got, q.gold) for got, q in pairs) / len(questions)


def _folded(text: str) -> str:
    return " ".join(text.split())


def _is_shown(text: str, context: str) -> bool:
    return bool(text) and text in context
