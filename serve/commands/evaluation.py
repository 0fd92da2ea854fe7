"""``eval``: the group that every evaluation joins."""

import typer


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Measure Slowwave on a data set.")
    group.callback()(_group)
    app.add_typer(group, name="eval")


def _group() -> None:
    """Measure Slowwave on a data set."""
