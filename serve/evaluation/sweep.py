"""``eval sweep``: what each compression rate with each buffer threshold finds and costs.

Source: LightMem (arXiv 2510.18866), section 4, whose figures sweep the rate r and the threshold th
of the short-term buffer over six axes. Here evidence recall takes the place of a judge's accuracy,
so no language model is needed: found are the messages that hold a question's answer. Every cell is
a collection with settings of its own, in a memory in this process.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from pipeline.awake.normalise import RawMessage
from pipeline.errors import InputError
from pipeline.evaluate.evidence import mean_recall, ranked_messages
from pipeline.evaluate.report import Claim, Report, at_most
from pipeline.ids import MessageId
from pipeline.messages import Json, Scope
from pipeline.settings import CollectionSettings
from serve.evaluation.asking import KS
from serve.evaluation.machine import machine
from serve.evaluation.samples import Sample, Say
from serve.evaluation.sweep_place import TENANT, Models, Place, place
from serve.searching import Hit
from serve.version import VERSION
from serve.walk import WalkSettings

RATES = (0.4, 0.6, 0.8)
THRESHOLDS = (256, 512, 768, 1_024)
HEADLINE = 10
_REQUEST_MESSAGES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One rate with one threshold, over all conversations.

    ``recall`` gives evidence recall in 0..1 by the number of messages found; tokens are those
    given to the extractor and said by it; ``seconds`` is from the first message to the last one
    searchable, with the work that another cell did before counted in.
    """

    rate: float
    threshold: int
    recall: Mapping[str, float]
    input_tokens: int
    output_tokens: int
    calls: int
    seconds: float
    entries: int
    missed: int

    @property
    def total_tokens(self) -> int:
        """Both kinds together."""
        return self.input_tokens + self.output_tokens


def run(
    samples: Sequence[Sample],
    models: Models,
    settings: WalkSettings,
    *,
    rates: Sequence[float] = RATES,
    thresholds: Sequence[int] = THRESHOLDS,
    say: Say,
) -> list[Cell]:
    """The cells, rate by rate; ``settings`` are those of the service that a cell starts from.

    Raises:
        InputError: no conversation, rate or threshold is given.
    """
    for name, given in (("file", samples), ("rates", rates), ("thresholds", thresholds)):
        if not given:
            raise InputError(f"{name}: expected at least one, got none", field=name)
    with (
        tempfile.TemporaryDirectory(prefix="slowwave-sweep-") as folder,
        place(Path(folder), models, settings) as here,
    ):
        return asyncio.run(_cells(here, samples, rates=rates, thresholds=thresholds, say=say))


async def _cells(
    here: Place,
    samples: Sequence[Sample],
    *,
    rates: Sequence[float],
    thresholds: Sequence[int],
    say: Say,
) -> list[Cell]:
    cells = []
    for rate in rates:
        for threshold in thresholds:
            own = CollectionSettings(compression=True, rate=rate, short_term_tokens=threshold)
            cells.append(await _cell(here, samples, own))
            say(f"rate {rate:g}, threshold {threshold}: {cells[-1].seconds:.0f} s")
    return cells


async def _cell(here: Place, samples: Sequence[Sample], own: CollectionSettings) -> Cell:
    meter, seconds, entries = here.meter, 0.0, 0
    before = (meter.input_tokens, meter.output_tokens, meter.calls, meter.messages)
    found: dict[int, list[list[str]]] = {k: [] for k in KS}
    for sample in samples:
        scope = Scope(tenant=TENANT, collection=f"{sample.name}-{own.rate}-{own.short_term_tokens}")
        await here.memory.settings.put(scope, own)
        seconds += await _build(here, scope, sample)
        entries += here.records.messages.collection(scope).entries
        for k, rows in (await _ask(here, scope, sample)).items():
            found[k] += rows
    questions = [question for sample in samples for question in sample.questions]
    after = (meter.input_tokens, meter.output_tokens, meter.calls, meter.messages)
    read, told, calls, messages = (new - old for new, old in zip(after, before, strict=True))
    return Cell(
        rate=own.rate or 1.0,
        threshold=own.short_term_tokens or 0,
        recall={f"@{k}": mean_recall(rows, questions) for k, rows in found.items()},
        input_tokens=read,
        output_tokens=told,
        calls=calls,
        seconds=seconds,
        entries=entries,
        missed=sum(len(sample.texts) for sample in samples) - messages,
    )


