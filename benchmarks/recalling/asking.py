"""Seconds of one search after the other: bare, through Python handles, and over HTTP.

Runs in a process of its own, which joins the service's cluster.
"""

import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Callable
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
_WARM = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds of each search, by way."""

    bare: list[float] = field(default_factory=list)
    handles: list[float] = field(default_factory=list)
    http: list[float] = field(default_factory=list)


def all_ways(spot: Spot, rounds: int) -> Times:
    """The three ways in turns, each round with a question of its own."""
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    try:
        bare = Bare(folder, entries=spot.collections * EACH, limit=LIMIT)
        with Client(spot.url, spot.key) as client:
            return asyncio.run(_all_ways(spot, rounds, bare, client))
    finally:
        shutil.rmtree(folder)


async def _all_ways(spot: Spot, rounds: int, bare: Bare, client: Client) -> Times:
    memory = joined(spot)
    times, draw = Times(), random.Random(rounds)
    for number in range(_WARM + rounds):
        name, question = draw.choice(spot.names), asked(number)
        scope = Scope(tenant=TENANT, collection=name)
        began = time.perf_counter()
        found = bare.search(name, question)
        bared = time.perf_counter()
        hits = await memory.search(scope, question, limit=LIMIT)
        handled = time.perf_counter()
        replies = client.search(name, question, limit=LIMIT)
        ended = time.perf_counter()
        if not found == len(hits) == len(replies) == LIMIT:
            raise RuntimeError(f"expected {LIMIT} hits, got {found}, {len(hits)}, {len(replies)}")
        if number >= _WARM:
            times.bare.append(bared - began)
            times.handles.append(handled - bared)
            times.http.append(ended - handled)
    return times


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
