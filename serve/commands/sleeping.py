"""``sleep``, ``runs``, ``undo`` and ``redo``: consolidation and taking it back."""

import time
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.markup import escape

from pipeline.errors import SlowwaveError
from serve.client import Client
from serve.commands.connection import connect
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, table
from serve.replies import Decision, Run, UndoItem

_POLL_S = 0.3
RunArgument = Annotated[str, typer.Argument(help="The id of a sleep run, as `runs` shows it.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command()(sleep)
    app.command()(runs)
    app.command()(undo)
    app.command()(redo)


def sleep(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the decisions without applying them.")
    ] = False,
    collection: Annotated[
        str | None, typer.Option(help="Only this collection; all that are due if not given.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Consolidate what is due, and show every decision."""
    screen = Screen(as_json=as_json)
    only = None if collection is None else named("collection", collection)
    with connect() as client, screen.working("sleeping") as say:
        run = finished_run(client, client.sleep(dry_run=dry_run, collection=only))
        say("reading the decisions")
        decisions = client.decisions(run["id"])
    if as_json:
        screen.document({"run": run, "decisions": decisions})
        return
    screen.out.print(decisions_view(decisions))
    screen.out.print(totals_line(run))


def runs(as_json: JsonOption = False) -> None:
    """List the sleep runs, newest first."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        found = client.runs()
    if as_json:
        screen.document({"runs": found})
        return
    rows = [
        (
            run["id"],
            run["status"] + (", undone" if run["undone"] else ""),
            "yes" if run["dry_run"] else "",
            run["started_at"][:19],
            *(run["totals"].get(name, 0) for name in ("update", "delete", "ignore", "failed")),
        )
        for run in found
    ]
    columns = ("run", "status", "dry run", "started", "update", "delete", "ignore", "failed")
    screen.out.print(table("", columns, rows) if rows else "no sleep runs yet")


def undo(run: RunArgument, as_json: JsonOption = False) -> None:
    """Take a sleep run back, entry by entry."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        items = client.undo(named("run", run))
    _show_items(screen, run, "undone", items)


def redo(run: RunArgument, as_json: JsonOption = False) -> None:
    """Apply an undone run again, without calling a model."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        items = client.redo(named("run", run))
    _show_items(screen, run, "applied again", items)


def finished_run(client: Client, run: Run) -> Run:
    """The run once it has ended. Raises SlowwaveError when it failed."""
    while run["finished_at"] is None:
        time.sleep(_POLL_S)
        run = client.run(run["id"])
    if run["error"]:
        raise SlowwaveError(f"sleep run {run['id']} {run['status']}: {run['error']}")
    return run


def totals_line(run: Run) -> str:
    """What a run came to, in one line."""
    counts = ", ".join(f"{name} {count}" for name, count in run["totals"].items())
    word = "would be (dry run)" if run["dry_run"] else "done"
    return escape(f"run {run['id']} {word}: {counts or 'nothing was due'}")


def decisions_view(decisions: list[Decision]) -> RenderableType:
    """Every decision with its reason, both texts and the newest candidate."""
    blocks: list[RenderableType] = [_decision_lines(decision) for decision in decisions]
    return Group(*blocks)


def _decision_lines(decision: Decision) -> str:
    style = {"update": "cyan", "delete": "red"}.get(decision["action"], "dim")
    note = "" if decision["state"] == "applied" else f" ({decision['state']})"
    lines = [
        f"[{style}]{escape(decision['action'] + note)}[/{style}] {escape(decision['reason'])}",
        f"  older   {escape(decision['text_before'])}",
    ]
    lines += [
        f"  newer   {escape(candidate['text'] or candidate['entry'])}"
        for candidate in decision["candidates"][:3]
    ]
    if decision["text_after"] and decision["text_after"] != decision["text_before"]:
        lines.append(f"  becomes {escape(decision['text_after'])}")
    return "\n".join(lines)


def _show_items(screen: Screen, run: str, word: str, items: list[UndoItem]) -> None:
    if screen.as_json:
        screen.document({"run": run, "items": items})
        return
    done = sum(item["done"] for item in items)
    screen.out.print(f"{done} of {len(items)} entries {word}")
    refused = [(item["entry"], item["refused"]) for item in items if not item["done"]]
    if refused:
        screen.out.print(table("refused", ("entry", "reason"), refused))
