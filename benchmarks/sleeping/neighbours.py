"""Neighbours and queue of one collection, beside the bare products and partitions."""

import multiprocessing
import resource
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.evaluate.report import Claim, at_most
from pipeline.sleep.neighbours import neighbours
from pipeline.sleep.queue import Links, links, queue

DIM = 384
TOP_K = 20
BLOCK = 512
KEPT = 10
MIN_SIMILARITY = 0.8

_LINKS = (10_000, 100_000, 1_000_000)
_ROUNDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Seconds of one size: all of it, the floor, and 1 % new; the most memory its process had."""

    queue_s: float
    floor_s: float
    share_s: float
    peak_bytes: int


def comparing(sizes: list[int]) -> list[Claim]:
    """What neighbours and queue cost at these sizes, each in a process of its own."""
    found = []
    for size in sizes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found += _claims(size, pool.apply(measured, (size,)))
    return found


def measured(size: int) -> Measured:
    """The figures of one size, in this process."""
    vectors = clustered(size)
    # The first product starts the threads of the linear algebra.
    _queue_s(vectors[:1_000])
    return Measured(
        queue_s=_queue_s(vectors),
        # Memory first: the floor keeps whole rows of products.
        peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        floor_s=_floor_s(vectors),
        share_s=_queue_s(vectors, is_new=np.arange(size) >= size - size // 100),
    )


def _claims(size: int, found: Measured) -> list[Claim]:
    name = f"{size:,} entries"
    claims = [Claim(claim=f"{name}: entries a second", value=size / found.queue_s, unit="1/s")]
    if size <= 2_000:
        return [at_most(f"{name}: neighbours and queue", found.queue_s, 1.0, unit="s"), *claims]
    share = found.share_s / found.queue_s
    claims.append(at_most(f"{name}: 1 % new against all new", share, 0.05, unit="ratio"))
    if size >= 100_000:
        ratio, peak = found.queue_s / found.floor_s, found.peak_bytes / 2**30
        claims += [
            at_most(f"{name}: neighbours and queue", found.queue_s, 150.0, unit="s"),
            at_most(f"{name}: against products and partitions", ratio, 1.3, unit="ratio"),
            at_most(f"{name}: memory", peak, 2.0, unit="GiB"),
        ]
    return claims


def inverting() -> list[Claim]:
    """How the inversion grows with the number of links."""
    each = {size: _link_ns(size) for size in _LINKS}
    shown = [
        Claim(claim=f"inversion of {size:,} links: a link", value=cost, unit="ns")
        for size, cost in each.items()
    ]
    growth = each[_LINKS[-1]] / each[_LINKS[0]]
    label = f"inversion: a link of {_LINKS[-1]:,} against one of {_LINKS[0]:,}"
    return [*shown, at_most(label, growth, 2.0, unit="ratio")]


def _link_ns(size: int) -> float:
    rng = np.random.default_rng(size)
    newer = rng.integers(1, size // KEPT, size)
    older = (newer * rng.random(size)).astype(np.int64)
    found = Links(older=older, newer=newer, scores=rng.random(size).astype(np.float32))
    times = []
    for _ in range(_ROUNDS):
        begin = time.process_time()
        queue([found])
        times.append(time.process_time() - begin)
    return min(times) / size * 1e9


def clustered(size: int) -> NDArray[np.float32]:
    """Vectors in groups of about twenty that are similar to each other, in random order."""
    rng = np.random.default_rng(size)
    centres = rng.normal(size=(max(1, size // 20), DIM)).astype(np.float32)
    vectors = centres[rng.integers(0, len(centres), size)]
    vectors += np.float32(0.4) * rng.standard_normal((size, DIM), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _queue_s(vectors: NDArray[np.float32], is_new: NDArray[np.bool_] | None = None) -> float:
    begin = time.perf_counter()
    indices, scores = neighbours(vectors, top_k=TOP_K, block=BLOCK, is_new=is_new)
    kept = links(indices, scores, start=0, queue_length=KEPT, min_similarity=MIN_SIMILARITY)
    queue([kept])
    return time.perf_counter() - begin


def _floor_s(vectors: NDArray[np.float32]) -> float:
    """The products alone, and one partition of each row: no order, no ties, no queue."""
    begin = time.perf_counter()
    for low in range(0, len(vectors), BLOCK):
        high = min(low + BLOCK, len(vectors))
        products = vectors[low:high] @ vectors[:high].T
        if high > TOP_K:
            np.argpartition(products, -TOP_K, axis=1)[:, -TOP_K:]
    return time.perf_counter() - begin
