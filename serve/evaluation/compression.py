"""``eval compress``: what a compressor keeps of a file's messages, what is found, and how fast.

Speed is against the bare forward pass: the same model over the same batches of the same texts with
the same threads, with nothing read off; both take turns in the same run. Evidence recall is that
of a plain search (BM25 and the embedder, fused by rank) over the compressed messages, beside the
same search over the originals; only a LoCoMo file has the questions for it.
"""

import itertools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import cast

from actors.compressor import WordCompressor
from pipeline.awake.compress import is_whole, join
from pipeline.awake.readings import Chunk, Reading, Tier, Values, Word
from pipeline.awake.words import words
from pipeline.errors import InputError
from pipeline.evaluate.compression import WITHIN, Kept, Loss, RateReport, report
from pipeline.evaluate.evidence import Question, mean_recall
from pipeline.evaluate.floor import Bm25, floor_ranking
from pipeline.evaluate.floor import words as floor_words
from pipeline.evaluate.report import Claim, Report, at_least, at_most
from pipeline.messages import Json
from pipeline.ports import Embedder, Tokenizer
from pipeline.recall.lexical import is_function_word
from pipeline.state import Compressed
from serve.evaluation import locomo
from serve.evaluation.machine import machine
from serve.evaluation.samples import Sample
from serve.formats import detect, read
from serve.version import VERSION

KS = (5, 10, 20)
JUDGED_RATE = 0.6
"""The rate whose evidence recall has a bar."""

_SPEED = 0.9
_RECALL = 0.02
_TEXTS = 64
_SHOWN = 20

Say = Callable[[str], None]


