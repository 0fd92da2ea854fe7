"""``eval decide``: what the decider of the settings makes of labelled cases.

A file holds one JSON object a line: ``id``, ``language``, ``target`` and ``candidates`` with
``text`` and ``said_at``, the right ``action``, and ``must_keep``, phrases that an update may not
lose. Nothing is stored.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from pipeline.deciding import Ruling
from pipeline.entries import Candidate, Case, Entry, Kind, OrderKey, Status, Update, Writer
from pipeline.errors import InputError, SlowwaveError
from pipeline.evaluate.decisions import (
    Judged,
    action,
    claims,
    document,
    judge,
    report,
    unbarred,
)
from pipeline.evaluate.report import Report
from pipeline.ids import EntryId
from pipeline.messages import Json, TenantId
from pipeline.ports import AskingDecider, ChatModel, Decider
from serve.evaluation.machine import machine
from serve.loading import load_decider
from serve.settings import AppSettings
from serve.version import VERSION

TENANT = TenantId("evaluation")
Say = Callable[[str], None]
Text = Annotated[str, Field(min_length=1, pattern=r"\S")]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Said(_Row):
    """A statement and when it was said; kind and speaker where the file tells them."""

    text: Text
    said_at: AwareDatetime
    kind: Kind = Kind.FACT
    speaker: Text = "user"


class Labelled(_Row):
    """One case and its right action."""

    id: Text
    language: Text
    target: Said
    candidates: Annotated[list[Said], Field(min_length=1)]
    action: Literal["update", "delete", "ignore"]
    must_keep: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    labelled: Labelled
    ruling: Ruling


def load(path: Path) -> list[Labelled]:
    """The cases of a file.

    Raises:
        InputError: it cannot be read, or a line is no such case; the message names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}", field="file") from error
    cases = [_line(text, number) for number, text in enumerate(lines, 1) if text.strip()]
    if not cases:
        raise InputError(f"expected cases in {path}, found none", field="file")
    return cases


def _line(text: str, number: int) -> Labelled:
    try:
        return Labelled.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in (f"line {number}", *first["loc"]))
        raise InputError(f"{where}: {first['msg']}", field=where) from error


def run(path: Path, *, settings: AppSettings, chat: ChatModel | None, say: Say) -> Report:
    """The decisions of the settings' decider on the cases of a file.

    Only the baseline is held against bars; a chat model's figures are told as they are.

    Args:
        chat: what the decider ``chat`` asks.

    Raises:
        InputError: the file cannot be read.
        ConfigError: the decider cannot be had.
    """
    cases = load(path)
    decider = load_decider(settings.models.decider, settings=settings.decisions, chat=chat)
    say(f"{len(cases)} cases to {decider.name}")
    began = time.monotonic()
    outcomes = decide(cases, decider, calls=settings.decisions.calls)
    figures = report([_judged(one) for one in outcomes])
    claimed = claims(figures)
    return Report(
        name="decide",
        version=VERSION,
        config={"file": path.name, "decider": decider.name},
        machine=machine(),
        claims=unbarred(claimed) if isinstance(decider, AskingDecider) else claimed,
        extra={
            **document(figures),
            **_taken([one.ruling for one in outcomes]),
            "seconds": round(time.monotonic() - began, 3),
            "cases": [_told(one) for one in outcomes],
        },
    )


def decide(
    cases: Sequence[Labelled], decider: Decider | AskingDecider, *, calls: int
) -> list[_Outcome]:
    """What became of each case, at most ``calls`` of them with a model at once."""
    asked = [case_of(each) for each in cases]
    if isinstance(decider, AskingDecider):
        rulings = asyncio.run(_ask(decider, asked, calls=calls))
    else:
        rulings = [Ruling(decision=decision, calls=1) for decision in decider.decide(asked)]
    pairs = zip(cases, rulings, strict=True)
    return [_Outcome(labelled=labelled, ruling=ruling) for labelled, ruling in pairs]


async def _ask(decider: AskingDecider, cases: Sequence[Case], *, calls: int) -> list[Ruling]:
    slots = asyncio.Semaphore(calls)

    async def one(case: Case) -> Ruling:
        async with slots:
            try:
                return await decider.ask(case, tenant=TENANT)
            except SlowwaveError as error:
                return Ruling(failure=f"{type(error).__name__}: {error.message}")

    return list(await asyncio.gather(*map(one, cases)))


def case_of(labelled: Labelled) -> Case:
    """The case as a sleep run would have it; said at one instant, the order is that of the file."""
    return Case(
        target=_entry(labelled, labelled.target, place=0),
        candidates=tuple(
            Candidate(entry=_entry(labelled, said, place=place), similarity=1.0)
            for place, said in enumerate(labelled.candidates, 1)
        ),
    )


def _entry(labelled: Labelled, said: Said, *, place: int) -> Entry:
    at: datetime = said.said_at
    return Entry(
        id=EntryId(f"{labelled.id}/{place}"),
        version=1,
        text=said.text,
        kind=said.kind,
        status=Status.ACTIVE,
        speaker=said.speaker,
        said_at=at,
        zone="UTC",
        language=labelled.language,
        order=OrderKey(said_at=at, sequence=place, ordinal=0),
        valid_from=at,
        sources=(),
        written_by=Writer.INGEST,
        written_at=at,
    )


def _judged(one: _Outcome) -> Judged:
    labelled = one.labelled
    return judge(
        one.ruling.decision,
        language=labelled.language,
        expected=labelled.action,
        must_keep=labelled.must_keep,
    )


def _taken(rulings: Sequence[Ruling]) -> dict[str, Json]:
    """What it took: calls, repairs and tokens of all cases."""
    spent = [each for ruling in rulings for each in ruling.spent]
    refused = Counter[str]()
    for ruling in rulings:
        refused.update(ruling.refused)
    return {
        "model_calls": sum(ruling.calls for ruling in rulings),
        "repairs": sum(each.repairs for each in spent),
        "tokens_in": sum(each.tokens_in for each in spent),
        "tokens_out": sum(each.tokens_out for each in spent),
        "refused": dict(refused),
    }


def _told(one: _Outcome) -> dict[str, Json]:
    """One case as the document shows it."""
    decision = one.ruling.decision
    return {
        "id": one.labelled.id,
        "expected": one.labelled.action,
        "got": action(decision),
        "is_right": _judged(one).is_right,
        "text": decision.text if isinstance(decision, Update) else None,
        "reason": one.ruling.failure if decision is None else decision.reason,
    }
