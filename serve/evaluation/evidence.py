"""Evidence recall of a benchmark beside its floors: built, measured, slept, measured again."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pipeline.evaluate.evidence import Question, mean_recall
from pipeline.evaluate.losses import losses
from pipeline.evaluate.report import Claim, Report, at_least, at_most
from pipeline.messages import Json
from pipeline.ports import Embedder, Tokenizer
from serve.client import Client
from serve.evaluation.asking import (
    BUDGETS,
    HITS,
    KS,
    Asked,
    Found,
    ask,
    empty,
    floor,
    found_by,
    in_context,
    measures,
    window,
)
from serve.evaluation.homes import Homes, Took
from serve.evaluation.machine import machine
from serve.evaluation.samples import Sample, Say
from serve.evaluation.usage import summed
from serve.version import VERSION

Answer = Callable[[Client], Json]
"""Has a benchmark's questions answered by what a service holds, and tells the scores."""

ALL = "all"
MOST_LOST_IN_SLEEP = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """What is measured: samples, the groups their questions fall into, and what is asked of it.

    ``pools`` are groups whose questions are taken together, beside ``all``. ``margins`` say by how
    much a pool's measure must exceed the floor's; every other measure of ``all`` must reach it.
    ``at_least`` are bars that no floor sets.
    """

    name: str
    file: str
    samples: Sequence[Sample]
    groups: Sequence[str]
    pools: Mapping[str, Sequence[str]] = field(default_factory=dict)
    margins: Mapping[tuple[str, str], float] = field(default_factory=dict)
    at_least: Mapping[str, float] = field(default_factory=dict)

    @property
    def questions(self) -> list[Question]:
        """All of them, in the order of the samples."""
        return [question for sample in self.samples for question in sample.questions]


