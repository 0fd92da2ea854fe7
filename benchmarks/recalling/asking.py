"""Seconds of one search after the other: bare, through Python handles, and over HTTP.

Runs in a process of its own, which joins the service's cluster.
"""

import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import ray
from ray import serve as ray_serve

from actors.clock import SystemClock
from actors.fakes import FakeTokenizer
from actors.records import open_records
from benchmarks.recalling.bare import Bare
from benchmarks.recalling.place import EACH, EMBEDDER, Spot, asked
from benchmarks.sleeping.neighbours import DIM
from benchmarks.sleeping.place import TENANT
from pipeline.messages import Scope
from pipeline.settings import RecallSettings
from serve.app import APP
from serve.client import Client
from serve.gate import Access
from serve.handles import ServeModels
from serve.index_actor import NAMESPACE, ActorIndex
from serve.service import Memory

LIMIT = 10
_BLOCK = 25
"""Searches of one way in a row; the first block of each is not counted."""

_PAUSE_S = 0.5
"""Between two ways: the threads of a model look for work that long before they rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds of each search, by way."""

    bare: list[float] = field(default_factory=list)
    handles: list[float] = field(default_factory=list)
    http: list[float] = field(default_factory=list)


def all_ways(spot: Spot, rounds: int) -> Times:
    """The three ways in turns of a few questions, the same for each; no question comes twice."""
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    try:
        bare = Bare(folder, entries=spot.collections * EACH, limit=LIMIT)
        with Client(spot.url, spot.key) as client:
            return asyncio.run(_all_ways(spot, rounds, bare, client))
    finally:
        shutil.rmtree(folder)


async def _all_ways(spot: Spot, rounds: int, bare: Bare, client: Client) -> Times:
    memory, times, draw = joined(spot), Times(), random.Random(rounds)

    async def barely(name: str, question: str) -> int:
        return bare.search(name, question)

    async def by_handles(name: str, question: str) -> int:
        scope = Scope(tenant=TENANT, collection=name)
        return len(await memory.search(scope, question, limit=LIMIT))

    async def by_http(name: str, question: str) -> int:
        return len(client.search(name, question, limit=LIMIT))

    ways = ((barely, times.bare), (by_handles, times.handles), (by_http, times.http))
    for first in range(-_BLOCK, rounds, _BLOCK):
        block = [(draw.choice(spot.names), asked(first + place)) for place in range(_BLOCK)]
        for search, kept in ways:
            await asyncio.sleep(_PAUSE_S)
            took = [await _took(search, name, question) for name, question in block]
            kept += took if first >= 0 else []
    return times


async def _took(search: Callable[[str, str], Awaitable[int]], name: str, question: str) -> float:
    began = time.perf_counter()
    found = await search(name, question)
    took = time.perf_counter() - began
    if found != LIMIT:
        raise RuntimeError(f"expected {LIMIT} hits in {name}, got {found}")
    return took


def over_http(spot: Spot, rounds: int, first: int) -> list[float]:
    """Over HTTP alone; ``first`` numbers the first question, so that none is asked again."""
    draw = random.Random(first)
    with Client(spot.url, spot.key) as client:

        def once(number: int) -> None:
            client.search(draw.choice(spot.names), asked(first + number), limit=LIMIT)

        return _timed(once, rounds)


def _timed(once: Callable[[int], None], rounds: int) -> list[float]:
    times = []
    for number in range(rounds):
        began = time.perf_counter()
        once(number)
        times.append(time.perf_counter() - began)
    return times


def joined(spot: Spot) -> Memory:
    """A memory over the handles of the running service."""
    ray.init(address=spot.address, namespace=NAMESPACE, log_to_driver=False)
    embedder = ray_serve.get_deployment_handle("Embedder", app_name=APP)
    return Memory(
        records=open_records(spot.records_url),
        index=ActorIndex(folder=Path(spot.home, "index"), dim=DIM, records_url=spot.records_url),
        models=ServeModels(embedder=embedder, is_urgent=True),
        model=EMBEDDER,
        tokenizer=FakeTokenizer(),
        clock=SystemClock(),
        access=Access(keys_required=True, default_tenant=TENANT),
        recall=RecallSettings(),
    )
