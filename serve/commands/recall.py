"""``search``, ``context`` and ``history``: what memory holds."""

from typing import Annotated

import typer
from rich.markup import escape

from pipeline.errors import InputError
from serve.commands.connection import connect
from serve.commands.screen import JsonOption, Screen, table
from serve.replies import Hit, Version

CollectionArgument = Annotated[str, typer.Argument(help="The collection to ask.")]
QueryArgument = Annotated[str, typer.Argument(help="A question or a few words, in any language.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command()(search)
    app.command()(context)
    app.command()(history)


def search(
    collection: CollectionArgument,
    query: QueryArgument,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many entries at most.")] = 10,
    status: Annotated[
        list[str] | None, typer.Option(help="Only this status; current ones if not given.")
    ] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the entries that bear on a question."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        hits = client.search(
            named("collection", collection),
            named("query", query),
            limit=limit,
            statuses=status or (),
            kinds=kind or (),
            explain=as_json,
        )
    if as_json:
        screen.document({"collection": collection, "query": query, "hits": hits})
        return
    screen.out.print(hits_table(f"{collection}: {query}", hits) if hits else "nothing found")


def context(
    collection: CollectionArgument,
    query: QueryArgument,
    budget: Annotated[
        int | None, typer.Option(min=50, max=200_000, help="Tokens that the context may take.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a model should read to answer a question."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        found = client.context(
            named("collection", collection), named("query", query), budget_tokens=budget
        )
    if as_json:
        screen.document(found)
        return
    screen.out.print(escape(found["text"]))
    parts = ", ".join(f"{name} {len(lines)} lines" for name, lines in found["parts"].items())
    screen.say(f"{found['tokens']} tokens ({parts}); {len(found['entries'])} entries cited")


def history(
    entry: Annotated[str, typer.Argument(help="The id of an entry.")], as_json: JsonOption = False
) -> None:
    """Show every version of an entry, by whom and why."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        versions = client.history(named("entry", entry))
    if as_json:
        screen.document({"entry": entry, "versions": versions})
        return
    screen.out.print(_history_table(entry, versions))


def named(field: str, text: str) -> str:
    """The argument, if it says anything. Raises InputError naming it."""
    if not text.strip():
        raise InputError(f"{field}: expected some text, got none", field=field)
    return text


def hits_table(title: str, hits: list[Hit]) -> object:
    """Found entries, best first."""
    rows = [
        (
            f"{hit['score']:.3f}",
            hit["entry"]["text"],
            hit["entry"]["kind"],
            hit["entry"]["status"],
            hit["entry"]["said_at"][:10],
            hit["entry"]["id"],
        )
        for hit in hits
    ]
    return table(title, ("score", "entry", "kind", "status", "said", "id"), rows)


def _history_table(entry: str, versions: list[Version]) -> object:
    rows = [
        (
            version["entry"]["version"],
            version["entry"]["text"],
            version["entry"]["status"],
            version["entry"]["written_by"],
            version["entry"]["written_at"][:19],
            version["why"],
        )
        for version in versions
    ]
    columns = ("version", "text", "status", "written by", "written at", "why")
    return table(f"entry {entry}", columns, rows)
