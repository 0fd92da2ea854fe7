"""``retention``, ``reindex`` and ``fsck``: keeping what is stored in order."""

from typing import Annotated

import typer

from pipeline.errors import InputError
from serve.commands.connection import connect
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, shown, table
from serve.lifecycle_client import Difference, LifecycleClient

_DIFFERENCES = 1


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command()(retention)
    app.command()(reindex)
    app.command()(fsck)


def retention(
    days: Annotated[
        int | None, typer.Option(min=1, help="Keep raw messages so many days from now on.")
    ] = None,
    forever: Annotated[bool, typer.Option("--forever", help="Keep them from now on.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take the words out of messages that were kept long enough; entries stay."""
    if days is not None and forever:
        raise InputError("expected --days or --forever, got both", field="days")
    screen = Screen(as_json=as_json)
    with connect() as client, screen.working("redacting old messages"):
        lifecycle = LifecycleClient(client)
        if days is not None or forever:
            lifecycle.keep(days)
        kept, redacted = lifecycle.retention_days(), lifecycle.redact_old()
    if as_json:
        screen.document({"days": kept, "redacted": redacted})
        return
    told = "for ever" if kept is None else f"{kept} day{'' if kept == 1 else 's'}"
    screen.out.print(f"raw messages are kept {told}; {redacted} were redacted now")


def reindex(
    collection: Annotated[
        str | None, typer.Argument(help="One collection; all of them if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the index anew from the stored vectors; search goes on meanwhile."""
    screen = Screen(as_json=as_json)
    with connect() as client, screen.working("reindexing"):
        names = [named("collection", collection)] if collection is not None else None
        if names is None:
            names = [each["collection"] for each in client.collections()]
        points = {name: LifecycleClient(client).reindex(name) for name in names}
    if as_json:
        screen.document({"points": points})
        return
    screen.out.print(
        table(
            "",
            ("collection", "points"),
            [(shown(name), count) for name, count in sorted(points.items())],
        )
    )


def fsck(
    collection: Annotated[
        str | None, typer.Argument(help="One collection; all of them if not given.")
    ] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Repair the index, the counters, and entries from their versions."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare the record store with the index and with itself; 1 where something differs."""
    screen = Screen(as_json=as_json)
    only = None if collection is None else named("collection", collection)
    with connect() as client, screen.working("checking"):
        found = LifecycleClient(client).fsck(only, repair=repair)
    if as_json:
        screen.document({"differences": found})
    else:
        screen.out.print(_differences(found) if found else "all agrees")
    if not all(each["repaired"] for each in found):
        raise typer.Exit(_DIFFERENCES)


def _differences(found: list[Difference]) -> object:
    columns = ("collection", "what", "about", "detail", "repaired")
    rows = [
        (
            shown(each["collection"]),
            each["kind"],
            each["subject"],
            each["detail"],
            "yes" if each["repaired"] else "",
        )
        for each in found
    ]
    return table("differences", columns, rows)
