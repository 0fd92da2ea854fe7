"""The decide stage with a chat model that takes 300 ms, as workers are added."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from actors.fakes import FakeEmbedder
from benchmarks.sleeping.job import SETTINGS, open_store
from benchmarks.sleeping.place import MODEL, cluster, groups, place
from pipeline.chat import ChatPurpose, Spent
from pipeline.deciding import Ruling
from pipeline.entries import Case, Ignore
from pipeline.evaluate.report import Claim, at_least
from pipeline.messages import TenantId
from serve.sleep_job import JobWorkers, SleepParts, consolidate

LATENCY_S = 0.3
IN_FLIGHT = 4
DIM = 64


class SlowChat:
    """Decides like a chat model that is asked over the wire; notes when it was asked.

    ``folder`` gets a file per call: when it began and when it ended.
    """

    name = "slow-chat"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def ask(self, case: Case, *, tenant: TenantId) -> Ruling:
        """Ignore, for every case."""
        begin = time.time()
        await asyncio.sleep(LATENCY_S)
        with (self._folder / f"{id(self)}-{case.target.id}").open("w") as file:
            file.write(f"{begin} {time.time()}")
        spent = Spent(
            purpose=ChatPurpose.DECIDE, model=self.name, calls=1, tokens_in=1, tokens_out=1
        )
        return Ruling(decision=Ignore(reason="benchmark"), calls=1, spent=(spent,))


def scaling(workers: Sequence[int], *, each: int) -> list[Claim]:
    """Calls a second and worker, with as many targets per worker, against those of one worker."""
    with cluster():
        _calls_per_s(1, 4 * IN_FLIGHT, IN_FLIGHT)  # what the first job loads is not asked here
        rates = {count: _calls_per_s(count, each * count, IN_FLIGHT) for count in workers}
        alone = _calls_per_s(1, 16 * 64, 64)
    first = rates[workers[0]] / workers[0]
    found = []
    for count, rate in rates.items():
        name = f"decide, {count} workers, {IN_FLIGHT} in flight each"
        found.append(Claim(claim=name, value=rate, unit="calls/s"))
        if count != workers[0]:
            part = rate / count / first
            found.append(at_least(f"{name}: of linear", part, 0.9, unit="ratio"))
    ideal = IN_FLIGHT / LATENCY_S
    found.append(
        Claim(claim="decide, one worker: of what its latency allows", value=first / ideal, unit="")
    )
    found.append(Claim(claim="decide, one worker with 64 in flight", value=alone, unit="calls/s"))
    full = alone * LATENCY_S / 64
    found.append(
        Claim(claim="decide, 64 in flight: of what the latency allows", value=full, unit="")
    )
    return found


def _calls_per_s(workers: int, targets: int, in_flight: int) -> float:
    """Calls a second from the first one's begin to the last one's end."""
    with place() as here, tempfile.TemporaryDirectory(prefix="slowwave-bench-") as folder:
        # In a pair the older entry is a target.
        for low in range(0, targets, DIM):
            here.fill(f"c{low}", groups([2] * min(DIM, targets - low), dim=DIM))
        parts = SleepParts(
            open_store=partial(open_store, here.url),
            open_decider=partial(SlowChat, Path(folder)),
            open_embedder=FakeEmbedder,
            model=MODEL,
            min_similarity=0.9,
            calls=in_flight,
        )
        sized = JobWorkers(deciders=workers, targets=4 * in_flight)
        consolidate(here.open(), parts=parts, settings=SETTINGS, workers=sized)
        times = [one.read_text().split() for one in Path(folder).iterdir()]
    begin, end = min(float(one[0]) for one in times), max(float(one[1]) for one in times)
    return len(times) / (end - begin)
