"""``tasks``: what is to be done, what was, and what was dropped, in the order it was said."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer

from pipeline.entries import Kind
from serve.client import Client
from serve.commands.connection import connect
from serve.commands.recall import CollectionArgument, named
from serve.commands.screen import JsonOption, Screen, table
from serve.replies import Entry


class State(StrEnum):
    """Which tasks to list."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"
    ALL = "all"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(tasks)


def tasks(
    collection: CollectionArgument,
    state: Annotated[State, typer.Option(help="Which ones.")] = State.OPEN,
    as_json: JsonOption = False,
) -> None:
    """List the tasks of a collection, oldest first, with what closed them."""
    screen, name = Screen(as_json=as_json), named("collection", collection)
    with connect() as client:
        found = list(_tasks(client, name, state))
        closing = {each["id"]: _closing(client, each) for each in found}
    if as_json:
        listed = [{**each, "closed_by": closing[each["id"]]} for each in found]
        screen.document({"collection": name, "tasks": listed})
        return
    columns = ("said", "state", "task", "closed by")
    rows = [
        (each["said_at"][:10], each["task_state"], each["text"], closing[each["id"]] or "")
        for each in found
    ]
    screen.out.print(table("", columns, rows) if rows else "no such task")


def _tasks(client: Client, collection: str, state: State) -> Iterator[Entry]:
    """Those in a state; one that another plan replaced is in none."""
    for entry in client.all_entries(collection):
        told = entry["task_state"] if entry["kind"] == Kind.TASK else None
        if told is not None and state in (State.ALL, told):
            yield entry


def _closing(client: Client, entry: Entry) -> str | None:
    newer = entry["superseded_by"]
    return None if newer is None else client.entry(newer)["text"]
