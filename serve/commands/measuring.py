"""``eval locomo``, ``eval beam`` and ``eval longmemeval``: the commands around their runs."""

from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.errors import ConfigError, InputError
from pipeline.messages import Json
from serve.commands.moving import written
from serve.commands.screen import ConfigOption, JsonOption, Screen
from serve.local.home import models_dir
from serve.local.shipped import shipped

if TYPE_CHECKING:
    from pipeline.evaluate.posed import Posed
    from pipeline.ports import ChatModel
    from serve.evaluation.answers import Jury
    from serve.evaluation.evidence import Answer, Benchmark, Figures
    from serve.evaluation.homes import Homes
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
ReaderOption = Annotated[
    Path | None,
    typer.Option("--reader", help="Settings whose chat model answers the questions."),
]
JudgeOption = Annotated[
    Path | None, typer.Option("--judge", help="Settings whose chat model judges the answers.")
]
NliOption = Annotated[
    str | None,
    typer.Option("--nli", help="A model of inference that tells what follows from the context."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the three commands are asked for alike."""

    config: Path | None
    home: Path | None
    sleep: bool
    as_json: bool
    output: Path | None
    reader: Path | None
    judge: Path | None
    nli: str | None

    def __post_init__(self) -> None:
        given = {"judge": self.judge, "nli": self.nli}
        for name, value in given.items():
            if value is not None and self.reader is None:
                raise InputError(
                    f"--{name} judges answers; expected --reader with a chat model", field=name
                )


def locomo(
    file: Annotated[Path, typer.Argument(help="A LoCoMo file.")],
    config: ConfigOption = None,
    quick: QuickOption = False,
    first: FirstOption = None,
    sleep: SleepOption = False,
    home: HomeOption = None,
    reader: ReaderOption = None,
    judge: JudgeOption = None,
    nli: NliOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evidence recall beside a plain search over the raw messages.

    Runs on a service of its own in a temporary home, or on SLOWWAVE_URL where that is set; without
    --config no language model is asked.
    """
    from serve.evaluation import locomo as evaluation

    options = Options(
        config=config,
        home=home,
        sleep=sleep,
        as_json=as_json,
        output=output,
        reader=reader,
        judge=judge,
        nli=nli,
    )
    samples = evaluation.load(file, quick=quick, first=first)
    _measure(
        evaluation.benchmark(file, samples),
        options,
        posed=lambda: evaluation.posed(file, samples),
    )


def beam(
    folder: Annotated[Path, typer.Argument(help="A folder with BEAM chats, or one chat's own.")],
    config: ConfigOption = None,
    quick: QuickOption = False,
    first: FirstOption = None,
    sleep: SleepOption = False,
    home: HomeOption = None,
    reader: ReaderOption = None,
    judge: JudgeOption = None,
    nli: NliOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evidence recall by ability on BEAM chats, beside a plain search over the raw messages.

    Each chat has a folder with chat.json and probing_questions.json. Runs as eval locomo does.
    """
    from serve.evaluation import beam as evaluation

    options = Options(
        config=config,
        home=home,
        sleep=sleep,
        as_json=as_json,
        output=output,
        reader=reader,
        judge=judge,
        nli=nli,
    )
    samples = evaluation.load(folder, quick=quick, first=first)
    _measure(
        evaluation.benchmark(folder, samples),
        options,
        posed=lambda: evaluation.posed(folder, samples),
    )


def longmemeval(
    file: Annotated[Path, typer.Argument(help="A LongMemEval file.")],
    config: ConfigOption = None,
    quick: QuickOption = False,
    first: FirstOption = None,
    sleep: SleepOption = False,
    home: HomeOption = None,
    reader: ReaderOption = None,
    judge: JudgeOption = None,
    nli: NliOption = None,
    output: OutputOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evidence recall by question type on LongMemEval, beside a plain search.

    Every question has a history of its own, which is built. Runs as eval locomo does.
    """
    from serve.evaluation import longmemeval as evaluation

    options = Options(
        config=config,
        home=home,
        sleep=sleep,
        as_json=as_json,
        output=output,
        reader=reader,
        judge=judge,
        nli=nli,
    )
    items = evaluation.load(file, quick=quick, first=first)
    samples = evaluation.samples(items, with_abstention=reader is not None)

    def sessions(figures: "Figures") -> dict[str, Json]:
        return {"sessions": evaluation.sessions_found(figures.built, samples, items)}

    _measure(
        evaluation.benchmark(file, samples),
        options,
        posed=lambda: evaluation.posed(items),
        extra=sessions,
    )


def _measure(
    benchmark: "Benchmark",
    options: Options,
    *,
    posed: "Callable[[], list[tuple[str, Posed]]]",
    extra: "Callable[[Figures], Mapping[str, Json]]" = lambda figures: {},
) -> None:
    from serve.evaluation.evidence import measure, report
    from serve.evaluation.homes import homes
    from serve.evaluation.screen import show
    from serve.loading import load_embedder, load_tokenizer

    settings = _settings(options.config)
    screen = Screen(as_json=options.as_json)
    models, cache = settings.models, settings.models_dir
    jury = _jury(options)
    with (
        nullcontext() if jury is None else closing(jury),
        homes(options.home, config=options.config, say=screen.say) as places,
    ):
        figures = measure(
            places,
            benchmark,
            embedder=load_embedder(models.embedder, models_dir=cache, threads=models.threads),
            tokenizer=load_tokenizer(models.tokenizer, models_dir=cache),
            sleep=options.sleep,
            say=screen.say,
            answer=None if jury is None else _answering(benchmark, places, posed(), jury),
        )
    found = report(
        benchmark,
        figures,
        config={"settings": _told(settings), **({} if jury is None else {"jury": jury.names})},
        extra=extra(figures),
    )
    if options.output is not None:
        with written(options.output) as file:
            file.write(found.to_json().encode() + b"\n")
    show(found, as_json=options.as_json)


def _answering(
    benchmark: "Benchmark",
    places: "Homes",
    posed: "list[tuple[str, Posed]]",
    jury: "Jury",
) -> "Answer":
    from serve.evaluation.answers import answered

    asked = [(places.collection(benchmark.name, name), each) for name, each in posed]
    return lambda client: answered(client, asked, jury)


def _jury(options: Options) -> "Jury | None":
    """Who answers and judges; None where no answers are asked for."""
    if options.reader is None:
        return None
    from serve.evaluation.answers import Jury
    from serve.loading import load_entailment

    nli = None if options.nli is None else load_entailment(options.nli, models_dir=models_dir())
    judge = None if options.judge is None else _chat(options.judge, "judge")
    return Jury(reader=_chat(options.reader, "reader"), judge=judge, entailment=nli)


def _chat(config: Path, option: str) -> "ChatModel":
    from serve.chat import chat_here

    settings = _settings(config)
    chat = chat_here(settings.chat, models_dir=settings.models_dir)
    if chat is None:
        raise ConfigError(f"expected settings with a section chat, got {config}", field=option)
    return chat


def _settings(config: Path | None) -> "AppSettings":
    from serve.settings import load

    return load(config or shipped("configs/local.yaml"), home=Path(), models_dir=models_dir())


def _told(settings: "AppSettings") -> dict[str, Json]:
    """The settings as a result shows them: all but where things lie on this machine."""
    found: dict[str, Json] = settings.model_dump(mode="json", exclude={"home", "models_dir"})
    return found
