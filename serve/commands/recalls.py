"""``recalls`` and ``why``: what was asked of memory, and what an answer rested on."""

from typing import Annotated

import typer
from rich.markup import escape

from serve.commands.connection import connect
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, shown, table
from serve.recall_client import RecallClient
from serve.replies import Reason, Recall, RecallKeeping, Why


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command()(recalls)
    app.command()(why)


def recalls(
    collection: Annotated[
        str | None, typer.Argument(help="One collection; all of them if not given.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 20,
    before: Annotated[
        str | None, typer.Option(help="Those before this recall, the last one shown.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option(help="Keep from now on of each question: hash or text.")
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, help="Keep recalls so many days from now on.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List what was asked, newest first, and what it took."""
    screen = Screen(as_json=as_json)
    only = None if collection is None else named("collection", collection)
    with connect() as client:
        asked = RecallClient(client)
        keeping = _kept(asked, keep, days)
        found = asked.recalls(only, limit=limit, before=before)
    if as_json:
        screen.document({"keeping": keeping, "recalls": found})
        return
    screen.out.print(_list(found) if found else "nothing was asked")
    screen.say(f"kept of a question: its {keeping['query']}, for {keeping['days']} days")


def _kept(client: RecallClient, query: str | None, days: int | None) -> RecallKeeping:
    keeping = client.keeping()
    if query is None and days is None:
        return keeping
    return client.keep(query=query or keeping["query"], days=days or keeping["days"])


def _list(found: list[Recall]) -> object:
    columns = ("recall", "at", "what", "collections", "question", "entries", "tokens", "ms")
    rows = [
        (
            one["id"],
            one["created_at"][:19],
            one["kind"],
            ", ".join(shown(name) for name in one["collections"]),
            shown(one["query"] or f"#{one['query_hash'][:12]}"),
            len(one["entries"]),
            one["tokens"],
            f"{1000 * one['seconds']:.1f}",
        )
        for one in found
    ]
    return table("recalls", columns, rows)


def why(
    recall: Annotated[str, typer.Argument(help="The id of a recall.")], as_json: JsonOption = False
) -> None:
    """Show what a recall returned, and the messages behind it as they are now."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        found = RecallClient(client).why(named("recall", recall))
    if as_json:
        screen.document(found)
        return
    screen.out.print(_head(found))
    for reason in found["reasons"]:
        screen.out.print(_lines(reason))


def _head(found: Why) -> str:
    recall = found["recall"]
    question = recall["query"] or f"#{recall['query_hash'][:12]}"
    facts = (recall["kind"], recall["created_at"][:19], f"{recall['tokens']} tokens")
    return f"[bold]{escape(shown(question))}[/bold]\n[dim]{escape(' · '.join(facts))}[/dim]"


def _lines(reason: Reason) -> str:
    recalled, now = reason["recalled"], reason["now"]
    score = "    -" if recalled["score"] is None else f"{recalled['score']:.3f}"
    state = "erased since" if now is None else f"{now['status']}, now version {now['version']}"
    facts = (f"version {recalled['version']}", state, recalled["entry"])
    first = f"[bold]{score}[/bold]  {escape(reason['text'] or '(erased)')}"
    said = [
        "       | " + escape(f"{one['speaker']}: {one['content'] or '(redacted)'}")
        for one in reason["messages"]
    ]
    return "\n".join([first, f"       [dim]{escape(' · '.join(facts))}[/dim]", *said])
