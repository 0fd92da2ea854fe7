"""``eval locomo``, ``eval beam`` and ``eval longmemeval``: the commands around their runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.messages import Json
from serve.commands.moving import written
from serve.commands.screen import ConfigOption, JsonOption, Screen
from serve.local.home import models_dir
from serve.local.shipped import shipped

if TYPE_CHECKING:
    from serve.evaluation.evidence import Benchmark, Figures
    from serve.settings import AppSettings

QuickOption = Annotated[
    bool, typer.Option("--quick", help="A fixed subset that takes at most five minutes.")
]
FirstOption = Annotated[
    int | None, typer.Option(min=1, help="Read only so many samples of the data set.")
]
SleepOption = Annotated[
    bool, typer.Option("--sleep", help="Measure again after a sleep, with what it lost.")
]
HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home", help="Keep what is built in this folder, and use what was built there before."
    ),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the whole document to this file.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the three commands are asked for alike."""

    config: Path | None
    home: Path | None
    sleep: bool
    as_json: bool
    output: Path | None


def locomo(
    file: Annotated[Path, typer.Argument(help="A LoCoMo file.")],
    config: ConfigOption = None,
    quick: QuickOption = False,
    first: FirstOption = None,
    sleep: SleepOption = False,
    home: HomeOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evidence recall beside a plain search over the raw messages.

    Runs on a service of its own in a temporary home, or on SLOWWAVE_URL where that is set; without
    --config no language model is asked.
    """
    from serve.evaluation import locomo as evaluation

    samples = evaluation.load(file, quick=quick, first=first)
    _measure(
        evaluation.benchmark(file, samples),
        Options(config=config, home=home, sleep=sleep, as_json=as_json, output=output),
    )


def beam(
    folder: Annotated[Path, typer.Argument(help="A folder with BEAM chats, or one chat's own.")],
    config: ConfigOption = None,
    quick: QuickOption = False,
    first: FirstOption = None,
    sleep: SleepOption = False,
    home: HomeOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evidence recall by ability on BEAM chats, beside a plain search over the raw messages.

    Each chat has a folder with chat.json and probing_questions.json. Runs as eval locomo does.
    """
    from serve.evaluation import beam as evaluation

    samples = evaluation.load(folder, quick=quick, first=first)
    _measure(
        evaluation.benchmark(folder, samples),
        Options(config=config, home=home, sleep=sleep, as_json=as_json, output=output),
    )


def longmemeval(
    file: Annotated[Path, typer.Argument(help="A LongMemEval file.")],
    config: ConfigOption = None,
    quick: QuickOption = False,
    first: FirstOption = None,
    sleep: SleepOption = False,
    home: HomeOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evidence recall by question type on LongMemEval, beside a plain search.

    Every question has a history of its own, which is built. Runs as eval locomo does.
    """
    from serve.evaluation import longmemeval as evaluation

    items = evaluation.load(file, quick=quick, first=first)
    samples = evaluation.samples(items)

    def sessions(figures: "Figures") -> dict[str, Json]:
        return {"sessions": evaluation.sessions_found(figures.built, samples, items)}

    _measure(
        evaluation.benchmark(file, samples),
        Options(config=config, home=home, sleep=sleep, as_json=as_json, output=output),
        extra=sessions,
    )


def _measure(
    benchmark: "Benchmark",
    options: Options,
    extra: "Callable[[Figures], Mapping[str, Json]]" = lambda figures: {},
) -> None:
    from serve.evaluation.evidence import measure, report
    from serve.evaluation.homes import homes
    from serve.evaluation.screen import show
    from serve.loading import load_embedder, load_tokenizer

    settings = _settings(options.config)
    screen = Screen(as_json=options.as_json)
    models, cache = settings.models, settings.models_dir
    with homes(options.home, config=options.config, say=screen.say) as places:
        figures = measure(
            places,
            benchmark,
            embedder=load_embedder(models.embedder, models_dir=cache, threads=models.threads),
            tokenizer=load_tokenizer(models.tokenizer, models_dir=cache),
            sleep=options.sleep,
            say=screen.say,
        )
    found = report(
        benchmark,
        figures,
        config={"settings": _told(settings)},
        extra=extra(figures),
    )
    if options.output is not None:
        with written(options.output) as file:
            file.write(found.to_json().encode() + b"\n")
    show(found, as_json=options.as_json)


def _settings(config: Path | None) -> "AppSettings":
    from serve.settings import load

    return load(config or shipped("configs/local.yaml"), home=Path(), models_dir=models_dir())


def _told(settings: "AppSettings") -> dict[str, Json]:
    """The settings as a result shows them: all but where things lie on this machine."""
    found: dict[str, Json] = settings.model_dump(mode="json", exclude={"home", "models_dir"})
    return found
