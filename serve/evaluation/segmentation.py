"""``eval segment``: topic boundaries beside labelled ones, by every rule and by a plain floor.

Each utterance of a dialogue is a turn. The rules read the whole dialogue; the shipped rule is also
measured on the windows that ingestion would cut, and on compressed text: there models read what
compression left, and wording is read in the original, which the service keeps beside it. (The
service's own segmenter reads originals throughout.)
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from pipeline.awake.cues import leanings
from pipeline.awake.segment import Rule, Signals, boundaries
from pipeline.awake.window import overfull
from pipeline.errors import InputError
from pipeline.evaluate.report import Claim, Report, at_most
from pipeline.evaluate.segmentation import (
    Agreement,
    Dialogue,
    agreement,
    dialogues,
    floor_boundaries,
)
from pipeline.messages import Json
from pipeline.ports import AttentionModel, Compressor, Embedder, Purpose, Tokenizer, Vectors
from serve.evaluation.machine import machine
from serve.evaluation.models import compressor_of
from serve.loading import load_attention, load_embedder, load_tokenizer
from serve.segmenting import Segmenting
from serve.settings import AppSettings
from serve.version import VERSION

MOST_LOST = 0.03
"""Pk that compression may cost."""

_TITLES = {
    Rule.ATTENTION: "attention alone",
    Rule.SIMILARITY: "similarity alone",
    Rule.PAPER: "the paper's rule",
    Rule.COMBINED: "similarity, attention and wording",
}
_SHIPPED = "the shipped default"
_FLOOR = "the floor (depth score)"

Say = Callable[[str], None]
Texts = Sequence[Sequence[str]]
Found = list[list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What an evaluation runs; without a compressor nothing is measured on compressed text."""

    embedder: Embedder
    attention: AttentionModel
    tokenizer: Tokenizer
    compressor: Compressor | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The shipped rule with its thresholds, and how large its windows are."""

    rule: Rule
    min_shift: float
    max_similarity: float
    window_tokens: int

    def by(self, rule: Rule, signals: Sequence[Signals]) -> Found:
        """Boundaries of each dialogue by any rule with these thresholds."""
        return [
            boundaries(
                each, rule=rule, min_shift=self.min_shift, max_similarity=self.max_similarity
            )
            for each in signals
        ]


def load_models(settings: AppSettings, *, compress: bool) -> Models:
    """The models that the settings name. Raises ConfigError."""
    named, folder, threads = settings.models, settings.models_dir, settings.models.threads
    return Models(
        embedder=load_embedder(named.embedder, models_dir=folder, threads=threads),
        attention=load_attention(settings.attention, models_dir=folder, threads=threads),
        tokenizer=load_tokenizer(named.tokenizer, models_dir=folder),
        compressor=compressor_of(settings) if compress else None,
    )


def choice_of(settings: AppSettings) -> Choice:
    """The rule and thresholds that the settings ship."""
    return Choice(
        rule=settings.segmentation.rule,
        min_shift=settings.min_shift,
        max_similarity=settings.max_similarity,
        window_tokens=settings.window.capacity_tokens,
    )


def load(path: Path) -> list[Dialogue]:
    """The labelled dialogues of a file. Raises InputError where it has another form."""
    try:
        return dialogues(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}", field="file") from error


class Evaluation:
    """One file, one set of models, one choice of rule."""

    def __init__(self, labelled: Sequence[Dialogue], *, models: Models, choice: Choice) -> None:
        self._labelled = labelled
        self._models = models
        self._choice = choice
        self._known: dict[str, Vectors] = {}
        self._segmenting = Segmenting(
            embed=self._embed,
            attention=models.attention,
            rule=Rule.COMBINED,
            min_shift=choice.min_shift,
            max_similarity=choice.max_similarity,
        )

    def rules(self) -> dict[str, Agreement]:
        """Every rule, the shipped one and the floor over whole dialogues."""
        texts = [dialogue.turns for dialogue in self._labelled]
        signals = self.signals(texts)
        rows = {
            title: self.score(self._choice.by(rule, signals)) for rule, title in _TITLES.items()
        }
        rows[_SHIPPED] = self.score(self._choice.by(self._choice.rule, signals))
        flat = [turn for turns in texts for turn in turns]
        passages = self._models.embedder.embed(flat, purpose="passage")
        ends = np.cumsum([len(turns) for turns in texts])[:-1]
        rows[_FLOOR] = self.score([floor_boundaries(each) for each in np.split(passages, ends)])
        return rows

    def compressed(self, rate: float, *, compressor: Compressor) -> tuple[Agreement, Agreement]:
        """The shipped rule over texts compressed to this rate: with original wording, without."""
        flat = [turn for dialogue in self._labelled for turn in dialogue.turns]
        kept = iter(compressor.compress(flat, rate=rate))
        texts = [[next(kept).text for _ in dialogue.turns] for dialogue in self._labelled]
        alone = self.signals(texts)
        worded = [
            replace(each, leanings=leanings(dialogue.turns))
            for each, dialogue in zip(alone, self._labelled, strict=True)
        ]
        by = self._choice.rule
        return self.score(self._choice.by(by, worded)), self.score(self._choice.by(by, alone))

    def windowed(self, tokens: int) -> Agreement:
        """The shipped rule over the windows of at most this many tokens that ingestion cuts."""
        texts = [dialogue.turns for dialogue in self._labelled]
        counts = [self._models.tokenizer.count(turns) for turns in texts]
        found: Found = [[] for _ in texts]
        open_at = dict.fromkeys(range(len(texts)), 0)
        while open_at:
            ends = {i: _window_end(counts[i], start, tokens) for i, start in open_at.items()}
            heads = [texts[i][start : ends[i]] for i, start in open_at.items()]
            cuts = self._choice.by(self._choice.rule, self.signals(heads))
            for (i, start), here in zip(list(open_at.items()), cuts, strict=True):
                leaving = [start + cut for cut in here]
                is_last = ends[i] == len(texts[i])
                found[i] += leaving if leaving or is_last else [ends[i]]
                open_at[i] = found[i][-1] if not is_last else len(texts[i])
            open_at = {i: start for i, start in open_at.items() if start < len(texts[i])}
        return self.score(found)

    def signals(self, texts: Texts) -> list[Signals]:
        """What every rule looks at."""
        return asyncio.run(self._segmenting.signals(texts))

    def score(self, found: Found) -> Agreement:
        """How well these boundaries agree with the labelled ones."""
        turns = [len(dialogue.turns) for dialogue in self._labelled]
        return agreement(found, [dialogue.labelled for dialogue in self._labelled], turns)

    async def _embed(
        self, texts: Sequence[str], *, purpose: Purpose, owners: Sequence[str] = ()
    ) -> Vectors:
        """Vectors, each text embedded once in an evaluation."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = self._models.embedder.embed(fresh, purpose=purpose)
        self._known.update(zip(fresh, made, strict=True))
        return np.stack([self._known[text] for text in texts])


