"""Neighbours and queue of one collection, beside the bare products and partitions.

Run: ``python -m benchmarks.neighbours [--quick] [--json]``.
"""

import argparse
import os
import platform
import time

import numpy as np
from numpy.typing import NDArray

from pipeline.evaluate.report import Claim, Report, at_most
from pipeline.sleep.neighbours import neighbours
from pipeline.sleep.queue import links, queue
from serve.version import VERSION

DIM = 384
TOP_K = 20
BLOCK = 512
KEPT = 10
MIN_SIMILARITY = 0.8


def main() -> None:
    """Measures, prints a table, and with ``--json`` ends with one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out 100,000 entries")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    args = parser.parse_args()
    sizes = [2_000, 10_000, 20_000] if args.quick else [2_000, 10_000, 20_000, 100_000]
    report = Report(
        name="neighbours",
        version=VERSION,
        config={"dim": DIM, "top_k": TOP_K, "block": BLOCK, "sizes": sizes},
        machine={"cpus": os.cpu_count(), "python": platform.python_version()},
        claims=tuple(claim for size in sizes for claim in _claims(size)),
    )
    for claim in report.claims:
        bar = "" if claim.bar is None else f"at most {claim.bar:g}: {claim.holds}"
        print(f"{claim.claim:<48} {claim.value:>12.3f} {claim.unit:<9} {bar}")
    if args.json:
        print(report.to_json())


def _claims(size: int) -> list[Claim]:
    vectors = _clustered(size)
    queue_s, floor_s = _queue_s(vectors), _floor_s(vectors)
    share_s = _queue_s(vectors, is_new=np.arange(size) >= size - size // 100)
    name = f"{size} entries"
    times = Claim(claim=f"{name}: entries a second", value=size / queue_s, unit="1/s")
    if size < 10_000:
        return [at_most(f"{name}: queue", queue_s, 1.0, unit="s"), times]
    return [
        at_most(f"{name}: queue", queue_s, 150.0, unit="s"),
        times,
        at_most(f"{name}: against products and partitions", queue_s / floor_s, 1.3, unit="ratio"),
        at_most(f"{name}: 1 % new against all new", share_s / queue_s, 0.05, unit="ratio"),
    ]


def _clustered(size: int) -> NDArray[np.float32]:
    """Vectors in groups of about twenty that are similar to each other, in random order."""
    rng = np.random.default_rng(size)
    centres = rng.normal(size=(max(1, size // 20), DIM))
    vectors = centres[rng.integers(0, len(centres), size)] + 0.4 * rng.normal(size=(size, DIM))
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(
        np.float32
    )
    return unit


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


if __name__ == "__main__":
    main()
