"""``search``, ``context``, ``answer`` and ``history``: what memory holds."""

import json
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.markup import escape

from pipeline.errors import InputError
from serve.answer_client import answer as ask
from serve.commands.connection import connect
from serve.commands.screen import JsonOption, Screen
from serve.replies import Hit, Version

CollectionArgument = Annotated[str, typer.Argument(help="The collection to ask.")]
QueryArgument = Annotated[str, typer.Argument(help="A question or a few words, in any language.")]

FilterOption = Annotated[
    str | None,
    typer.Option("--filter", help='JSON, as {"speaker": "Mara", "said_at": {"gte": "2025"}}.'),
]
AsOfOption = Annotated[
    str | None, typer.Option(help="What held at this time, in the words of that version.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command()(search)
    app.command()(context)
    app.command()(answer)
    app.command()(history)


def search(
    collection: CollectionArgument,
    query: QueryArgument,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many entries at most.")] = 10,
    status: Annotated[
        list[str] | None, typer.Option(help="Only this status; current ones if not given.")
    ] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind.")] = None,
    also: Annotated[
        list[str] | None, typer.Option(help="Search this collection of yours too.")
    ] = None,
    where: FilterOption = None,
    as_of: AsOfOption = None,
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="Leave out what is less relevant.")
    ] = None,
    neighbours: Annotated[
        int, typer.Option(min=0, max=5, help="Turns to show around what an entry came from.")
    ] = 0,
    rerank: Annotated[
        bool | None, typer.Option(help="Let the reranker order the best hits, or not.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the entries that bear on a question."""
    screen = Screen(as_json=as_json)
    asked = [named("collection", one) for one in (collection, *(also or ()))]
    with connect() as client:
        hits = client.search(
            asked[0] if len(asked) == 1 else asked,
            named("query", query),
            limit=limit,
            statuses=status or (),
            kinds=kind or (),
            explain=as_json,
            filter=read_filter(where),
            as_of=as_of,
            min_score=min_score,
            neighbours=neighbours,
            rerank=rerank,
        )
    if as_json:
        screen.document({"collection": collection, "query": query, "hits": hits})
        return
    for hit in hits:
        screen.out.print(hit_lines(hit))
    if not hits:
        screen.out.print("nothing found")


def context(
    collection: CollectionArgument,
    query: QueryArgument,
    budget: Annotated[
        int | None, typer.Option(min=50, max=200_000, help="Tokens that the context may take.")
    ] = None,
    where: FilterOption = None,
    as_of: AsOfOption = None,
    form: Annotated[
        str | None, typer.Option(help="plain, timeline or summary; else by the question's words.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a model should read to answer a question."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        found = client.context(
            named("collection", collection),
            named("query", query),
            budget_tokens=budget,
            filter=read_filter(where),
            as_of=as_of,
            form=form,
        )
    if as_json:
        screen.document(found)
        return
    screen.out.print(escape(found["text"]))
    parts = ", ".join(f"{name} {len(lines)} lines" for name, lines in found["parts"].items())
    for conflict in found["conflicts"]:
        screen.say(f"to ask: {conflict['question']}")
    screen.say(f"{found['tokens']} tokens; lines: {parts}")


def answer(
    collection: CollectionArgument,
    query: QueryArgument,
    store: Annotated[
        bool, typer.Option("--store", help="Keep question and answer as messages.")
    ] = False,
    conversation: Annotated[
        str, typer.Option(help="The conversation in which they are kept.")
    ] = "default",
    budget: Annotated[
        int | None, typer.Option(min=50, max=200_000, help="Tokens that the context may take.")
    ] = None,
    where: FilterOption = None,
    as_of: AsOfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have the service's chat model answer a question from memory alone."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        found = ask(
            client,
            named("collection", collection),
            named("query", query),
            store=store,
            conversation=conversation,
            budget_tokens=budget,
            filter=read_filter(where),
            as_of=as_of,
        )
    if as_json:
        screen.document(found)
        return
    screen.out.print(escape(found["text"]))
    for line in found["citations"]:
        screen.out.print(f"[dim]{escape(line['text'])}[/dim]")


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
    for version in versions:
        screen.out.print(_version_lines(version))


def named(field: str, text: str) -> str:
    """The argument, if it says anything. Raises InputError naming it."""
    if not text.strip():
        raise InputError(f"{field}: expected some text, got none", field=field)
    return text


def read_filter(text: str | None) -> dict[str, JsonValue] | None:
    """The JSON object that the text says. Raises InputError."""
    try:
        found = None if text is None else json.loads(text)
    except ValueError as exc:
        raise InputError(f"--filter: expected JSON: {exc}", field="filter") from exc
    if found is not None and not isinstance(found, dict):
        came = type(found).__name__
        raise InputError(f"--filter: expected a JSON object, got {came}", field="filter")
    return found


def hit_lines(hit: Hit) -> str:
    """A found entry: its score and text, and below what identifies it."""
    entry = hit["entry"]
    facts = (entry["kind"], entry["status"], f"said {entry['said_at'][:10]}", entry["id"])
    below = escape(" · ".join(facts))
    first = f"[bold]{hit['score']:.3f}[/bold]  {escape(entry['text'])}\n       [dim]{below}[/dim]"
    turns = [f"       | {escape(one['speaker'] + ': ' + one['content'])}" for one in hit["around"]]
    return "\n".join([first, *turns])


def _version_lines(version: Version) -> str:
    entry = version["entry"]
    facts = (entry["status"], entry["written_by"], entry["written_at"][:19], version["why"])
    below = escape(" · ".join(facts))
    return f"[bold]{entry['version']}[/bold]  {escape(entry['text'])}\n   [dim]{below}[/dim]"