def _window_end(counts: Sequence[int], start: int, tokens: int) -> int:
    """Behind the last turn of the window that is cut when it has grown too large."""
    count = overfull(counts[start:], capacity_tokens=tokens)
    return len(counts) if count is None else start + count


# The report -------------------------------------------------------------------------------------


def run(path: Path, *, models: Models, choice: Choice, rates: Sequence[float], say: Say) -> Report:
    """The evaluation of one file; ``rates`` are those of compression, in 0..1."""
    labelled = load(path)
    evaluation = Evaluation(labelled, models=models, choice=choice)
    turns = sum(len(dialogue.turns) for dialogue in labelled)
    say(f"{path.name}: {len(labelled)} dialogues, {turns} turns, {models.embedder.model}")
    began = time.monotonic()
    rows = evaluation.rules()
    seconds = {"rules": time.monotonic() - began}
    windows = evaluation.windowed(choice.window_tokens)
    seconds["windows"] = time.monotonic() - began - seconds["rules"]
    compressed: dict[float, tuple[Agreement, Agreement]] = {}
    if models.compressor is not None:
        for rate in rates:
            say(f"compressing to {rate:.0%}")
            compressed[rate] = evaluation.compressed(rate, compressor=models.compressor)
    return Report(
        name="segment",
        version=VERSION,
        config=_config(path, labelled, models=models, choice=choice),
        machine=machine(),
        claims=tuple(_claims(rows, windows, compressed)),
        extra={
            "rules": {title: _row(row) for title, row in rows.items()},
            "windows": _row(windows),
            "compressed": {str(rate): _row(row) for rate, (row, _) in compressed.items()},
            "seconds": {name: round(value, 1) for name, value in seconds.items()},
        },
    )


def _config(
    path: Path, labelled: Sequence[Dialogue], *, models: Models, choice: Choice
) -> dict[str, Json]:
    return {
        "file": path.name,
        "dialogues": len(labelled),
        "labelled_boundaries": sum(len(dialogue.labelled) for dialogue in labelled),
        "embedder": models.embedder.model,
        "shipped_rule": choice.rule.value,
        "min_shift": choice.min_shift,
        "max_similarity": choice.max_similarity,
        "window_tokens": choice.window_tokens,
        "k": "half the mean length of the labelled segments of each dialogue",
    }


def _claims(
    rows: Mapping[str, Agreement],
    windows: Agreement,
    compressed: Mapping[float, tuple[Agreement, Agreement]],
) -> list[Claim]:
    shipped = rows[_SHIPPED]
    others = [_TITLES[Rule.ATTENTION], _TITLES[Rule.SIMILARITY], _FLOOR]
    return [
        *(claim for title, row in rows.items() for claim in _figures(title, row)),
        *_figures(f"{_SHIPPED}, through windows", windows),
        *(
            at_most(
                f"Pk of {_SHIPPED} is at most that of {other}",
                shipped.pk,
                rows[other].pk,
                unit="Pk",
            )
            for other in others
        ),
        *(
            at_most(
                f"Pk lost on text compressed to {rate}", row.pk - shipped.pk, MOST_LOST, unit="Pk"
            )
            for rate, (row, _) in compressed.items()
        ),
        *(
            Claim(
                claim=f"the same, wording read in the text compressed to {rate} too",
                value=row.pk - shipped.pk,
                unit="Pk",
            )
            for rate, (_, row) in compressed.items()
        ),
    ]


def _figures(title: str, row: Agreement) -> list[Claim]:
    return [
        Claim(claim=title, value=row.pk, unit="Pk"),
        Claim(claim=title, value=row.windowdiff, unit="WindowDiff"),
        Claim(claim=title, value=row.f1, unit="F1"),
    ]


def _row(row: Agreement) -> dict[str, Json]:
    return {name: round(value, 4) for name, value in asdict(row).items()}
