"""What every benchmark of several parts does with them."""

import argparse
from collections.abc import Callable, Mapping

from pipeline.evaluate.report import Claim, Report
from serve.evaluation.machine import machine
from serve.evaluation.screen import show
from serve.version import VERSION


def show_measured(
    name: str, parts: Mapping[str, Callable[[], list[Claim]]], args: argparse.Namespace
) -> None:
    """Measures the parts that ``args.only`` names, or all, and shows their claims."""
    chosen = args.only.split(",") if args.only else list(parts)
    claims = [claim for part in chosen for claim in parts[part]()]
    report = Report(
        name=name,
        version=VERSION,
        config={"parts": list(chosen), "quick": args.quick},
        machine=machine(),
        claims=tuple(claims),
    )
    show(report, as_json=args.json)
