"""``eval locomo``: evidence recall of a service beside its floor, with no language model.

Source: LoCoMo (arXiv 2402.17753). One collection per conversation; every question of categories 1
to 4 is searched, and a context is built for it at three budgets. The floor is BM25 and the same
embedder over the raw messages, fused by rank, in the same run.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.errors import InputError
from pipeline.evaluate.locomo import CATEGORIES, questions
from pipeline.evaluate.posed import Posed, of_locomo
from pipeline.messages import Json
from serve.evaluation.asking import in_context
from serve.evaluation.evidence import ALL, Benchmark
from serve.evaluation.samples import Sample, document_of, sample_of
from serve.formats import ConversationIn, read

QUICK_CONVERSATIONS = 1
MARGINS = {(ALL, in_context(1_000)): 0.05}
"""What a context of 1,000 tokens must find more than the floor."""

AT_LEAST = {"@10": 0.65}
"""What search must find by itself on the conversations that it is measured on."""


def load(path: Path, *, quick: bool, first: int | None = None) -> list[Sample]:
    """The conversations of a LoCoMo file with the questions whose evidence exists.

    ``quick`` takes the first conversation with all of its questions, ``first`` so many.

    Raises:
        InputError: the file is not of the published form.
    """
    rows, parts = conversations(path)
    samples = [
        sample_of(name, sessions, questions(row))
        for row, (name, sessions) in zip(rows, parts, strict=True)
    ]
    return samples[: QUICK_CONVERSATIONS if quick else first]


def conversations(
    path: Path,
) -> tuple[list[Mapping[str, Json]], list[tuple[str, list[ConversationIn]]]]:
    """The samples of the file as they stand there, and each one's name and sessions.

    Raises:
        InputError: the file is not of the published form.
    """
    sessions = read(path, "locomo")
    document = document_of(path)
    found = document if isinstance(document, list) else [document]
    rows = [row for row in found if isinstance(row, Mapping)]
    names = list(dict.fromkeys(session.collection for session in sessions))
    if len(names) != len(rows):
        raise InputError(f"expected {len(rows)} conversations, got {len(names)}", field=str(path))
    parts = [(str(name), [s for s in sessions if s.collection == name]) for name in names]
    return rows, parts


def posed(path: Path, samples: Sequence[Sample]) -> list[tuple[str, Posed]]:
    """The questions of all categories as they are posed, each with its sample's name."""
    rows, parts = conversations(path)
    wanted = {sample.name for sample in samples}
    return [
        (name, each)
        for row, (name, _) in zip(rows, parts, strict=True)
        if name in wanted
        for each in of_locomo(row)
    ]


def benchmark(path: Path, samples: Sequence[Sample]) -> Benchmark:
    """What is measured of these samples."""
    return Benchmark(
        name="locomo",
        file=path.name,
        samples=samples,
        groups=CATEGORIES,
        margins=MARGINS,
        at_least=AT_LEAST,
    )
