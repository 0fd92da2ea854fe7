"""``models install`` and ``models list``: the models that come as packages."""

from typing import Annotated

import typer

from actors.models import PACKAGED, install, installed, prepare, prepared
from serve.commands.screen import JsonOption, Screen, table
from serve.local.home import models_dir


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    group = typer.Typer(no_args_is_help=True, help="The models that come as packages.")
    group.command("install")(install_models)
    group.command("list")(list_models)
    app.add_typer(group, name="models")


def install_models(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which ones, as `list` names them; all if none.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch models with pip, pinned by hash, and prepare them for loading."""
    screen = Screen(as_json=as_json)
    chosen, folder = names or list(PACKAGED), models_dir()
    with screen.working(f"installing {', '.join(chosen)}") as say:
        install(chosen)
        for name in chosen:
            say(f"preparing {name}")
            prepare(name, folder)
    if as_json:
        screen.document({"installed": chosen, "folder": str(folder)})
        return
    screen.out.print(f"{len(chosen)} models are ready in {folder}")


def list_models(as_json: JsonOption = False) -> None:
    """Show the packaged models and whether each is here."""
    screen, folder = Screen(as_json=as_json), models_dir()
    rows = [
        {
            "name": model.name,
            "use": model.use,
            "package": f"{model.package}=={model.version}",
            "licence": model.licence,
            "installed": installed(model.name),
            "prepared": prepared(model.name, folder),
            "summary": model.summary,
        }
        for model in PACKAGED.values()
    ]
    if as_json:
        screen.document({"models": rows, "folder": str(folder)})
        return
    columns = ("name", "use", "package", "licence", "installed", "prepared")
    shown = [[_word(row[name]) for name in columns] for row in rows]
    screen.out.print(table("", columns, shown))


def _word(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
