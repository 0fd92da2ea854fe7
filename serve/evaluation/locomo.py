"""``eval locomo``: evidence recall of a running service beside its floor, with no language model.

Source: LoCoMo (arXiv 2402.17753). One collection per conversation; every question of categories 1
to 4 is searched, and a context is built for it at three budgets. The floor is BM25 and the same
embedder over the raw messages, fused by rank, in the same run.
"""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from pipeline.errors import InputError
from pipeline.evaluate.evidence import (
    Line,
    Question,
    existing,
    mean_recall,
    messages_in_context,
    ranked_messages,
    within_budget,
)
from pipeline.evaluate.floor import Bm25, floor_ranking, words
from pipeline.evaluate.locomo import CATEGORIES, questions
from pipeline.evaluate.report import Claim, Report, at_least
from pipeline.messages import Json
from pipeline.ports import Embedder, Tokenizer
from pipeline.text.dates import parse_time
from serve.client import Client
from serve.evaluation.machine import machine
from serve.formats import ConversationIn, read
from serve.replies import Context, Hit
from serve.version import VERSION

KS = (5, 10, 20)
BUDGETS = (500, 1_000, 2_000)
QUICK_CONVERSATIONS = 1
HITS = 100
_REQUEST_MESSAGES = 200

Body = Mapping[str, JsonValue]
Say = Callable[[str], None]
Found = dict[str, list[Collection[str]]]
"""Per measure what each question found, in the order of the questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One conversation: its sessions and questions, and its messages by id.

    ``texts`` are as they were said, ``said`` with the speaker (what the floor searches),
    ``lines`` with the day too (what the floor shows).
    """

    name: str
    sessions: tuple[ConversationIn, ...]
    texts: Mapping[str, str]
    said: Mapping[str, str]
    lines: Mapping[str, str]
    questions: tuple[Question, ...]


def load(path: Path, *, quick: bool) -> list[Sample]:
    """The conversations of a LoCoMo file with the questions whose evidence exists.

    ``quick`` takes the first conversation with all of its questions.

    Raises:
        InputError: the file is not of the published form.
    """
    sessions = read(path, "locomo")
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = document if isinstance(document, list) else [document]
    names = list(dict.fromkeys(session.collection for session in sessions))
    if len(names) != len(rows):
        raise InputError(f"expected {len(rows)} conversations, got {len(names)}", field=str(path))
    samples = [
        _sample(str(name), [s for s in sessions if s.collection == name], row)
        for name, row in zip(names, rows, strict=True)
    ]
    return samples[:QUICK_CONVERSATIONS] if quick else samples


def _sample(name: str, sessions: Sequence[ConversationIn], row: Mapping[str, Json]) -> Sample:
    messages = [message for session in sessions for message in session.messages]
    texts = {str(each["message_id"]): str(each["content"]) for each in messages}
    said = {str(each["message_id"]): f"{each['speaker']}: {each['content']}" for each in messages}
    lines = {
        str(each["message_id"]): f"{_day(each)} {said[str(each['message_id'])]}"
        for each in messages
    }
    return Sample(
        name=name,
        sessions=tuple(sessions),
        texts=texts,
        said=said,
        lines=lines,
        questions=tuple(existing(questions(row), texts)),
    )


def _day(message: Mapping[str, Json]) -> str:
    said_at, _ = parse_time(cast(str, message["said_at"]), zone=None)
    return said_at.date().isoformat()


def build(client: Client, sample: Sample, *, collection: str) -> None:
    """Ingests the conversation and returns when all of it is searchable."""
    for session in sample.sessions:
        for start in range(0, len(session.messages), _REQUEST_MESSAGES):
            part = session.messages[start : start + _REQUEST_MESSAGES]
            client.ingest(
                collection,
                cast(Sequence[Body], part),
                conversation=session.conversation,
                zone=session.zone,
            )
    if not client.flush(collection, wait=True)["searchable"]:
        raise InputError(f"{sample.name} was not extracted in time", field="collection")


# What the service finds -------------------------------------------------------------------------


def ask(client: Client, sample: Sample, *, collection: str) -> Found:
    """What search and context of the service find for every question."""
    found: Found = {name: [] for name in measures()}
    for question in sample.questions:
        hits = client.search(collection, question.text, limit=HITS)
        for k in KS:
            found[f"@{k}"].append(ranked_messages([_sources(hit) for hit in hits], k=k))
        for budget in BUDGETS:
            context = client.context(
                collection, question.text, budget_tokens=budget, working_memory_tokens=0
            )
            shown = messages_in_context(_lines(context), question.gold, texts=sample.texts)
            found[f"{budget} tokens"].append(shown)
    return found


