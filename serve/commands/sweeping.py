"""``eval sweep``: the command around ``serve.evaluation.sweep``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pipeline.errors import InputError
from serve.commands.screen import ConfigOption, JsonOption, Screen, table
from serve.local.home import models_dir
from serve.local.shipped import shipped

if TYPE_CHECKING:
    from serve.evaluation.sweep import Cell
    from serve.evaluation.sweep_place import Models
    from serve.settings import AppSettings

N = TypeVar("N", int, float)


def sweep(
    file: Annotated[Path, typer.Argument(help="A LoCoMo file.")],
    rates: Annotated[
        str, typer.Option(help="Compression rates in 0..1, commas between.")
    ] = "0.4,0.6,0.8",
    thresholds: Annotated[
        str, typer.Option(help="Tokens of the short-term buffer, commas between.")
    ] = "256,512,768,1024",
    quick: Annotated[
        bool, typer.Option("--quick", help="The first conversation alone: minutes on a laptop.")
    ] = False,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evidence recall, tokens, calls and time for each rate with each threshold.

    Runs in this process, in a temporary folder; no service is needed.
    """
    from serve.evaluation import locomo, sweep
    from serve.evaluation.screen import show
    from serve.replicas import walk_settings
    from serve.settings import load

    asked_rates = _numbers("rates", rates, float, lambda rate: 0 < rate <= 1)
    asked_thresholds = _numbers("thresholds", thresholds, int, lambda tokens: tokens > 0)
    samples = locomo.load(file, quick=quick)
    path = config or shipped("configs/local.yaml")
    settings = load(path, home=Path(), models_dir=models_dir())
    screen = Screen(as_json=as_json)
    models = _models(settings)
    cells = sweep.run(
        samples,
        models,
        walk_settings(settings),
        rates=asked_rates,
        thresholds=asked_thresholds,
        say=screen.say,
    )
    (screen.err if as_json else screen.out).print(_table(cells))
    show(sweep.report(cells, samples, models, file), as_json=as_json)


def _numbers(
    name: str, given: str, kind: Callable[[str], N], is_valid: Callable[[N], bool]
) -> list[N]:
    try:
        found = [kind(part) for part in given.split(",") if part.strip()]
    except ValueError as error:
        raise InputError(f"--{name}: expected numbers, got {given!r}", field=name) from error
    if not found or not all(is_valid(each) for each in found):
        raise InputError(f"--{name}: expected numbers in range, got {given!r}", field=name)
    return list(dict.fromkeys(found))


def _models(settings: "AppSettings") -> "Models":
    from serve.chat import chat_here
    from serve.evaluation.models import attention_of, compressor_of
    from serve.evaluation.sweep_place import Models
    from serve.loading import load_embedder, load_extractor, load_tokenizer

    named, place = settings.models, settings.models_dir
    if named.compressor is None:
        raise InputError("a sweep over rates needs models.compressor", field="models.compressor")
    tokenizer = load_tokenizer(named.tokenizer, models_dir=place)
    return Models(
        embedder=load_embedder(named.embedder, models_dir=place, threads=named.threads),
        compressor=compressor_of(settings),
        tokenizer=tokenizer,
        extractor=load_extractor(
            named.extractor,
            tokenizer=tokenizer,
            settings=settings.extraction,
            chat=chat_here(settings.chat, models_dir=place),
        ),
        attention=attention_of(settings),
        rule=settings.segmentation.rule,
        min_shift=settings.min_shift,
        max_similarity=settings.max_similarity,
    )


def _table(cells: "list[Cell]") -> object:
    from serve.evaluation.sweep import HEADLINE

    name = f"@{HEADLINE}"
    columns = ("rate", "threshold", f"recall {name}", "in", "out", "total", "calls", "seconds")
    rows = [
        (
            f"{cell.rate:g}",
            cell.threshold,
            f"{cell.recall[name]:.3f}",
            cell.input_tokens,
            cell.output_tokens,
            cell.total_tokens,
            cell.calls,
            f"{cell.seconds:.0f}",
        )
        for cell in cells
    ]
    return table("", columns, rows)
