"""A report as a table for people, and as its one line of JSON."""

import sys

from rich.console import Console
from rich.table import Table

from pipeline.evaluate.report import Claim, Report


def show(report: Report, *, as_json: bool) -> None:
    """Prints the table; with ``as_json`` on stderr, and then the JSON line alone on stdout."""
    stdout = sys.__stdout__ or sys.stdout
    Console(file=sys.stderr if as_json else stdout).print(_table(report))
    if as_json:
        print(report.to_json(), file=stdout, flush=True)


def _table(report: Report) -> Table:
    table = Table(title=f"{report.name} (Slowwave {report.version})", title_justify="left")
    table.add_column("claim")
    for column in ("value", "unit", "bar", "holds"):
        table.add_column(column, justify="right")
    for claim in report.claims:
        table.add_row(*_cells(claim))
    return table


def _cells(claim: Claim) -> tuple[str, str, str, str, str]:
    bar = "" if claim.bar is None else f"{claim.bar:.3f}"
    holds = "" if claim.holds is None else "yes" if claim.holds else "no"
    return claim.claim, f"{claim.value:.3f}", claim.unit, bar, holds
