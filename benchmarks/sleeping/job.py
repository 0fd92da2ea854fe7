"""The whole job on Ray: what it costs beside its start, and again where little is new."""

import time
from collections.abc import Sequence
from functools import partial

from actors.fakes import FakeEmbedder
from actors.records import open_records
from benchmarks.sleeping.neighbours import MIN_SIMILARITY, clustered
from benchmarks.sleeping.place import MODEL, Place, cluster, place
from pipeline.entries import Case, Decision, Ignore
from pipeline.evaluate.report import Claim, at_most
from pipeline.ports import SleepStore
from pipeline.settings import ConsolidationSettings
from serve.sleep_job import JobWorkers, SleepParts, consolidate

SETTINGS = ConsolidationSettings(neighbours=20, queue_length=10)


class Shrugging:
    """A decider that changes nothing, at once."""

    name = "shrugging"

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """Ignore, for every case."""
        return [Ignore(reason="benchmark") for _ in cases]


def open_store(url: str) -> SleepStore:
    """The store where a worker runs."""
    return open_records(url).sleep


def again(size: int) -> list[Claim]:
    """A store of so many entries: all of it, once more, and with 1 % added."""
    share = size // 100
    vectors = clustered(size + share)
    with cluster(), place() as tiny, place() as here:
        tiny.fill("one", vectors[:2])
        start_s, _ = _night(tiny)
        here.fill("all", vectors[:size])
        whole_s, whole = _night(here)
        rest_s, rest = _night(here)
        here.fill("all", vectors[size:])
        added_s, added = _night(here)
    name = f"{size:,} stored entries"
    calls = added["model_calls"] - added["targets"]
    return [
        Claim(claim="the job's start", value=start_s, unit="s"),
        Claim(claim=f"{name}: first run, start apart", value=whole_s - start_s, unit="s"),
        Claim(claim=f"{name}: targets decided", value=whole["targets"], unit="calls"),
        at_most(f"{name}, unchanged: calls", rest["model_calls"], 0, unit="calls"),
        at_most(f"{name}, unchanged: time", rest_s, size / 10_000, unit="s"),
        Claim(claim=f"{name}, 1 % added: run, start apart", value=added_s - start_s, unit="s"),
        Claim(claim=f"{name}, 1 % added: targets decided", value=added["targets"], unit="calls"),
        at_most(f"{name}, 1 % added: calls beside affected targets", calls, 0, unit="calls"),
    ]


def _night(here: Place) -> tuple[float, dict[str, int]]:
    parts = SleepParts(
        open_store=partial(open_store, here.url),
        open_decider=Shrugging,
        open_embedder=FakeEmbedder,
        model=MODEL,
        min_similarity=MIN_SIMILARITY,
    )
    run = here.open()
    begin = time.perf_counter()
    totals = consolidate(run, parts=parts, settings=SETTINGS, workers=JobWorkers())
    return time.perf_counter() - begin, totals
