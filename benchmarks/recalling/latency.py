"""What a search costs beside its floor, over HTTP, with more entries, and beside a bulk load."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from benchmarks.ingesting.load import BATCH, at, made_up
from benchmarks.recalling.asking import Times, all_ways, over_http
from benchmarks.recalling.place import Spot, filled
from pipeline.errors import LimitError
from pipeline.evaluate.report import Claim, at_most
from serve.client import Client
from serve.local.head import ray_variables
from serve.local.home import home_at

T = TypeVar("T")

LOADERS = 2
_PATIENCE_S = 2.0
_LATER = 1_000_000
"""Above the numbers of all questions that were asked before."""


def searching(entries: int, *, rounds: int, loaded_rounds: int) -> tuple[list[Claim], float]:
    """Claims on a service of so many entries, and the p50 through handles in seconds."""
    with filled(entries) as (_, spot):
        times = _apart(all_ways, spot, rounds)
        idle = _apart(over_http, spot, loaded_rounds, _LATER)
        with _loaded(spot) as sent:
            beside = _apart(over_http, spot, loaded_rounds, 2 * _LATER)
    p95 = at(beside, 0.95) / at(idle, 0.95)
    claims = _claims(f"{entries:,} entries", times)
    claims += [
        at_most("p95 beside a bulk load against idle", p95, 3.0, unit="ratio"),
        Claim(claim="p95 over HTTP, idle", value=at(idle, 0.95) * 1_000, unit="ms"),
        Claim(claim="p95 over HTTP, loaded", value=at(beside, 0.95) * 1_000, unit="ms"),
        Claim(claim="messages of the load meanwhile", value=len(sent) * BATCH, unit="messages"),
    ]
    return claims, at(times.handles, 0.5)


def median(entries: int, *, rounds: int) -> float:
    """The p50 of a search through handles among so many entries, in seconds."""
    with filled(entries) as (_, spot):
        return at(_apart(all_ways, spot, rounds).handles, 0.5)


def growing(few: int, many: int, *, p50_few: float, p50_many: float) -> list[Claim]:
    """What many entries cost against few."""
    name = f"p50 through handles, {many:,} entries against {few:,}"
    return [at_most(name, p50_many / p50_few, 1.3, unit="ratio")]


def _claims(name: str, times: Times) -> list[Claim]:
    found = []
    for share, label, most in ((0.5, "p50", 1.5), (0.99, "p99", 3.0)):
        bare, handles = at(times.bare, share), at(times.handles, share)
        claim = f"{name}: {label} through handles against embedding and Qdrant query"
        found += [
            at_most(claim, handles / bare, most, unit="ratio"),
            Claim(claim=f"{name}: {label} bare", value=bare * 1_000, unit="ms"),
            Claim(claim=f"{name}: {label} through handles", value=handles * 1_000, unit="ms"),
        ]
    added = (at(times.http, 0.5) - at(times.handles, 0.5)) * 1_000
    return [*found, at_most(f"{name}: p50 that HTTP adds", added, 5.0, unit="ms")]


def _apart(measure: Callable[..., T], spot: Spot, *args: int) -> T:
    """What is measured in a process of its own: a process joins one cluster only."""
    os.environ |= ray_variables(home_at(Path(spot.home)))  # read where Ray is imported
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, spot, *args).result()


@contextmanager
def _loaded(spot: Spot) -> Iterator[list[int]]:
    """Meanwhile another tenant sends as fast as it is let; the list has one item per request."""
    sent: list[int] = []
    ended = threading.Event()

    def send(lane: int) -> None:
        number = 0
        with Client(spot.url, spot.other_key, attempts=1) as client:
            while not ended.is_set():
                said = made_up(f"load-{lane}-{number}", BATCH)
                try:
                    client.ingest(f"bulk-{lane}-{number % 20}", said)
                except LimitError as full:
                    ended.wait(min(_PATIENCE_S, full.retry_after_s))
                    continue
                sent.append(number)
                number += 1

    threads = [threading.Thread(target=send, args=(lane,)) for lane in range(LOADERS)]
    for thread in threads:
        thread.start()
    try:
        yield sent
    finally:
        ended.set()
        for thread in threads:
            thread.join()
