"""``usage``: what model calls took, and what that costs."""

from typing import Annotated

import typer

from serve.commands.connection import connect_operator
from serve.commands.screen import JsonOption, Screen, shown, table
from serve.operator_client import UsageRow


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(usage)


def usage(
    tenant: Annotated[str | None, typer.Option(help="Only this tenant, for operators.")] = None,
    since: Annotated[str | None, typer.Option(help="First day, as 2025-06-01 (UTC).")] = None,
    until: Annotated[str | None, typer.Option(help="Last day.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show model calls, tokens and cost per tenant, day, purpose and model."""
    screen = Screen(as_json=as_json)
    with connect_operator() as operator:
        rows = operator.usage(tenant=tenant, since=since, until=until)
    if as_json:
        screen.document({"usage": rows})
        return
    screen.out.print(_table(rows) if rows else "no model was called")


def _table(rows: list[UsageRow]) -> object:
    columns = ("tenant", "day", "purpose", "model", "calls", "repairs", "in", "out")
    return table(
        "tokens in and out, for so many calls estimated; cost by the prices in the settings",
        (*columns, "estimated", "refused", "cost"),
        [
            (
                each["tenant"],
                each["day"],
                each["purpose"],
                shown(each["model"]),
                each["calls"],
                each["repairs"],
                each["tokens_in"],
                each["tokens_out"],
                each["estimated"],
                sum(each["refused"].values()),
                "-" if each["cost"] is None else f"{each['cost']:.4f}",
            )
            for each in rows
        ],
    )
