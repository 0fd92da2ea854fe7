"""``scratchpad`` and ``restore``: the stable items of a collection, and what sleep archived."""

from typing import Annotated

import typer
from pydantic import JsonValue
from rich.markup import escape

from pipeline.errors import InputError
from serve.commands.connection import connect
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen
from serve.scratchpad_client import Item, ItemVersion, ScratchpadClient

CollectionArgument = Annotated[str, typer.Argument(help="The collection.")]
ItemArgument = Annotated[
    str, typer.Argument(help="The id of an item, as `scratchpad show` has it.")
]
VersionOption = Annotated[
    int | None,
    typer.Option("--version", min=1, help="The version that you saw; the present one if left out."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    group = typer.Typer(
        help="The scratchpad: profile, preferences, instructions, timeline, open loops.",
        no_args_is_help=True,
    )
    for command in (show, add, edit, remove, history):
        group.command()(command)
    app.add_typer(group, name="scratchpad")
    app.command()(restore)


def show(
    collection: CollectionArgument,
    slot: Annotated[str | None, typer.Option(help="Only this slot.")] = None,
    status: Annotated[
        list[str] | None, typer.Option(help="Only this status; active ones if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the items of a collection by slot, newest first, contradictions marked."""
    screen, name = Screen(as_json=as_json), named("collection", collection)
    with connect() as client:
        found = ScratchpadClient(client).items(name, slot=slot, statuses=status or ())
    if as_json:
        screen.document(found)
        return
    for each in dict.fromkeys(item["slot"] for item in found["items"]):
        screen.out.print(f"[bold]{escape(each)}[/bold]")
        for item in found["items"]:
            if item["slot"] == each:
                screen.out.print(_lines(item))
    screen.say(f"{len(found['items'])} items, {found['tokens']} tokens")


def add(
    collection: CollectionArgument,
    slot: Annotated[str, typer.Argument(help="The slot that it goes into.")],
    text: Annotated[str, typer.Argument(help="What it says.")],
    as_json: JsonOption = False,
) -> None:
    """Write an item of your own, which sleep leaves as it is."""
    place = named("collection", collection)
    with connect() as client:
        made = ScratchpadClient(client).add(
            place, slot=named("slot", slot), text=named("text", text)
        )
    _show(made, as_json=as_json)


def edit(
    collection: CollectionArgument,
    item: ItemArgument,
    text: Annotated[str | None, typer.Option(help="The new text.")] = None,
    slot: Annotated[str | None, typer.Option(help="The slot that it moves to.")] = None,
    status: Annotated[str | None, typer.Option(help="active brings a removed one back.")] = None,
    version: VersionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Edit an item; from then on sleep leaves it as it is."""
    given = {"text": text, "slot": slot, "status": status}
    changes: dict[str, JsonValue] = {
        key: value for key, value in given.items() if value is not None
    }
    if not changes:
        raise InputError("expected one of --text, --slot, --status; got none", field="text")
    place, name = named("collection", collection), named("item", item)
    with connect() as client:
        pad = ScratchpadClient(client)
        seen = version or pad.item(place, name)["version"]
        edited = pad.edit(place, name, version=seen, changes=changes)
    _show(edited, as_json=as_json)


def remove(
    collection: CollectionArgument,
    item: ItemArgument,
    version: VersionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take an item out of the scratchpad; its text stays in its history."""
    place, name = named("collection", collection), named("item", item)
    with connect() as client:
        pad = ScratchpadClient(client)
        seen = version or pad.item(place, name)["version"]
        removed = pad.remove(place, name, version=seen)
    _show(removed, as_json=as_json)


def history(
    collection: CollectionArgument, item: ItemArgument, as_json: JsonOption = False
) -> None:
    """Show every version of an item, by whom and why."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        pad = ScratchpadClient(client)
        versions = pad.history(named("collection", collection), named("item", item))
    if as_json:
        screen.document({"item": item, "versions": versions})
        return
    for version in versions:
        screen.out.print(_version_lines(version))


def restore(
    entry: Annotated[str, typer.Argument(help="The id of an archived entry.")],
    as_json: JsonOption = False,
) -> None:
    """Bring an archived entry back into recall."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        found = ScratchpadClient(client).restore(named("entry", entry))
    if as_json:
        screen.document(found)
        return
    screen.out.print(f"{escape(found['text'])}\n   [dim]{found['status']} again[/dim]")


def _show(item: Item, *, as_json: bool) -> None:
    screen = Screen(as_json=as_json)
    if as_json:
        screen.document(item)
        return
    screen.out.print(_lines(item))


def _lines(item: Item) -> str:
    facts = [f"said {item['said_at'][:10]}", item["written_by"], f"version {item['version']}"]
    facts += [item["id"]] if item["status"] == "active" else [item["status"], item["id"]]
    mark = f" [red]contradicted by {len(item['conflicts'])}[/red]" if item["conflicts"] else ""
    return f"  {escape(item['text'])}{mark}\n     [dim]{escape(' · '.join(facts))}[/dim]"


def _version_lines(version: ItemVersion) -> str:
    item = version["item"]
    facts = (item["slot"], item["status"], item["written_by"], item["written_at"][:19])
    below = escape(" · ".join((*facts, version["why"])))
    return f"[bold]{item['version']}[/bold]  {escape(item['text'])}\n   [dim]{below}[/dim]"
