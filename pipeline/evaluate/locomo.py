"""The questions of a LoCoMo conversation (arXiv 2402.17753).

Category 5 (adversarial) has no answer in the conversation and is left out, as is usual.
Knows nothing of files: it reads the parsed form.
"""

from collections.abc import Mapping

from pipeline.errors import InputError
from pipeline.evaluate.evidence import Question
from pipeline.messages import Json

CATEGORIES = ("1", "2", "3", "4")


def questions(sample: Mapping[str, Json]) -> list[Question]:
    """The questions of categories 1 to 4 in the order of the file.

    Raises:
        InputError: ``qa`` is missing or a question is not of the published form.
    """
    rows = sample.get("qa")
    if not isinstance(rows, list):
        raise InputError("a list of questions was expected", field="qa")
    asked = [_question(row, place) for place, row in enumerate(rows)]
    return [question for question in asked if question.category in CATEGORIES]


def _question(row: Json, place: int) -> Question:
    if not isinstance(row, Mapping) or not isinstance(row.get("question"), str):
        raise InputError("an object with a question was expected", field=f"qa[{place}]")
    gold = row.get("evidence") or []
    if not isinstance(gold, list):
        raise InputError("a list of message ids was expected", field=f"qa[{place}].evidence")
    return Question(
        text=str(row["question"]),
        gold=frozenset(str(message) for message in gold),
        category=str(row.get("category")),
    )
