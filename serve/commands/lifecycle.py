"""``up``, ``down``, ``status`` and ``version``: the local service as a whole."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from actors.index_paths import folders_set_aside
from pipeline.errors import AccessError, StoreError
from serve.commands.connection import service_url
from serve.commands.screen import JsonOption, Screen, shown, table
from serve.local.home import Home, current_home, models_dir
from serve.local.plan import planned
from serve.local.service import Started, recorded
from serve.local.service import down as end_service
from serve.local.service import up as start_service
from serve.operator_client import Operator, Report
from serve.replies import Collection
from serve.version import VERSION

_NO_SCOPE = 403

_ANEW = "was damaged and is made anew from the record store; the old one is kept as {kept}"


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    app.command()(up)
    app.command()(down)
    app.command()(status)
    app.command()(version)


def up(
    config: Annotated[
        Path | None, typer.Option(help="Settings file; the local profile if not given.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the API; 8430 if it is free.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Start the local service in the background, on loopback only."""
    screen, home = Screen(as_json=as_json), current_home()
    with screen.working(f"starting Slowwave in {home.path}") as say:
        plan = planned(home, config, models_dir=models_dir(), port=port, say=say)
        started = start_service(home, plan, say=say)
    if as_json:
        screen.document({**asdict(started.service), "started": started.is_new})
        return
    _show_started(screen, started, plan.notes)
    for kept in folders_set_aside(home.index_folder):
        screen.out.print(f"  index          {_ANEW.format(kept=escape(str(kept)))}")


def down(as_json: JsonOption = False) -> None:
    """End the local service and every process of it."""
    screen, home = Screen(as_json=as_json), current_home()
    with screen.working(f"ending Slowwave in {home.path}") as say:
        ended = end_service(home, say=say)
    if as_json:
        screen.document({"home": str(home.path), "ended_processes": ended})
    elif ended:
        screen.out.print(f"Slowwave is down ({ended} processes ended).")
    else:
        screen.out.print(f"No Slowwave service runs for {escape(str(home.path))}.")


def status(as_json: JsonOption = False) -> None:
    """Show the service, how far each tenant's messages are, and its collections."""
    screen, home = Screen(as_json=as_json), current_home()
    url = service_url(home)
    with Operator(url, os.environ.get("SLOWWAVE_API_KEY"), attempts=2) as client:
        is_ready = client.is_ready()
        reports = client.ingest_reports() if is_ready else []
        collections = _collections(client) if is_ready else []
    dashboard = _dashboard(home, url)
    if as_json:
        head = {"version": VERSION, "url": url, "ready": is_ready, "dashboard": dashboard}
        shown = {"home": str(home.path), "tenants": reports, "collections": collections}
        screen.document({**head, **shown})
        return
    if not is_ready:
        raise StoreError(f"no service is ready at {url}; see `slowwave doctor`")
    screen.out.print(f"Slowwave {VERSION} at {url}  (API: {url}/docs, Ray: {dashboard or '-'})")
    screen.out.print(_reports_table(reports))
    if collections is not None:
        screen.out.print(_collections_table(collections))


def version(as_json: JsonOption = False) -> None:
    """Print the version."""
    screen = Screen(as_json=as_json)
    if as_json:
        screen.document({"version": VERSION})
        return
    screen.out.print(VERSION)


def _show_started(screen: Screen, started: Started, notes: Sequence[str]) -> None:
    service = started.service
    if started.ended_remains:
        screen.out.print(f"Ended {started.ended_remains} processes that a killed service had left.")
    state = "is up" if started.is_new else "runs already"
    screen.out.print(f"Slowwave {service.version} {state} at [bold]{service.url}[/bold]")
    screen.out.print(f"  API docs       {service.url}/docs")
    screen.out.print(f"  Ray dashboard  {service.dashboard}  (token: {escape(service.token_file)})")
    screen.out.print(f"  settings       {escape(service.config)}")
    for note in notes if started.is_new else ():
        screen.out.print(f"  note           {escape(note)}", style="dim")
    if not started.is_new:
        screen.out.print("  `slowwave down` first to start with other settings", style="dim")


def _dashboard(home: Home, url: str) -> str | None:
    service = recorded(home)
    return service.dashboard if service is not None and service.url == url else None


def _collections(client: Operator) -> list[Collection] | None:
    """The collections of the key's tenant; None for a key that may see none, an operator's."""
    try:
        return client.collections()
    except AccessError as exc:
        if exc.status != _NO_SCOPE:
            raise
        return None


def _collections_table(collections: list[Collection]) -> object:
    if not collections:
        return "no collections yet; try `slowwave ingest FILE` or `slowwave demo`"
    columns = ("collection", "messages", "pending", "entries", "quarantined", "index lag")
    rows = [
        (
            shown(each["collection"]),
            each["messages"],
            each["pending"],
            each["entries"],
            each["quarantined"],
            each["index_lag"],
        )
        for each in collections
    ]
    return table("", columns, rows)


def _reports_table(reports: list[Report]) -> object:
    counts = ("accepted", "pending", "oldest", "extracted", "quarantined", "dropped")
    columns = ("tenant", *counts, "calls", "tokens")
    rows = [
        (
            each["tenant"],
            each["accepted"],
            each["pending"],
            "-" if (age := each["oldest_pending_age_s"]) is None else f"{age:.0f} s",
            each["extracted"],
            each["quarantined"],
            each["dropped"],
            each["usage"]["calls"],
            each["usage"]["tokens_in"] + each["usage"]["tokens_out"],
        )
        for each in reports
    ]
    failed = [f"{n} x {reason}" for each in reports for reason, n in each["failures"].items()]
    whole = [f"{n} x {reason}" for each in reports for reason, n in each["fallbacks"].items()]
    waits = [f"{n} x {reason}" for each in reports for reason, n in each["retrying"].items()]
    notes = [
        ("in quarantine", failed),
        ("not compressed", whole),
        ("collections that wait to be tried again", waits),
    ]
    told = [f"{what}: {'; '.join(why)}" for what, why in notes if why]
    return table("\n".join(told), columns, rows)
