"""Ingestion: how fast messages are acknowledged and walked in, and what the framework costs.

The load comes from this process, on the same machine. Models are stand-ins wherever the question
is what HTTP, Serve, the record store, the walk and the index cost; only ``floor`` has real ones.
With ``--records`` and ``--owner`` the accept path is measured on that PostgreSQL too.
"""

import argparse
from collections.abc import Callable

from benchmarks.ingesting.accept import accepting
from benchmarks.ingesting.cost import walking
from benchmarks.ingesting.fairness import fairness
from benchmarks.ingesting.floor import against_the_models
from benchmarks.ingesting.scaling import scaling
from benchmarks.measured import show_measured
from benchmarks.stand_in import EMBEDDED, Stores
from pipeline.evaluate.report import Claim
from serve.local.home import models_dir


def main() -> None:
    """Measures, prints a table, and with ``--json`` ends with one line."""
    args = _arguments()
    show_measured("ingest", _parts(args), args)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer messages")
    parser.add_argument("--only", help="accept, floor, cost, scaling, fairness, comma between")
    parser.add_argument("--records", help="a PostgreSQL as the service's role")
    parser.add_argument("--owner", help="the same as the role that owns the tables")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    return parser.parse_args()


def _parts(args: argparse.Namespace) -> dict[str, Callable[[], list[Claim]]]:
    accepted, first, last = (6_000, 4_000, 8_000) if args.quick else (30_000, 10_000, 100_000)
    workers, rounds = ([1, 4], 2) if args.quick else ([1, 2, 4, 8], 6)
    stores = [EMBEDDED]
    if args.records:
        stores.append(Stores(name="PostgreSQL", records=args.records, owner=args.owner))
    return {
        "accept": lambda: [claim for each in stores for claim in accepting(accepted, each)],
        "floor": lambda: against_the_models(models_dir()),
        "cost": lambda: walking(first, last),
        "scaling": lambda: scaling(workers, messages=30),
        "fairness": lambda: fairness(rounds),
    }


if __name__ == "__main__":
    main()