async def _build(here: Place, scope: Scope, sample: Sample) -> float:
    """Seconds until the whole conversation is searchable."""
    began, lent = time.monotonic(), here.known.lent_s
    for session in sample.sessions:
        for start in range(0, len(session.messages), _REQUEST_MESSAGES):
            part = session.messages[start : start + _REQUEST_MESSAGES]
            await here.memory.accept(
                scope,
                [_raw(place, each) for place, each in enumerate(part)],
                conversation=session.conversation,
                zone=session.zone,
                key=None,
                body_digest="",
            )
    await here.memory.flush(scope)
    while here.records.messages.collection(scope).pending:
        await here.worker.round()
    return time.monotonic() - began + here.known.lent_s - lent


def _raw(place: int, body: Mapping[str, Json]) -> RawMessage:
    return RawMessage(
        index=place,
        role=str(body["role"]),
        content=str(body["content"]),
        speaker=cast(str | None, body.get("speaker")),
        said_at=cast(str | None, body.get("said_at")),
        zone=cast(str | None, body.get("zone")),
        message_id=cast(str | None, body.get("message_id")),
    )


async def _ask(here: Place, scope: Scope, sample: Sample) -> dict[int, list[list[str]]]:
    """Per number of messages what each question finds."""
    found: dict[int, list[list[str]]] = {k: [] for k in KS}
    for question in sample.questions:
        hits = await here.memory.search(scope, question.text, limit=max(KS))
        names = await _names(here, scope, hits)
        ranked = [[names[source] for source in hit.entry.sources] for hit in hits]
        for k, rows in found.items():
            rows.append(ranked_messages(ranked, k=k))
    return found


async def _names(here: Place, scope: Scope, hits: Iterable[Hit]) -> dict[MessageId, str]:
    """The file's ids of the messages behind hits."""
    sources = await here.memory.sources(scope, [hit.entry for hit in hits])
    return {name: str(message.external_id) for name, message in sources.items()}


def report(cells: Sequence[Cell], samples: Sequence[Sample], models: Models, file: Path) -> Report:
    """The cells as a report; what it claims is that no message was outside every batch."""
    rows: list[Json] = [{**asdict(cell), "total_tokens": cell.total_tokens} for cell in cells]
    return Report(
        name="sweep",
        version=VERSION,
        config={
            "file": file.name,
            "conversations": [sample.name for sample in samples],
            "questions": sum(len(sample.questions) for sample in samples),
            "messages": sum(len(sample.texts) for sample in samples),
            "embedder": models.embedder.model,
            "extractor": models.extractor.name,
        },
        machine=machine(),
        claims=(
            at_most(
                "messages outside every batch",
                max(abs(cell.missed) for cell in cells),
                0,
                unit="messages",
            ),
            *_best(cells),
        ),
        extra={"cells": rows},
    )


def _best(cells: Sequence[Cell]) -> list[Claim]:
    """The most found and the least spent, each with the cell that did."""
    name = f"@{HEADLINE}"
    most = max(cells, key=lambda cell: cell.recall[name])
    least = min(cells, key=lambda cell: cell.total_tokens)
    return [
        Claim(claim=f"most recall {name}, {_at(most)}", value=most.recall[name], unit="recall"),
        Claim(claim=f"fewest tokens, {_at(least)}", value=least.total_tokens, unit="tokens"),
    ]


def _at(cell: Cell) -> str:
    return f"at rate {cell.rate:g} and threshold {cell.threshold}"