@dataclass(slots=True)
class _Clock:
    """Seconds of each slice of texts: the bare pass, reading and judging, choosing per rate."""

    bare: list[float] = field(default_factory=list)
    judging: list[float] = field(default_factory=list)
    choosing: dict[float, list[float]] = field(default_factory=dict)

    def speed(self, rate: float) -> float:
        """The throughput as a share of the bare pass's, in the median slice.

        Another process that takes the machine for a moment spoils a slice, not the figure.
        """
        slices = zip(self.bare, self.judging, self.choosing[rate], strict=True)
        shares = [bare / (judging + choosing) for bare, judging, choosing in slices if bare]
        return median(shares) if shares else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A message of a LoCoMo conversation: which one, its id, and who said it."""

    sample: int
    message: str
    speaker: str


def load(path: Path) -> list[str]:
    """The texts of all messages of a file in any known form. Raises InputError."""
    return [str(each["content"]) for found in read(path) for each in found.messages]


def run(
    path: Path,
    *,
    compressor: WordCompressor,
    model: str,
    tokenizer: Tokenizer,
    embedder: Embedder,
    rates: Sequence[float],
    say: Say,
) -> Report:
    """The evaluation of one file at every rate.

    Raises:
        InputError: the file has no known form, or a rate is not between 0 and 1.
    """
    if wrong := [rate for rate in rates if not 0 < rate < 1]:
        raise InputError(f"expected rates between 0 and 1, got {wrong[0]}", field="rates")
    texts = load(path)
    say(f"{len(texts)} messages at {len(rates)} rates")
    clock = _Clock()
    results = _compressed(compressor, texts, rates, clock, say)
    originals = _originals(texts, tokenizer)
    most = compressor.max_tokens
    reports = [
        report(_kept(originals, results[rate], tokenizer, rate=rate, most=most), rate=rate)
        for rate in rates
    ]
    is_locomo = detect(path) == "locomo"
    recall = _recalls(path, results, embedder, say) if is_locomo else {}
    return Report(
        name="compress",
        version=VERSION,
        config={
            "file": path.name,
            "messages": len(texts),
            "tokens": sum(each.tokens for each in originals),
            "compressor": model,
            "embedder": embedder.model,
            "rates": list(rates),
        },
        machine=machine(),
        claims=(
            *(claim for each in reports for claim in _claims(each)),
            *_recall_claims(recall, rates),
            *_speed_claims(clock, sum(each.tokens for each in originals)),
        ),
        extra=_extra(reports, clock) | ({} if is_locomo else {"evidence_recall": None}),
    )


# Compressing and timing -------------------------------------------------------------------------


def _compressed(
    compressor: WordCompressor,
    texts: Sequence[str],
    rates: Sequence[float],
    clock: _Clock,
    say: Say,
) -> dict[float, list[Compressed]]:
    """Per rate the compressed texts, in slices between which the bare pass has its turns."""
    found: dict[float, list[Compressed]] = {rate: [] for rate in rates}
    warm = compressor.read(texts[:_TEXTS], rate=min(rates))
    compressor.forward([chunk for each in warm for chunk in each.chunks][:8])
    for at in range(0, len(texts), _TEXTS):
        some = texts[at : at + _TEXTS]
        readings, judged = _judged(compressor, some, min(rates), clock, first=at // _TEXTS % 2)
        for rate in rates:
            began = time.perf_counter()
            found[rate] += compressor.choose(readings, judged, rate=rate)
            clock.choosing.setdefault(rate, []).append(time.perf_counter() - began)
        if at // _TEXTS % 10 == 9:
            say(f"{at + len(some)} of {len(texts)} messages")
    return found


def _judged(
    compressor: WordCompressor, texts: Sequence[str], rate: float, clock: _Clock, *, first: int
) -> tuple[list[Reading], list[list[Values | str]]]:
    """The judgements of some texts; the bare pass runs before or after, by turns."""
    began = time.perf_counter()
    readings = compressor.read(texts, rate=rate)
    chunks = [chunk for reading in readings for chunk in reading.chunks]
    read_s = time.perf_counter() - began
    if first:
        _bare(compressor, chunks, clock)
    began = time.perf_counter()
    values = iter(compressor.judge(chunks))
    judged = [list(itertools.islice(values, len(reading.chunks))) for reading in readings]
    clock.judging.append(read_s + time.perf_counter() - began)
    if not first:
        _bare(compressor, chunks, clock)
    return readings, judged


def _bare(compressor: WordCompressor, chunks: Sequence[Chunk], clock: _Clock) -> None:
    began = time.perf_counter()
    compressor.forward(chunks)
    clock.bare.append(time.perf_counter() - began if chunks else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Original:
    """A text with the tokens of it and of what of it must stay, written alone."""

    text: str
    tokens: int
    forced: int
    words: Sequence[Word]


def _originals(texts: Sequence[str], tokenizer: Tokenizer) -> list[_Original]:
    found = [words(text) for text in texts]
    forced: list[str] = []
    for text, parts in zip(texts, found, strict=True):
        kept = [i for i, word in enumerate(parts) if word.tier == Tier.KEPT]
        forced.append(join(text, parts, kept))
    counts = zip(texts, tokenizer.count(texts), tokenizer.count(forced), found, strict=True)
    return [
        _Original(text=text, tokens=tokens, forced=must, words=parts)
        for text, tokens, must, parts in counts
    ]


def _kept(
    originals: Sequence[_Original],
    results: Sequence[Compressed],
    tokenizer: Tokenizer,
    *,
    rate: float,
    most: int,
) -> list[Kept]:
    left = tokenizer.count([each.text for each in results])
    return [
        Kept(
            text=original.text,
            compressed=result.text,
            tokens=original.tokens,
            left=some,
            forced=original.forced,
            is_whole=is_whole(original.words, rate=rate),
            is_again=round(rate * original.tokens) > most,
            fallback=result.fallback,
        )
        for original, result, some in zip(originals, results, left, strict=True)
    ]


# Evidence ---------------------------------------------------------------------------------------


def _recalls(
    path: Path, results: Mapping[float, Sequence[Compressed]], embedder: Embedder, say: Say
) -> dict[float, dict[int, float]]:
    """Per rate, 1 for the originals, the evidence recall at each k."""
    samples = locomo.load(path, quick=False)
    places = _places(path, samples)
    originals = [samples[place.sample].texts[place.message] for place in places]
    asked = [
        embedder.embed([question.text for question in sample.questions], purpose="query")
        for sample in samples
    ]
    found: dict[float, dict[int, float]] = {}
    every: list[tuple[float, Sequence[str]]] = [(1.0, originals)]
    every += [(rate, [each.text for each in kept]) for rate, kept in results.items()]
    for rate, texts in every:
        say(f"evidence at a rate of {rate}")
        ranked: list[list[str]] = []
        for number, sample in enumerate(samples):
            mine = [i for i, place in enumerate(places) if place.sample == number]
            said = [f"{places[i].speaker}: {texts[i]}" for i in mine]
            bm25 = Bm25([_telling(text) for text in said])
            vectors = embedder.embed(said, purpose="passage")
            for question, vector in zip(sample.questions, asked[number], strict=True):
                order = floor_ranking(bm25, vectors, query=question.text, query_vector=vector)
                ranked.append([places[mine[row]].message for row in order[: max(KS)]])
        questions = [question for sample in samples for question in sample.questions]
        found[rate] = {k: _recall(ranked, questions, k) for k in KS}
    return found


def _telling(text: str) -> list[str]:
    """The words of a text that the service's own search looks for.

    Function words are what compression drops first. BM25 would find them all the rarer in the
    texts that keep them, which says nothing of the evidence.
    """
    return [word for word in floor_words(text) if not is_function_word(word)]


def _places(path: Path, samples: Sequence[Sample]) -> list[_Place]:
    """Where each message of the file belongs, in the order of ``load``."""
    numbers = {sample.name: number for number, sample in enumerate(samples)}
    return [
        _Place(
            sample=numbers[cast(str, found.collection)],
            message=str(each["message_id"]),
            speaker=str(each["speaker"]),
        )
        for found in read(path)
        for each in found.messages
    ]


def _recall(ranked: Sequence[Sequence[str]], questions: Sequence[Question], k: int) -> float:
    found: list[Collection[str]] = [order[:k] for order in ranked]
    return mean_recall(found, questions)


# The report -------------------------------------------------------------------------------------


def _claims(found: RateReport) -> list[Claim]:
    rate = found.rate
    return [
        at_most(
            f"kept ratio at {rate} is within two points",
            abs(found.ratio - rate),
            WITHIN,
            unit="ratio",
        ),
        at_most(
            f"mean kept ratio at {rate} is within two points",
            abs(found.mean - rate),
            WITHIN,
            unit="ratio",
        ),
        at_least(f"numbers kept at {rate}", found.numbers_kept, 1.0, unit="share"),
        at_least(f"negations kept at {rate}", found.negations_kept, 1.0, unit="share"),
        Claim(
            claim=f"texts apart at {rate}: {_told_apart(found)}",
            value=sum(_apart(found).values()),
            unit="texts",
        ),
    ]


def _apart(found: RateReport) -> dict[str, int]:
    """Texts that no rate can be held to, by why."""
    return {
        "short": found.short,
        "forced_alone_exceeds": found.forced,
        "too_few_words": found.whole,
        "over_the_limit": found.again,
        "fallbacks": found.fallbacks,
    }


def _told_apart(found: RateReport) -> str:
    told = [f"{count} {why.replace('_', ' ')}" for why, count in _apart(found).items() if count]
    return ", ".join(told) or "none"


def _recall_claims(
    recall: Mapping[float, Mapping[int, float]], rates: Sequence[float]
) -> list[Claim]:
    claims = []
    for rate in rates if recall else ():
        for k in KS:
            value, whole = recall[rate][k], recall[1.0][k]
            name = f"evidence recall @{k} at {rate}, {whole:.4f} uncompressed"
            if rate == JUDGED_RATE:
                claims.append(at_least(name, value, whole - _RECALL, unit="recall"))
            else:
                claims.append(Claim(claim=name, value=value, unit="recall"))
    return claims


def _speed_claims(clock: _Clock, tokens: int) -> list[Claim]:
    bare = tokens / max(sum(clock.bare), 1e-9)
    return [
        Claim(claim="bare forward pass", value=bare, unit="tokens/s"),
        *(
            at_least(
                f"throughput at {rate} of the bare forward pass",
                clock.speed(rate),
                _SPEED,
                unit="share",
            )
            for rate in clock.choosing
        ),
    ]


def _extra(reports: Sequence[RateReport], clock: _Clock) -> dict[str, Json]:
    return {
        "rates": {str(each.rate): _figures(each) for each in reports},
        "seconds": {
            "bare": round(sum(clock.bare), 2),
            "read and judge": round(sum(clock.judging), 2),
            **{f"choose at {rate}": round(sum(s), 2) for rate, s in clock.choosing.items()},
        },
    }


def _figures(found: RateReport) -> dict[str, Json]:
    return {
        "texts": found.texts,
        "ratio": round(found.ratio, 4),
        "mean": round(found.mean, 4),
        "within_two_points": round(found.within, 4),
        "apart": dict(_apart(found)),
        "numbers": found.numbers,
        "negations": found.negations,
        "lost_numbers": [_lost(each) for each in found.lost_numbers[:_SHOWN]],
        "lost_negations": [_lost(each) for each in found.lost_negations[:_SHOWN]],
    }


def _lost(loss: Loss) -> Json:
    return {"lost": list(loss.lost), "text": loss.text, "compressed": loss.compressed}
