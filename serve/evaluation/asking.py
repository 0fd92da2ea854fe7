"""What a service, a plain search and a window of the newest messages bring back for questions.

Evidence recall is defined in ``pipeline.evaluate.evidence``; here the three are asked for it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pipeline.entries import CURRENT, Status
from pipeline.evaluate.evidence import (
    Line,
    messages_in_context,
    ranked_messages,
    within_budget,
)
from pipeline.evaluate.floor import Bm25, floor_ranking, words
from pipeline.evaluate.losses import Trail
from pipeline.ports import Embedder, Tokenizer
from serve.client import Client
from serve.evaluation.samples import Sample
from serve.replies import Context, Entry

KS = (5, 10, 20)
BUDGETS = (500, 1_000, 2_000)
HITS = 100

Found = dict[str, list[Collection[str]]]
"""Per measure what each question found, in the order of the questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the service brought back for one question.

    ``ranked`` are the messages of its hits, best first, each once. ``shown``, ``tokens`` and
    ``trails`` are those of a context at each budget.
    """

    ranked: tuple[str, ...]
    shown: Mapping[int, Collection[str]]
    tokens: Mapping[int, int]
    trails: Mapping[int, Trail]


def measures() -> list[str]:
    """The names of all measures, in the order of the report."""
    return [*(f"@{k}" for k in KS), *(in_context(budget) for budget in BUDGETS)]


def in_context(budget_tokens: int) -> str:
    """The measure of a context of this budget."""
    return f"{budget_tokens} tokens"


def empty() -> Found:
    """Nothing found for no question."""
    return {name: [] for name in measures()}


# What the service finds -------------------------------------------------------------------------


def ask(
    client: Client, sample: Sample, *, collection: str, extracted_before: Collection[str] = ()
) -> list[Asked]:
    """What search and context of the service bring back for every question.

    Args:
        extracted_before: gold messages that entries held before a sleep merged them.
    """
    gold = {message for question in sample.questions for message in question.gold}
    stored = list(client.all_entries(collection, statuses=[each.value for each in Status]))
    extracted = _held(stored, gold, sample) | set(extracted_before)
    current = _held([each for each in stored if each["status"] in CURRENT], gold, sample)
    asked = []
    for question in sample.questions:
        hits = client.search(collection, question.text, limit=HITS)
        contexts = {
            budget: client.context(
                collection, question.text, budget_tokens=budget, working_memory_tokens=0
            )
            for budget in BUDGETS
        }
        shown = {
            budget: messages_in_context(_lines(context), question.gold, texts=sample.texts)
            for budget, context in contexts.items()
        }
        ranked = ranked_messages([_sources(hit["entry"]) for hit in hits], k=len(sample.texts))
        candidates = _held([hit["entry"] for hit in hits], question.gold, sample)
        trails = {
            budget: Trail(
                extracted=extracted,
                current=current,
                candidates=candidates,
                ranked=ranked[: _told(contexts[budget])],
                shown=shown[budget],
            )
            for budget in BUDGETS
        }
        tokens = {budget: context["tokens"] for budget, context in contexts.items()}
        asked.append(Asked(ranked=tuple(ranked), shown=shown, tokens=tokens, trails=trails))
    return asked


def _held(entries: Sequence[Entry], gold: Collection[str], sample: Sample) -> set[str]:
    """Those of the messages that the entries hold, as a context of all of them would."""
    lines = [Line(text=each["text"], sources=tuple(_sources(each))) for each in entries]
    return messages_in_context(lines, gold, texts=sample.texts)


def _told(context: Context) -> int:
    """How many messages the context rests on: the ranking had room for as many."""
    return len({source for line in _lines(context) for source in line.sources})


def _sources(entry: Entry) -> list[str]:
    return [str(source["message_id"]) for source in entry["sources"]]


def _lines(context: Context) -> list[Line]:
    return [
        Line(
            text=line["text"],
            sources=tuple(str(source["message_id"]) for source in line["sources"]),
        )
        for part in context["parts"].values()
        for line in part
    ]


def found_by(asked: Sequence[Asked]) -> Found:
    """The messages that the service found, by measure."""
    found = empty()
    for each in asked:
        for k in KS:
            found[f"@{k}"].append(each.ranked[:k])
        for budget in BUDGETS:
            found[in_context(budget)].append(each.shown[budget])
    return found


# What a plain search and a window find ----------------------------------------------------------


def floor(sample: Sample, *, embedder: Embedder, tokenizer: Tokenizer) -> Found:
    """What BM25 and the embedder over raw messages find for every question."""
    ids = list(sample.texts)
    bm25 = Bm25([words(sample.said[message]) for message in ids])
    vectors = embedder.embed([sample.said[message] for message in ids], purpose="passage")
    asked = embedder.embed([question.text for question in sample.questions], purpose="query")
    counts = _counts(sample, tokenizer)
    found = empty()
    for question, vector in zip(sample.questions, asked, strict=True):
        order = floor_ranking(bm25, vectors, query=question.text, query_vector=vector)
        ranked = [ids[row] for row in order]
        for k in KS:
            found[f"@{k}"].append(ranked[:k])
        for budget in BUDGETS:
            kept = _filled(ranked, sample, counts=counts, budget_tokens=budget)
            found[in_context(budget)].append(
                messages_in_context(kept, question.gold, texts=sample.texts)
            )
    return found


def window(sample: Sample, *, tokenizer: Tokenizer) -> Found:
    """What the newest messages hold of every question's evidence, at every budget."""
    newest = list(sample.texts)[::-1]
    counts = _counts(sample, tokenizer)
    found: Found = {in_context(budget): [] for budget in BUDGETS}
    for budget in BUDGETS:
        kept = _filled(newest, sample, counts=counts, budget_tokens=budget)
        found[in_context(budget)] = [
            messages_in_context(kept, question.gold, texts=sample.texts)
            for question in sample.questions
        ]
    return found


def _counts(sample: Sample, tokenizer: Tokenizer) -> dict[str, int]:
    lines = list(sample.lines.values())
    return dict(zip(sample.lines, tokenizer.count(lines), strict=True))


def _filled(
    ranked: Sequence[str], sample: Sample, *, counts: Mapping[str, int], budget_tokens: int
) -> list[Line]:
    lines = [Line(text=sample.lines[each], sources=(each,)) for each in ranked]
    return within_budget(
        lines, counts=[counts[each] for each in ranked], budget_tokens=budget_tokens
    )
