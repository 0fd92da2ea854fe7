"""``quarantine``: messages that could not be extracted: list, send in again, drop."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from pipeline.errors import InputError
from serve.commands.connection import connect_operator
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, shown, table
from serve.operator_client import Operator, QuarantineItem

_SHOWN_CHARS = 80

Messages = Annotated[
    list[str] | None, typer.Argument(help="Ids of messages, as `quarantine list` shows them.")
]
Collection = Annotated[str | None, typer.Option(help="Only this collection.")]
Every = Annotated[bool, typer.Option("--all", help="All that are held, or all of the collection.")]


class State(StrEnum):
    """What became of a message."""

    HELD = "held"
    RETRIED = "retried"
    DROPPED = "dropped"


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    group = typer.Typer(help="Messages that could not be extracted.", no_args_is_help=True)
    group.command("list")(list_items)
    group.command("retry")(retry)
    group.command("drop")(drop)
    app.add_typer(group, name="quarantine")


def list_items(
    collection: Collection = None,
    state: Annotated[State, typer.Option(help="Held, or settled in one way.")] = State.HELD,
    as_json: JsonOption = False,
) -> None:
    """List messages with the reason why they could not be extracted."""
    only = None if collection is None else named("collection", collection)
    with connect_operator() as operator:
        found = list(operator.quarantine(collection=only, state=state))
    _show(found, f"no message is {state}", as_json=as_json)


def retry(
    messages: Messages = None,
    collection: Collection = None,
    every: Every = False,
    as_json: JsonOption = False,
) -> None:
    """Send messages in again; each is extracted at its own place in the order."""
    with connect_operator() as operator:
        wanted = _wanted(operator, messages, collection, every)
        _settle(operator.retry, wanted, as_json=as_json)


def drop(
    messages: Messages = None,
    collection: Collection = None,
    every: Every = False,
    as_json: JsonOption = False,
) -> None:
    """Leave messages unextracted for good; they stay readable, with who dropped them."""
    with connect_operator() as operator:
        wanted = _wanted(operator, messages, collection, every)
        _settle(operator.drop, wanted, as_json=as_json)


def _wanted(
    operator: Operator, messages: list[str] | None, collection: str | None, every: bool
) -> list[str]:
    """The messages that are meant. Raises InputError where it is not clear which."""
    if bool(messages) == every or (messages and collection is not None):
        raise InputError("expected ids of messages, or --all with or without --collection")
    if messages:
        return [named("message", message) for message in messages]
    only = None if collection is None else named("collection", collection)
    return [item["message"]["id"] for item in operator.quarantine(collection=only)]


def _settle(settle: Callable[[str], QuarantineItem], wanted: list[str], *, as_json: bool) -> None:
    _show([settle(message) for message in wanted], "nothing is held", as_json=as_json)


def _show(items: list[QuarantineItem], nothing: str, *, as_json: bool) -> None:
    screen = Screen(as_json=as_json)
    if as_json:
        screen.document({"items": items})
        return
    columns = ("message", "collection", "sequence", "state", "reason", "said", "settled")
    rows = [
        (
            item["message"]["id"],
            shown(item["collection"]),
            item["message"]["sequence"],
            item["state"],
            item["reason"],
            item["message"]["content"][:_SHOWN_CHARS],
            f"{item['settled_at']} by {item['settled_by']}" if item["settled_at"] else "-",
        )
        for item in items
    ]
    screen.out.print(table("", columns, rows) if rows else nothing)
