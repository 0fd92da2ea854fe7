"""``collections settings``: what a collection does otherwise than the service."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from pipeline.errors import InputError
from serve.commands.connection import connect
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, table
from serve.settings_client import CollectionSettings, SettingsClient

_LISTS = ("triggers", "roles")
_TEXTS = ("prompt", "granularity")
_SHOWN_CHARS = 60


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    group = typer.Typer(help="Collections and their own settings.", no_args_is_help=True)
    group.callback()(_group)
    group.command()(settings)
    app.add_typer(group, name="collections")


def _group() -> None:
    """Collections and their own settings."""


def settings(
    collection: Annotated[str, typer.Argument(help="The collection; setting some makes it.")],
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="KEY=VALUE, a list with commas, a text from a file as @FILE; may be repeated.",
        ),
    ] = None,
    unset: Annotated[
        list[str] | None,
        typer.Option(help="A key that goes back to the service's setting; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show a collection's settings, or change some; they hold from its next step on."""
    screen, name = Screen(as_json=as_json), named("collection", collection)
    changes = _changes(assignments or (), unset or ())
    with connect() as client:
        mine = SettingsClient(client)
        found = mine.change(name, changes) if changes else mine.settings(name)
    if as_json:
        screen.document(found)
        return
    screen.out.print(_table(found))


def _changes(assignments: Sequence[str], unset: Sequence[str]) -> dict[str, JsonValue]:
    """What is to change; None takes a setting back."""
    changes: dict[str, JsonValue] = {}
    for assignment in assignments:
        key, sign, text = assignment.partition("=")
        if not sign:
            raise InputError(f"--set: expected KEY=VALUE, got {assignment!r}", field="set")
        changes[key.strip()] = _value(key.strip(), text)
    for key in unset:
        if key in changes:
            raise InputError(f"--unset: {key} is set by the same command", field="unset")
        changes[key] = None
    return changes


def _value(key: str, text: str) -> JsonValue:
    if key in _LISTS:
        return [part.strip() for part in text.split(",") if part.strip()]
    if key in _TEXTS:
        return _text(text)
    if text in ("on", "off"):
        return text == "on"
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value


def _text(text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{text[1:]} cannot be read as text: {error}", field="set") from error


def _table(found: CollectionSettings) -> object:
    rows = [
        (key, _shown(found["settings"].get(key)), _shown(value))
        for key, value in found["in_force"].items()
    ]
    return table("", ("setting", "own", "in force"), rows)


def _shown(value: JsonValue) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "on" if value else "off"
        case list():
            return ", ".join(str(one) for one in value)
        case _:
            text = " ".join(str(value).split())
            return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
