"""A night with a gate: the worker that comes to it says so and waits, so that it is met at work.

What travels to Ray's workers is here alone; they get this module by value.
"""

import asyncio
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from actors.fakes import FakeEmbedder, FakeTokenizer, FixedClock
from actors.records import Records, open_records
from pipeline.chat import ChatPurpose, Spent
from pipeline.deciding import Ruling
from pipeline.entries import Case, Decision, Delete, Ignore, Update
from pipeline.ids import RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import SleepRun
from pipeline.settings import ConsolidationSettings, ForgettingSettings, ScratchpadSettings
from pipeline.sleep.decide import case_key
from serve.runner import consolidate_to_end
from serve.sleep_after import AfterParts
from serve.sleep_job import JobWorkers
from serve.sleep_stages import RunPlan, SleepParts

ACME = TenantId("acme")
NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
NIGHT = NOON + timedelta(days=3_000)
MODEL = FakeEmbedder().model
CALLS = 4
"""Targets that one decider has asked about at once."""

BEFORE = 6
"""Targets that a decider is asked about before its gate: some replies are kept by then."""

OPERATORS = {
    "read": "SleepCollections",
    "find": "find_neighbours",
    "queue": "queue_targets",
    "decide": "Decide",
    "record": "Write",
    "recorded": "Write",
    "tend": "Tend",
    "tended": "Tend",
}
"""Places where a worker can be met, each with the operator that is at work there.

``recorded`` and ``tended`` are right after a collection was committed.
"""

_WAIT_S = 300.0


@dataclass(frozen=True)
class Gate:
    """A place in the job where the first that comes waits until the gate opens."""

    folder: Path
    place: str

    @property
    def is_open(self) -> bool:
        """Whether nobody waits any more."""
        return (self.folder / "open").exists()

    def open(self) -> None:
        """Lets everybody through from now on."""
        (self.folder / "open").touch()

    def reach(self, place: str) -> None:
        """Waits where the gate is at this place."""
        if place != self.place or self.is_open:
            return
        at = self.folder / f"at-{os.getpid()}"
        at.touch()
        until = time.monotonic() + _WAIT_S
        while not self.is_open and time.monotonic() < until:
            time.sleep(0.02)

    def met(self) -> int:
        """The process that waits, when there is one: at work in the operator of the place."""
        until = time.monotonic() + _WAIT_S
        while time.monotonic() < until:
            for at in self.folder.glob("at-*"):
                pid = int(at.name.removeprefix("at-"))
                title = " ".join(psutil.Process(pid).cmdline()[:1])
                assert OPERATORS[self.place] in title, title
                return pid
            time.sleep(0.02)
        raise AssertionError(f"nobody came to {self.place} within {_WAIT_S} s")


class GatedRun:
    """A run that a stage without a store of its own reaches its gate by."""

    def __init__(self, run: SleepRun, gate: Gate) -> None:
        self._run = run
        self._gate = gate

    def __reduce__(self) -> tuple[Any, ...]:
        return GatedRun, (self._run, self._gate)

    def __getattr__(self, name: str) -> Any:
        title = psutil.Process().cmdline()[0]
        for place in ("find", "queue"):
            if OPERATORS[place] in title:
                self._gate.reach(place)
        return getattr(self._run, name)


class GatedStore:
    """A store some of whose calls reach a gate: before their work, after it, or both."""

    def __init__(self, inner: Any, gate: Gate, before: dict[str, str], after: dict[str, str]):
        self._inner = inner
        self._gate = gate
        self._before = before
        self._after = after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._before and name not in self._after:
            return found

        def gated(*args: Any, **more: Any) -> Any:
            self._gate.reach(self._before.get(name, ""))
            done = found(*args, **more)
            self._gate.reach(self._after.get(name, ""))
            return done

        return gated