def _sources(hit: Hit) -> list[str]:
    return [str(source["message_id"]) for source in hit["entry"]["sources"]]


def _lines(context: Context) -> list[Line]:
    return [
        Line(
            text=line["text"],
            sources=tuple(str(source["message_id"]) for source in line["sources"]),
        )
        for part in context["parts"].values()
        for line in part
    ]


def measures() -> list[str]:
    """The names of all measures, in the order of the report."""
    return [*(f"@{k}" for k in KS), *(f"{budget} tokens" for budget in BUDGETS)]


# What a plain search finds ----------------------------------------------------------------------


def floor(sample: Sample, *, embedder: Embedder, tokenizer: Tokenizer) -> Found:
    """What BM25 and the embedder over raw messages find for every question."""
    ids = list(sample.texts)
    bm25 = Bm25([words(sample.said[message]) for message in ids])
    vectors = embedder.embed([sample.said[message] for message in ids], purpose="passage")
    asked = embedder.embed([question.text for question in sample.questions], purpose="query")
    counts = dict(zip(ids, tokenizer.count([sample.lines[each] for each in ids]), strict=True))
    found: Found = {name: [] for name in measures()}
    for question, vector in zip(sample.questions, asked, strict=True):
        order = floor_ranking(bm25, vectors, query=question.text, query_vector=vector)
        ranked = [ids[row] for row in order]
        for k in KS:
            found[f"@{k}"].append(ranked[:k])
        lines = [Line(text=sample.lines[each], sources=(each,)) for each in ranked]
        for budget in BUDGETS:
            kept = within_budget(
                lines, counts=[counts[each] for each in ranked], budget_tokens=budget
            )
            found[f"{budget} tokens"].append(
                messages_in_context(kept, question.gold, texts=sample.texts)
            )
    return found


# The report -------------------------------------------------------------------------------------


def run(
    client: Client,
    path: Path,
    *,
    embedder: Embedder,
    tokenizer: Tokenizer,
    quick: bool,
    say: Say,
) -> Report:
    """The evaluation of one file on one service; collections are named after this run."""
    samples = load(path, quick=quick)
    stamp = time.strftime("%Y%m%d%H%M%S")
    found, base = _empty(), _empty()
    seconds = {"build": 0.0, "ask": 0.0, "floor": 0.0}
    for sample in samples:
        collection = f"eval-locomo-{stamp}-{sample.name}"
        say(f"{sample.name}: {len(sample.texts)} messages, {len(sample.questions)} questions")
        began = time.monotonic()
        build(client, sample, collection=collection)
        built = time.monotonic()
        _extend(found, ask(client, sample, collection=collection))
        asked_at = time.monotonic()
        _extend(base, floor(sample, embedder=embedder, tokenizer=tokenizer))
        seconds["build"] += built - began
        seconds["ask"] += asked_at - built
        seconds["floor"] += time.monotonic() - asked_at
    asked = [question for sample in samples for question in sample.questions]
    return Report(
        name="locomo",
        version=VERSION,
        config={
            "file": path.name,
            "quick": quick,
            "conversations": [sample.name for sample in samples],
            "questions": len(asked),
            "embedder": embedder.model,
            "hits": HITS,
            "working_memory_tokens": 0,
        },
        machine=machine(),
        claims=tuple(_claims(found, base, asked)),
        extra={
            "categories": _categories(found, base, asked),
            "seconds": {name: round(value, 1) for name, value in seconds.items()},
        },
    )


def _empty() -> Found:
    return {name: [] for name in measures()}


def _extend(total: Found, part: Found) -> None:
    for name in total:
        total[name] += part[name]


def _claims(found: Found, base: Found, asked: Sequence[Question]) -> list[Claim]:
    return [
        at_least(
            f"evidence recall {name} is at least the floor's",
            mean_recall(found[name], asked),
            mean_recall(base[name], asked),
            unit="recall",
        )
        for name in measures()
    ]


def _categories(found: Found, base: Found, asked: Sequence[Question]) -> dict[str, Json]:
    rows: dict[str, Json] = {}
    for category in CATEGORIES:
        places = [i for i, question in enumerate(asked) if question.category == category]
        of = [asked[i] for i in places]
        rows[category] = {
            "questions": len(of),
            **{
                name: {
                    "search": round(mean_recall([found[name][i] for i in places], of), 4),
                    "floor": round(mean_recall([base[name][i] for i in places], of), 4),
                }
                for name in measures()
            },
        }
    return rows
