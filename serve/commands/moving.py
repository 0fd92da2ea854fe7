"""``export`` and ``import``: a collection as one file of lines."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from pipeline.errors import InputError
from serve.commands.connection import connect
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen
from serve.lifecycle_client import LifecycleClient


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command(name="export")(export_collection)
    app.command(name="import")(import_collection)


def export_collection(
    collection: Annotated[str, typer.Argument(help="The collection to export.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; stdout if not given.")
    ] = None,
) -> None:
    """Write a collection as lines of JSON, with its vectors and its whole history."""
    name = named("collection", collection)
    with connect() as client, written(output) as file:
        for piece in LifecycleClient(client).export(name):
            file.write(piece)


def import_collection(
    file: Annotated[Path, typer.Argument(help="A file that `export` wrote.")],
    collection: Annotated[
        str | None, typer.Option(help="The name it gets here; that of the file if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read a collection back; importing it twice changes nothing."""
    screen = Screen(as_json=as_json)
    name = file.stem if collection is None else named("collection", collection)
    try:
        opened = file.open("rb")
    except OSError as exc:
        raise InputError(f"{file} cannot be read: {exc.strerror}", field="file") from exc
    with opened, connect() as client, screen.working(f"importing {name}"):
        imported = LifecycleClient(client).load(name, opened)
    if as_json:
        screen.document(imported)
        return
    added = ", ".join(f"{rows} {table}" for table, rows in sorted(imported["added"].items()))
    screen.out.print(f"added {added or 'nothing'}; {imported['known']} rows were there already")


@contextmanager
def written(output: Path | None) -> Iterator[BinaryIO]:
    """The file to write to; a file appears under its name only once it is whole."""
    if output is None:
        yield (sys.__stdout__ or sys.stdout).buffer
        return
    partial = output.with_name(f"{output.name}.partial")
    try:
        with partial.open("wb") as file:
            yield file
        os.replace(partial, output)
    except OSError as exc:
        raise InputError(f"{output} cannot be written: {exc.strerror}", field="output") from exc
    finally:
        partial.unlink(missing_ok=True)
