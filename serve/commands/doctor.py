"""``doctor``: what is installed, which models load, what the profile needs and lacks."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pipeline.errors import ConfigError
from serve.commands.checks import (
    Check,
    folder_check,
    index_check,
    machine_checks,
    model_check,
    service_check,
)
from serve.commands.screen import JsonOption, Screen, table
from serve.local.home import Home, current_home, models_dir
from serve.local.shipped import shipped


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(
    config: Annotated[
        Path | None, typer.Option(help="Settings file; the local profile if not given.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Do not load the models.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what is installed, what loads and what is missing."""
    screen, home = Screen(as_json=as_json), current_home()
    checks: list[Check] = []
    with screen.working("looking around") as say:
        for check in _checks(home, config or shipped("configs/local.yaml"), quick, say):
            checks.append(check)
    lacks = [check.name for check in checks if check.is_needed and not check.is_ok]
    if as_json:
        screen.document({"ok": not lacks, "lacks": lacks, "checks": [asdict(c) for c in checks]})
    else:
        screen.out.print(table("", ("", "what", "found", "to do"), [_row(c) for c in checks]))
        screen.out.print(f"lacking: {', '.join(lacks)}" if lacks else "nothing is lacking")
    if lacks:
        raise typer.Exit(1)


def _checks(
    home: Home, config: Path, is_quick: bool, say: Callable[[str], None]
) -> Iterator[Check]:
    yield folder_check(home)
    yield from machine_checks(home)
    yield service_check(home)
    yield index_check(home)
    if not is_quick:
        yield from _model_checks(home, config, say)


def _model_checks(home: Home, config: Path, say: Callable[[str], None]) -> Iterator[Check]:
    from serve.loading import load_attention, load_compressor, load_embedder
    from serve.settings import load

    folder = models_dir()
    try:
        models = load(config, home=home.path, models_dir=folder).models
    except ConfigError as exc:
        yield Check(
            name="settings", is_ok=False, is_needed=True, found=exc.message, fix=str(config)
        )
        return
    uses = (
        ("embedder", models.embedder, load_embedder),
        ("compressor", models.compressor, load_compressor),
        ("attention", models.attention, load_attention),
    )
    for use, name, loader in uses:
        if name is not None:
            say(f"loading {name}")
            yield model_check(
                use, name, partial(loader, name, models_dir=folder, threads=models.threads)
            )


def _row(check: Check) -> tuple[str, str, str, str]:
    mark = "ok" if check.is_ok else "lacks" if check.is_needed else "note"
    return mark, check.name, check.found, "" if check.is_ok else check.fix
