"""The probing questions of a BEAM chat (arXiv 2510.27246).

Every ability has questions that name the messages they rest on, except abstention, whose answers
are in no message. Knows nothing of files: it reads the parsed form.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.errors import InputError
from pipeline.evaluate.evidence import Question
from pipeline.messages import Json

ABILITIES = (
    "abstention",
    "contradiction_resolution",
    "event_ordering",
    "information_extraction",
    "instruction_following",
    "knowledge_update",
    "multi_session_reasoning",
    "preference_following",
    "summarization",
    "temporal_reasoning",
)
STRUCTURED = ("instruction_following", "event_ordering", "summarization")
"""The abilities that a plain search serves worst, whose figures are pooled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question with its ability and the statements that an answer is judged by, in order."""

    question: Question
    rubric: tuple[str, ...]


def probes(document: Json) -> list[Probe]:
    """All probing questions in the order of the file; ``category`` is the ability.

    Raises:
        InputError: the document is not of the published form; the field names the question.
    """
    if not isinstance(document, Mapping) or not document:
        raise InputError("an object of questions by ability was expected", field="abilities")
    unknown = [name for name in document if name not in ABILITIES]
    if unknown:
        raise InputError(f"expected abilities of BEAM, got {unknown[0]!r}", field=unknown[0])
    return [
        _probe(row, ability, f"{ability}[{place}]")
        for ability, rows in document.items()
        for place, row in enumerate(_listed(rows, ability))
    ]


def _probe(row: Json, ability: str, field: str) -> Probe:
    if not isinstance(row, Mapping) or not isinstance(row.get("question"), str):
        raise InputError("an object with a question was expected", field=field)
    gold = frozenset(_ids(row.get("source_chat_ids")))
    question = Question(text=str(row["question"]), gold=gold, category=ability)
    return Probe(question=question, rubric=tuple(_rubric(row.get("rubric"), f"{field}.rubric")))


def _ids(value: Json) -> Iterator[str]:
    """The message ids in a value: it may be one, a list, a list of lists or an object of lists."""
    if isinstance(value, Mapping):
        yield from _ids(list(value.values()))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from _ids(each)
    elif isinstance(value, int | str) and not isinstance(value, bool):
        yield str(value)


def _rubric(value: Json, field: str) -> list[str]:
    """The statements; some files hold the list as the text of a Python list."""
    if value is None:
        return []
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (SyntaxError, ValueError) as error:
            raise InputError("a list of statements was expected", field=field) from error
    return [str(each) for each in _listed(value, field)]


def _listed(value: Json, field: str) -> Sequence[Json]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError("a list was expected", field=field)
    return value
