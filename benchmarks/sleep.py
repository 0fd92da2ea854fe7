"""Sleep: neighbours and queue, what a second night costs, and deciding as workers are added.

Run: ``python -m benchmarks.sleep [--quick] [--only PARTS] [--json]``. Models are stand-ins; the
load comes from this machine.
"""

import argparse
from collections.abc import Callable

from benchmarks.measured import show_measured
from benchmarks.sleeping.deciding import scaling
from benchmarks.sleeping.job import again
from benchmarks.sleeping.neighbours import comparing, inverting
from pipeline.evaluate.report import Claim


def main() -> None:
    """Measures, prints a table, and with ``--json`` ends with one line."""
    args = _arguments()
    show_measured("sleep", _parts(is_quick=args.quick), args)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out 100,000 entries")
    parser.add_argument("--only", help="neighbours, inversion, again, deciding, comma between")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    return parser.parse_args()


def _parts(*, is_quick: bool) -> dict[str, Callable[[], list[Claim]]]:
    sizes = [2_000, 10_000] if is_quick else [2_000, 10_000, 100_000]
    workers = [1, 4] if is_quick else [1, 2, 4, 8]
    return {
        "neighbours": lambda: comparing(sizes),
        "inversion": inverting,
        "again": lambda: again(2_000 if is_quick else 10_000),
        "deciding": lambda: scaling(workers, each=48 if is_quick else 320),
    }


if __name__ == "__main__":
    main()
