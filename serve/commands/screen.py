"""What a command shows: tables for people, or one JSON document and nothing else on stdout."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="The settings to measure; default: configs/local.yaml."),
]
_FILE_WIDTH = 160
_MOVING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Line breaks, other control signs, and those that turn the direction of writing."""

Advance = Callable[[int], None]


class Screen:
    """Where a command speaks: results on stdout, everything on the way on stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.out = _console(sys.stdout)
        self.err = _console(sys.stderr)

    def say(self, text: str) -> None:
        """One line about what happens now."""
        self.err.print(escape(text), style="dim")

    def document(self, document: object) -> None:
        """The one JSON document."""
        print_document(document)

    @contextmanager
    def working(self, text: str) -> Iterator[Callable[[str], None]]:
        """A spinner with a changing line on a terminal, plain lines elsewhere."""
        if not self.err.is_terminal:
            self.say(text)
            yield self.say
            return
        with self.err.status(escape(text)) as status:
            yield lambda line: status.update(escape(line))

    @contextmanager
    def progress(self, text: str, total: int) -> Iterator[Advance]:
        """A bar over ``total`` steps; the yielded function advances it."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, TimeElapsedColumn(), console=self.err, transient=True) as bar:
            task = bar.add_task(escape(text), total=total)
            yield lambda steps: bar.advance(task, steps)


def print_document(document: object) -> None:
    """One JSON document on the real stdout, whatever stdout is bound to meanwhile."""
    stream = sys.__stdout__ or sys.stdout
    text = json.dumps(document, ensure_ascii=False, indent=2)
    stream.write(text.encode("utf-8", errors="backslashreplace").decode("utf-8") + "\n")
    stream.flush()


def _console(stream: TextIO) -> Console:
    """A console as wide as its terminal; in a file nothing needs to be cut short."""
    width = None if stream.isatty() else _FILE_WIDTH
    return Console(file=stream, highlight=False, soft_wrap=True, width=width)


def shown(name: str) -> str:
    """The name with everything that would move other text as an escape."""
    return _MOVING.sub(lambda sign: ascii(sign.group())[1:-1], name)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """A table of plain texts; nothing in them is taken as markup."""
    drawn = Table(
        title=escape(title) or None, title_justify="left", header_style="bold", box=SIMPLE_HEAD
    )
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(escape(str(cell)) for cell in row))
    return drawn
