"""``erase``: the one thing that cannot be taken back."""

from collections.abc import Callable
from typing import Annotated

import typer

from serve.commands.connection import connect
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, table
from serve.lifecycle_client import LifecycleClient

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")]
Receipt = dict[str, int]


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    group = typer.Typer(help="Erase for ever: nothing brings it back.", no_args_is_help=True)
    group.command()(entry)
    group.command()(conversation)
    group.command()(collection)
    group.command()(tenant)
    app.add_typer(group, name="erase")


def entry(
    entry: Annotated[str, typer.Argument(help="The id of an entry, as `search` shows it.")],
    siblings: Annotated[
        bool,
        typer.Option("--siblings", help="Also every other entry from the same messages."),
    ] = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Erase an entry and the words of the messages it came from."""
    name = named("entry", entry)
    what = f"entry {name}, the words of its messages" + (
        " and all other entries from them" if siblings else ""
    )
    _erase(what, lambda one: one.erase_entry(name, siblings=siblings), yes=yes, as_json=as_json)


def conversation(
    collection: Annotated[str, typer.Argument(help="The collection it lies in.")],
    conversation: Annotated[str, typer.Argument(help="Its name.")],
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Erase a conversation and every entry that came from it alone."""
    place, name = named("collection", collection), named("conversation", conversation)
    _erase(
        f"conversation {name} of {place}",
        lambda one: one.erase_conversation(place, name),
        yes=yes,
        as_json=as_json,
    )


def collection(
    collection: Annotated[str, typer.Argument(help="Its name.")],
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Erase a collection and everything in it."""
    name = named("collection", collection)
    _erase(f"collection {name}", lambda one: one.erase_collection(name), yes=yes, as_json=as_json)


def tenant(
    tenant: Annotated[str, typer.Argument(help="Its name.")],
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Erase a tenant: every collection, its keys and its sleep runs."""
    name = named("tenant", tenant)
    _erase(f"tenant {name}", lambda one: one.erase_tenant(name), yes=yes, as_json=as_json)


def _erase(
    what: str, erase: Callable[[LifecycleClient], Receipt], *, yes: bool, as_json: bool
) -> None:
    screen = Screen(as_json=as_json)
    if not yes:
        typer.confirm(f"Erase {what} for ever?", abort=True, err=True)
    with connect() as client, screen.working(f"erasing {what}"):
        receipt = erase(LifecycleClient(client))
    if as_json:
        screen.document({"erased": receipt})
        return
    screen.out.print(table("erased", ("table", "rows"), sorted(receipt.items())))
