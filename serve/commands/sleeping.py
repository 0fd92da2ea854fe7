"""``sleep``, ``runs``, ``undo`` and ``redo``: consolidation and taking it back.

``sleep`` by itself starts a run; ``sleep schedule`` and ``sleep ledger`` are its subcommands.
"""

import time
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.console import Group, RenderableType
from rich.markup import escape

from pipeline.entries import Kind
from pipeline.errors import SlowwaveError
from serve.client import Client
from serve.commands import schedule
from serve.commands.connection import connect
from serve.commands.moving import written
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, table
from serve.replies import Decision, Run, UndoItem
from serve.sleep_client import SleepClient

_POLL_S = 0.3
RunArgument = Annotated[str, typer.Argument(help="The id of a sleep run, as `runs` shows it.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    asleep = typer.Typer(invoke_without_command=True)
    asleep.callback()(sleep)
    asleep.command()(ledger)
    asleep.add_typer(schedule.group(), name="schedule")
    app.add_typer(asleep, name="sleep")
    app.command()(runs)
    app.command()(undo)
    app.command()(redo)


def sleep(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the decisions without applying them.")
    ] = False,
    collection: Annotated[
        str | None, typer.Option(help="Only this collection; all that are due if not given.")
    ] = None,
    kind: Annotated[list[Kind] | None, typer.Option(help="Only entries of this kind.")] = None,
    speaker: Annotated[list[str] | None, typer.Option(help="Only entries of this speaker.")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only entries of this topic.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compare every pair again, as the published pass does.")
    ] = False,
    min_similarity: Annotated[
        float | None, typer.Option(min=-1.0, max=1.0, help="The least cosine of a candidate.")
    ] = None,
    absorb: Annotated[
        bool | None,
        typer.Option(help="Let a candidate rest that the updated entry holds whole."),
    ] = None,
    lasting: Annotated[
        str | None, typer.Option("--for", help="End cleanly after this time: 90m, 4h.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="End cleanly once so many tokens are used.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Consolidate what is due, and show every decision."""
    if context.invoked_subcommand is not None:
        return
    screen = Screen(as_json=as_json)
    asked: dict[str, JsonValue] = {
        "dry_run": dry_run,
        "collection": None if collection is None else named("collection", collection),
        "kinds": [each.value for each in kind or ()],
        "speakers": list(speaker or ()),
        "topics": list(topic or ()),
        "full": full,
        "min_similarity": min_similarity,
        "absorb": absorb,
        "max_s": None if lasting is None else schedule.seconds(lasting, field="for"),
        "max_tokens": tokens,
    }
    given = {name: value for name, value in asked.items() if not _is_left_out(value)}
    with connect() as client, screen.working("sleeping") as say:
        run = finished_run(client, SleepClient(client).start(given))
        say("reading the decisions")
        decisions = client.decisions(run["id"])
    if as_json:
        screen.document({"run": run, "decisions": decisions})
        return
    screen.out.print(decisions_view(decisions))
    screen.out.print(totals_line(run))


def _is_left_out(value: JsonValue) -> bool:
    """Whether an option was not given; a number that is 0 was."""
    return value is None or value is False or value == []


def ledger(
    run: RunArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The Parquet file to write.")],
) -> None:
    """Write every decision of a run to a Parquet file, one row each."""
    with connect() as client, written(output) as file:
        for piece in SleepClient(client).ledger(named("run", run)):
            file.write(piece)


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
            _state(run),
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


def _state(run: Run) -> str:
    stop = "" if run["stop"] is None else f" ({run['stop']})"
    return run["status"] + stop + (", undone" if run["undone"] else "")


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
    if run["stop"] is not None:
        word = f"stopped ({run['stop']}), the rest is due in the next one"
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