@dataclass(frozen=True, slots=True, kw_only=True)
class Floors:
    """What a plain search and a window of the newest messages find."""

    search: Found
    window: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured of one benchmark; ``slept`` is None without a sleep.

    ``answers`` are what a chat model's answers scored, by state, where one was asked.
    """

    floors: Floors
    built: Sequence[Asked]
    slept: Sequence[Asked] | None
    builds: Sequence[Took]
    sleep: Took | None
    seconds: Mapping[str, float]
    answers: Mapping[str, Json] = field(default_factory=dict)


def measure(
    homes: Homes,
    benchmark: Benchmark,
    *,
    embedder: Embedder,
    tokenizer: Tokenizer,
    sleep: bool,
    say: Say,
    answer: Answer | None = None,
) -> Figures:
    """Builds every sample, asks its questions, and asks them again after a sleep.

    Args:
        answer: has the questions answered, where that is wanted.
    """
    names = [homes.collection(benchmark.name, sample.name) for sample in benchmark.samples]
    places = list(zip(benchmark.samples, names, strict=True))
    seconds: dict[str, float] = {}
    builds: list[Took] = []
    with homes.awake() as client:
        for sample, name in places:
            asked = f"{len(sample.texts)} messages, {len(sample.questions)} questions"
            say(f"{sample.name}: {asked}")
            builds.append(homes.build(client, sample, collection=name))
        built = _asked(client, places, "ask", seconds)
        answers = {} if answer is None else {"built": answer(client)}
    slept = None
    if sleep:
        say("sleeping")
        with homes.asleep(names) as client:
            slept = _asked(client, places, "ask again", seconds, before=built)
            answers |= {} if answer is None else {"slept": answer(client)}
    began = time.monotonic()
    floors = _floors(benchmark.samples, embedder=embedder, tokenizer=tokenizer)
    return Figures(
        floors=floors,
        built=built,
        slept=slept,
        builds=builds,
        sleep=homes.slept if sleep else None,
        seconds=seconds | {"floor": time.monotonic() - began},
        answers=answers,
    )


def _asked(
    client: Client,
    places: Sequence[tuple[Sample, str]],
    what: str,
    seconds: dict[str, float],
    *,
    before: Sequence[Asked] = (),
) -> list[Asked]:
    """The answers of all samples in order; ``seconds`` gets how long they took."""
    began = time.monotonic()
    found: list[Asked] = []
    for sample, name in places:
        mine = before[len(found) : len(found) + len(sample.questions)]
        known = {one for each in mine for trail in each.trails.values() for one in trail.extracted}
        found += ask(client, sample, collection=name, extracted_before=known)
    seconds[what] = time.monotonic() - began
    return found


def _floors(samples: Sequence[Sample], *, embedder: Embedder, tokenizer: Tokenizer) -> Floors:
    search = empty()
    newest: Found = {in_context(budget): [] for budget in BUDGETS}
    for sample in samples:
        _extend(search, floor(sample, embedder=embedder, tokenizer=tokenizer))
        _extend(newest, window(sample, tokenizer=tokenizer))
    return Floors(search=search, window=newest)


def _extend(total: Found, part: Found) -> None:
    for name in total:
        total[name] += part[name]


# The report -------------------------------------------------------------------------------------


def report(
    benchmark: Benchmark,
    figures: Figures,
    *,
    config: Mapping[str, Json],
    extra: Mapping[str, Json] | None = None,
    claims: Sequence[Claim] = (),
) -> Report:
    """The figures with their claims, the configuration, the version, the machine and the date."""
    measured = {"built": figures.built} | ({"slept": figures.slept} if figures.slept else {})
    states: dict[str, Json] = {
        state: _state(benchmark, asked, figures.floors) for state, asked in measured.items()
    }
    return Report(
        name=benchmark.name,
        version=VERSION,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        config={
            "file": benchmark.file,
            "samples": [sample.name for sample in benchmark.samples],
            "messages": sum(len(sample.texts) for sample in benchmark.samples),
            "questions": len(benchmark.questions),
            "budgets": list(BUDGETS),
            "ranks": list(KS),
            "hits": HITS,
            "working_memory_tokens": 0,
            **config,
        },
        machine=machine(),
        claims=(*_claims(benchmark, figures), *claims),
        extra={
            **states,
            "build": _built(figures.builds),
            **({"sleep": figures.sleep.document()} if figures.sleep else {}),
            "seconds": {name: round(value, 1) for name, value in figures.seconds.items()},
            **({"answers": figures.answers} if figures.answers else {}),
            **(extra or {}),
        },
    )


def _built(builds: Sequence[Took]) -> dict[str, Json]:
    usage = summed([each.usage for each in builds])
    return Took(seconds=sum(each.seconds for each in builds), usage=usage).document()


def _claims(benchmark: Benchmark, figures: Figures) -> list[Claim]:
    found = _states_claims(benchmark, found_by(figures.built), figures.floors.search, "")
    if figures.slept is None:
        return found
    slept = found_by(figures.slept)
    found += _states_claims(benchmark, slept, figures.floors.search, ", slept")
    questions = benchmark.questions
    before = found_by(figures.built)
    return found + [
        at_most(
            f"evidence recall {name} lost through sleep",
            mean_recall(before[name], questions) - mean_recall(slept[name], questions),
            MOST_LOST_IN_SLEEP,
            unit="recall",
        )
        for name in measures()
    ]


def _states_claims(benchmark: Benchmark, found: Found, base: Found, state: str) -> list[Claim]:
    claims = [
        _over_floor(benchmark, found, base, pool=ALL, name=name, state=state) for name in measures()
    ]
    claims += [
        _over_floor(benchmark, found, base, pool=pool, name=name, state=state)
        for pool, name in benchmark.margins
        if pool != ALL
    ]
    return claims + [
        at_least(
            f"evidence recall {name}{state}",
            mean_recall(found[name], benchmark.questions),
            bar,
            unit="recall",
        )
        for name, bar in benchmark.at_least.items()
    ]


def _over_floor(
    benchmark: Benchmark, found: Found, base: Found, *, pool: str, name: str, state: str
) -> Claim:
    margin = benchmark.margins.get((pool, name), 0.0)
    places = _places(benchmark, pool)
    of = f" of {pool}" if pool != ALL else ""
    above = f"{margin:g} above the floor's" if margin else "the floor's"
    return at_least(
        f"evidence recall {name}{of}{state} is at least {above}",
        _recall(found[name], places, benchmark.questions),
        _recall(base[name], places, benchmark.questions) + margin,
        unit="recall",
    )


def _places(benchmark: Benchmark, pool: str) -> list[int]:
    """The questions of a pool or of a group, by their places."""
    groups = benchmark.groups if pool == ALL else benchmark.pools.get(pool, (pool,))
    return [i for i, each in enumerate(benchmark.questions) if each.category in groups]


def _recall(
    found: Sequence[Collection[str]], places: Sequence[int], questions: Sequence[Question]
) -> float:
    return mean_recall([found[i] for i in places], [questions[i] for i in places])


def _state(benchmark: Benchmark, asked: Sequence[Asked], floors: Floors) -> dict[str, Json]:
    found = found_by(asked)
    return {
        "recall": {
            pool: _row(benchmark, pool, found, floors)
            for pool in (ALL, *benchmark.pools, *benchmark.groups)
        },
        "losses": {
            in_context(budget): {
                pool: _lost(benchmark, pool, asked, budget) for pool in (ALL, *benchmark.pools)
            }
            for budget in BUDGETS
        },
        "context_tokens": {
            in_context(budget): _spread([each.tokens[budget] for each in asked])
            for budget in BUDGETS
        },
    }


def _row(benchmark: Benchmark, pool: str, found: Found, floors: Floors) -> dict[str, Json]:
    places, questions = _places(benchmark, pool), benchmark.questions
    row: dict[str, Json] = {"questions": len(places)}
    for name in measures():
        sides = {"search": found, "floor": floors.search, "newest messages": floors.window}
        row[name] = {
            side: round(_recall(of[name], places, questions), 4)
            for side, of in sides.items()
            if name in of
        }
    return row


def _lost(benchmark: Benchmark, pool: str, asked: Sequence[Asked], budget: int) -> dict[str, Json]:
    places = _places(benchmark, pool)
    trails = [asked[i].trails[budget] for i in places]
    shares = losses(trails, [benchmark.questions[i] for i in places])
    return {step.value: round(share, 4) for step, share in shares.items()}


def _spread(counts: Sequence[int]) -> dict[str, Json]:
    ordered = sorted(counts)
    if not ordered:
        return {}
    return {
        "mean": round(sum(ordered) / len(ordered), 1),
        "p50": ordered[len(ordered) // 2],
        "most": ordered[-1],
    }