class Scripted:
    """A word of the newest candidate decides. What it is asked stands in a file, a line each."""

    name = "scripted/1"

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._asked = 0

    async def ask(self, case: Case, *, tenant: TenantId) -> Ruling:
        """The decision, with the tokens of one call."""
        with (self._gate.folder / "asked").open("a") as file:
            file.write(case_key(case, self.name) + "\n")
        self._asked += 1
        if self._asked > BEFORE:
            await asyncio.to_thread(self._gate.reach, "decide")
        spent = Spent(purpose=ChatPurpose.DECIDE, model="m", calls=1, tokens_in=30, tokens_out=3)
        return Ruling(decision=_decision(case), calls=1, spent=(spent,))


def _decision(case: Case) -> Decision:
    newest = max((one.entry for one in case.candidates), key=lambda one: one.order)
    if "instead" in newest.text or "改" in newest.text:
        return Delete(superseded_by=newest.id, reason="replaced")
    if "also" in newest.text or "还" in newest.text:
        merged = f"{case.target.text} {newest.text}"
        return Update(text=merged, used=(newest.id,), reason="adds")
    return Ignore(reason="another matter")


def _open_store(url: str, gate: Gate) -> Any:
    store = open_records(url).sleep
    return GatedStore(store, gate, {"snapshot": "read", "record": "record"}, {"record": "recorded"})


def _open_tending(url: str, gate: Gate) -> Any:
    return GatedStore(open_records(url).tending, gate, {"tend": "tend"}, {"tend": "tended"})


def parts_of(url: str, gate: Gate) -> SleepParts:
    """What a run over the record store works with; its time stands still."""
    clock = partial(FixedClock, NIGHT)
    return SleepParts(
        open_store=partial(_open_store, url, gate),
        open_decider=partial(Scripted, gate),
        open_embedder=FakeEmbedder,
        open_clock=clock,
        model=MODEL,
        min_similarity=0.5,
        calls=CALLS,
        absorb=True,
        after=AfterParts(
            open_store=partial(_open_tending, url, gate),
            open_tokenizer=FakeTokenizer,
            open_clock=clock,
            scratchpad=ScratchpadSettings(threshold_tokens=60, target_tokens=30),
            forgetting=ForgettingSettings(),
        ),
    )


def job(url: str, run: SleepRun, gate: Gate) -> SleepRun:
    """The job of a run, to its end; its process stands in a file."""
    (gate.folder / "job").write_text(str(os.getpid()))
    gated: Any = GatedRun(run, gate)
    ended = consolidate_to_end(
        [RunPlan(run=gated)],
        parts=parts_of(url, gate),
        settings=ConsolidationSettings(neighbours=5, queue_length=5),
        workers=JobWorkers(targets=8),
    )
    return ended[run.tenant]


# The record store ---------------------------------------------------------------------------------


def opened(records: Records, *, night: int = 0) -> SleepRun:
    """A new run, its name the same in every record store."""
    now = NIGHT + timedelta(hours=night)
    run = SleepRun(
        id=RunId(f"night-{night}"),
        tenant=ACME,
        window_start=now,
        dry_run=False,
        status="running",
        started_at=now,
        seen_at=now,
    )
    return records.sleep.open_run(run)


def taken_over(records: Records) -> SleepRun:
    """The run whose job died, as a scheduler goes on with it."""
    (run,) = records.sleep.take_over(silent_since=NIGHT + timedelta(days=1), now=NIGHT)
    return run


def kept_replies(records: Records, keys: Iterable[str], scopes: Iterable[Scope]) -> set[str]:
    """Those of the prompts that a reply is kept for."""
    wanted = list(keys)
    found = (records.sleep.cached_decisions(wanted, scope=scope) for scope in scopes)
    return {key for some in found for key in some}


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    """The row without these columns."""
    return {name: value for name, value in row.items() if name not in names}


def closed_run(run: SleepRun) -> SleepRun:
    """The run as it would be if its job had not died, calls in flight apart."""
    totals = without(dict(run.totals), "model_calls", "tokens")
    return replace(run, attempt=1, tokens=0, totals=totals)
