"""Recall: what a search costs beside its bare parts, over HTTP, as memory grows, and under load.

One client asks, in a process of its own on the same machine. The embedder is the packaged one, for
both sides; entries and their vectors are made up, a hundred in each collection. Ratios say
something only where nothing else uses the machine: the bare embedder's threads wait for each other.
Run: ``python -m benchmarks.recall [--quick] [--only PARTS] [--json]``.
"""

import argparse
from datetime import UTC, datetime

from benchmarks.recalling.latency import growing, median, searching
from pipeline.evaluate.report import Claim, Report
from serve.evaluation.machine import machine
from serve.evaluation.screen import show
from serve.version import VERSION

PARTS = ("search", "growth")


def main() -> None:
    """Measures, prints a table, and with ``--json`` ends with one line."""
    args = _arguments()
    chosen = args.only.split(",") if args.only else list(PARTS)
    report = Report(
        name="recall",
        version=VERSION,
        config={"parts": list(chosen), "quick": args.quick},
        machine=machine(),
        claims=tuple(_claims(chosen, is_quick=args.quick)),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    show(report, as_json=args.json)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, fewer entries to grow")
    parser.add_argument("--only", help="search, growth, comma between")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    return parser.parse_args()


def _claims(chosen: list[str], *, is_quick: bool) -> list[Claim]:
    rounds, loaded = (100, 50) if is_quick else (2_000, 500)
    few, many = (2_000, 20_000) if is_quick else (10_000, 100_000)
    claims: list[Claim] = []
    p50_many = None
    if "search" in chosen:
        claims, p50 = searching(20_000, rounds=rounds, loaded_rounds=loaded)
        p50_many = p50 if is_quick else None
    if "growth" in chosen:
        claims += growing(
            few,
            many,
            p50_few=median(few, rounds=rounds),
            p50_many=median(many, rounds=rounds) if p50_many is None else p50_many,
        )
    return claims


if __name__ == "__main__":
    main()
