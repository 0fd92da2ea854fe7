"""``eval``: the group that every evaluation joins."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.errors import ConfigError, InputError
from serve.commands.measuring import beam, locomo, longmemeval
from serve.commands.screen import ConfigOption, JsonOption, Screen
from serve.commands.sweeping import sweep
from serve.local.home import models_dir
from serve.local.shipped import shipped

EmbedderOption = Annotated[
    str | None, typer.Option("--embedder", help="Another embedding model than the settings name.")
]
SegmentRatesOption = Annotated[
    str, typer.Option("--rates", help="Rates of compression to measure too, or none.")
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Measure Slowwave on a data set.")
    group.callback()(_group)
    group.command()(locomo)
    group.command()(beam)
    group.command()(longmemeval)
    group.command()(sweep)
    group.command()(compress)
    group.command()(extract)
    group.command()(segment)
    group.command()(decide)
    app.add_typer(group, name="eval")


def _group() -> None:
    """Measure Slowwave on a data set."""


def extract(
    file: Annotated[Path, typer.Argument(help="A file of conversations in a known form.")],
    config: ConfigOption = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="Read only so many collections of the file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """What the extractor of the settings makes of a file: entries, calls, tokens, coverage.

    Runs in this process, without a service; the file is read into a store that goes afterwards.
    """
    from serve.chat import chat_here
    from serve.evaluation import extraction as evaluation
    from serve.evaluation.screen import show
    from serve.settings import load

    settings = load(config or shipped("configs/local.yaml"), home=Path(), models_dir=models_dir())
    screen = Screen(as_json=as_json)
    chat = chat_here(settings.chat, models_dir=settings.models_dir)
    report = evaluation.run(file, settings=settings, chat=chat, say=screen.say, first=first)
    show(report, as_json=as_json)
    if report.failed:
        raise typer.Exit(1)


RatesOption = Annotated[
    str, typer.Option("--rates", help="Shares of the tokens to keep, with commas between them.")
]


def compress(
    file: Annotated[Path, typer.Argument(help="A file of conversations in any known form.")],
    config: ConfigOption = None,
    rates: RatesOption = "0.4,0.6,0.8",
    as_json: JsonOption = False,
) -> None:
    """What compression keeps of a file's messages, and how fast it is.

    Tokens, numbers and negations kept, evidence recall beside uncompressed messages (LoCoMo files)
    and throughput beside the bare model. Loads the models of the settings; needs no service.
    """
    from actors.compressor import WordCompressor
    from serve.evaluation import compression as evaluation
    from serve.evaluation.screen import show
    from serve.loading import load_compressor, load_embedder, load_tokenizer
    from serve.settings import load

    asked = _rates(rates)
    evaluation.load(file)  # a wrong file is told before anything is loaded
    cache = models_dir()
    models = load(config or shipped("configs/local.yaml"), home=Path(), models_dir=cache).models
    if models.compressor is None:
        raise ConfigError("expected a model to measure, got none", field="models.compressor")
    name = models.compressor
    where, threads = cache, models.threads
    compressor = load_compressor(
        name, models_dir=where, threads=threads, tokenizer=models.tokenizer
    )
    if not isinstance(compressor, WordCompressor):
        raise ConfigError(f"expected a model to measure, got {name!r}", field="models.compressor")
    report = evaluation.run(
        file,
        compressor=compressor,
        model=name,
        tokenizer=load_tokenizer(models.tokenizer, models_dir=where),
        embedder=load_embedder(models.embedder, models_dir=where, threads=threads),
        rates=asked,
        say=Screen(as_json=as_json).say,
    )
    show(report, as_json=as_json)


def segment(
    file: Annotated[Path, typer.Argument(help="Dialogues with utterances and segment lengths.")],
    config: ConfigOption = None,
    embedder: EmbedderOption = None,
    rates: SegmentRatesOption = "0.4,0.6,0.8",
    as_json: JsonOption = False,
) -> None:
    """Topic boundaries beside labelled ones: Pk, WindowDiff and F1 of every rule and of the floor.

    Needs no service: the models of the settings run in this process.
    """
    from serve.evaluation import segmentation as evaluation
    from serve.evaluation.screen import show
    from serve.settings import load

    evaluation.load(file)  # a wrong file is told before anything starts
    asked = _rates(rates)
    cache = models_dir()
    settings = load(config or shipped("configs/local.yaml"), home=Path(), models_dir=cache)
    if embedder is not None:
        named = settings.models.model_copy(update={"embedder": embedder})
        settings = settings.model_copy(update={"models": named})
    screen = Screen(as_json=as_json)
    report = evaluation.run(
        file,
        models=evaluation.load_models(settings, compress=bool(asked)),
        choice=evaluation.choice_of(settings),
        rates=asked,
        say=screen.say,
    )
    show(report, as_json=as_json)


def decide(
    file: Annotated[Path, typer.Argument(help="Labelled cases, one JSON object a line.")],
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Decisions of the settings' decider beside labelled ones, by action and by language.

    Needs no service. The rule-based baseline is held to its bars; with models.decider chat the
    settings' chat model is asked, and its figures are told.
    """
    from serve.chat import chat_here
    from serve.evaluation import decisions as evaluation
    from serve.evaluation.screen import show
    from serve.settings import load

    evaluation.load(file)  # a wrong file is told before anything is loaded
    settings = load(config or shipped("configs/local.yaml"), home=Path(), models_dir=models_dir())
    chat = None
    if settings.models.decider == "chat":
        chat = chat_here(settings.chat, models_dir=settings.models_dir)
    screen = Screen(as_json=as_json)
    report = evaluation.run(file, settings=settings, chat=chat, say=screen.say)
    show(report, as_json=as_json)
    if report.failed:
        raise typer.Exit(1)


def _rates(text: str) -> list[float]:
    """``0.4,0.6`` as numbers; empty for ``none``. Raises InputError."""
    if text == "none":
        return []
    try:
        rates = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            f"expected numbers such as 0.4,0.6, got {text!r}", field="rates"
        ) from error
    if not all(0.0 < rate <= 1.0 for rate in rates):
        raise InputError(f"expected rates above 0 and up to 1, got {text!r}", field="rates")
    return rates
