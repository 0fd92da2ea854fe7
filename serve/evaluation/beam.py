"""``eval beam``: evidence recall by ability on BEAM chats, with no language model.

Source: BEAM (arXiv 2510.27246). A folder per chat holds ``chat.json`` and the probing questions,
which name the messages they rest on. One collection per chat; the questions of abstention rest on
none and take no part.
"""

from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import InputError
from pipeline.evaluate.beam import ABILITIES, STRUCTURED, Probe, probes
from pipeline.evaluate.evidence import Question
from pipeline.evaluate.posed import Posed, of_beam
from serve.evaluation.asking import in_context
from serve.evaluation.evidence import ALL, Benchmark
from serve.evaluation.samples import Sample, document_of, sample_of
from serve.formats import read

CHATS = ("chat_trunecated.json", "chat.json")
"""A chat's file under its published names, the preferred one first."""

PROBES = ("probing_questions.json", "probing_questions/probing_questions.json")
QUICK_CHATS = 1
POOL = "instruction_following, event_ordering and summarization"
MARGINS = {(POOL, in_context(2_000)): 0.10, (ALL, in_context(2_000)): 0.05}


def load(path: Path, *, quick: bool, first: int | None = None) -> list[Sample]:
    """The chats under a folder, by name, with the questions whose evidence exists.

    ``path`` is a chat's own folder or one above; ``quick`` takes the first chat, ``first`` so many.

    Raises:
        InputError: there is no chat with questions, or a file is not of the published form.
    """
    folders = chats(path)[: QUICK_CHATS if quick else first]
    return [
        sample_of(folder.name, read(_one_of(folder, CHATS), "beam"), _asked(folder))
        for folder in folders
    ]


def chats(path: Path) -> list[Path]:
    """The folders with a chat and its questions, shorter names first. Raises InputError."""
    inside = sorted(path.glob("*/"), key=lambda one: (len(one.name), one.name))
    found = [one for one in (path, *inside) if _has(one, CHATS) and _has(one, PROBES)]
    if not found:
        raise InputError(
            f"expected folders with {CHATS[-1]} and {PROBES[0]} in {path}, found none",
            field="folder",
        )
    return found


def probes_of(folder: Path) -> list[Probe]:
    """The probing questions of a chat."""
    return probes(document_of(_one_of(folder, PROBES)))


def posed(path: Path, samples: Sequence[Sample]) -> list[tuple[str, Posed]]:
    """The questions of all abilities as they are posed, each with its chat's name."""
    wanted = {sample.name for sample in samples}
    return [
        (folder.name, each)
        for folder in chats(path)
        if folder.name in wanted
        for each in of_beam(probes_of(folder))
    ]


def _asked(folder: Path) -> list[Question]:
    return [probe.question for probe in probes_of(folder)]


def _has(folder: Path, names: Sequence[str]) -> bool:
    return any((folder / name).is_file() for name in names)


def _one_of(folder: Path, names: Sequence[str]) -> Path:
    return next(folder / name for name in names if (folder / name).is_file())


def benchmark(path: Path, samples: Sequence[Sample]) -> Benchmark:
    """What is measured of these samples."""
    return Benchmark(
        name="beam",
        file=path.name,
        samples=samples,
        groups=ABILITIES[1:],
        pools={POOL: STRUCTURED},
        margins=MARGINS,
    )
