"""``eval``: the group that every evaluation joins."""

from pathlib import Path
from typing import Annotated

import typer

from serve.commands.screen import JsonOption, Screen
from serve.local.home import models_dir
from serve.local.shipped import shipped

QuickOption = Annotated[
    bool, typer.Option("--quick", help="A fixed subset that takes at most five minutes.")
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Measure Slowwave on a data set.")
    group.callback()(_group)
    group.command()(locomo)
    app.add_typer(group, name="eval")


def _group() -> None:
    """Measure Slowwave on a data set."""


def locomo(
    file: Annotated[Path, typer.Argument(help="A LoCoMo file.")],
    quick: QuickOption = False,
    as_json: JsonOption = False,
) -> None:
    """Evidence recall beside a plain search over the raw messages, without a language model.

    Runs on a service of its own in a temporary home, or on SLOWWAVE_URL where that is set.
    """
    from serve.evaluation import locomo as evaluation
    from serve.evaluation.screen import show
    from serve.loading import load_embedder, load_tokenizer
    from serve.local.temporary import temporary_service
    from serve.settings import load

    evaluation.load(file, quick=quick)  # a wrong file is told before anything starts
    cache = models_dir()
    models = load(shipped("configs/local.yaml"), home=Path(), models_dir=cache).models
    screen = Screen(as_json=as_json)
    with temporary_service(say=screen.say) as client:
        report = evaluation.run(
            client,
            file,
            embedder=load_embedder(models.embedder, models_dir=cache, threads=models.threads),
            tokenizer=load_tokenizer(models.tokenizer, models_dir=cache),
            quick=quick,
            say=screen.say,
        )
    show(report, as_json=as_json)
