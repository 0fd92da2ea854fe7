"""Questions as the benchmarks pose them to a model, with what makes an answer right.

Sources: LoCoMo (arXiv 2402.17753), BEAM (arXiv 2510.27246), LongMemEval (arXiv 2410.10813). Knows
nothing of models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.errors import InputError
from pipeline.evaluate.answers import ADVERSARIAL
from pipeline.evaluate.beam import Probe
from pipeline.evaluate.longmemeval import Item
from pipeline.messages import Json

ABSENT = "Not mentioned in the conversation"
EVENT_ORDERING = "event_ordering"

_RULES = {
    "temporal-reasoning": "Do not mind a count of days, weeks or months that is off by one.",
    "knowledge-update": "An answer that also tells the earlier state is right if it gives the "
    "newest one as the answer.",
    "single-session-preference": "The right answer is a description of what an answer should heed. "
    "An answer is right if it uses what the user said of themselves; it need not meet every point.",
}
_REFUSAL = (
    "The question cannot be answered from the conversations. An answer is right only if it says "
    "that the information is missing or that the question cannot be answered."
)
_PLAIN = "Nothing more."


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsShared:
    """LoCoMo: the words that an answer shares with the right one, by the rule of its category.

    ``choices`` are what an adversarial question offers, by letter.
    """

    gold: str
    category: str
    choices: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """BEAM: a judge scores every criterion; ``is_order`` says that their order counts too."""

    criteria: tuple[str, ...]
    is_order: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """LongMemEval: a judge says whether the answer is right, by a rule of the question's type."""

    gold: str
    rule: str


Right = WordsShared | Rubric | Judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Posed:
    """A question for a model.

    ``query`` is what is searched for, ``text`` what the model is asked, ``group`` the category,
    ability or type. ``now`` is when it is asked, where the benchmark says so. ``is_abstention``
    says that nothing in the history answers it.
    """

    query: str
    text: str
    group: str
    right: Right
    now: str | None = None
    is_abstention: bool = False


def of_locomo(sample: Mapping[str, Json]) -> list[Posed]:
    """The questions of all five categories.

    A question about time asks for a date, an adversarial one to choose between what is wrong and
    that it was not mentioned; which comes first goes by turns.
    """
    rows = sample.get("qa")
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        raise InputError("a list of questions was expected", field="qa")
    return [_of_locomo(row, place) for place, row in enumerate(rows)]


def _of_locomo(row: Json, place: int) -> Posed:
    if not isinstance(row, Mapping) or not isinstance(row.get("question"), str):
        raise InputError("an object with a question was expected", field=f"qa[{place}]")
    question, category = str(row["question"]), str(row.get("category"))
    choices: dict[str, str] = {}
    text = f"{question}\nAnswer with a short phrase, in words of the conversation where possible."
    if category == "2":
        text += " Give a date; work it out from the dates of the conversation."
    if category == ADVERSARIAL:
        offered = [ABSENT, str(row.get("adversarial_answer", row.get("answer", "")))]
        choices = dict(zip("ab", offered if place % 2 else offered[::-1], strict=True))
        shown = " ".join(f"({letter}) {choice}" for letter, choice in choices.items())
        text = f"{question}\nChoose the right answer, by its letter alone: {shown}"
    right = WordsShared(gold=str(row.get("answer", "")), category=category, choices=choices)
    return Posed(query=question, text=text, group=category, right=right)


def chosen(answer: str, choices: Mapping[str, str]) -> str:
    """What an answer chooses by its letter; the answer itself where it names none."""
    letter = answer.strip().lower().lstrip("(")[:2]
    is_letter = letter[:1] in choices and not letter[1:].isalpha()
    return choices[letter[0]] if is_letter else answer


def of_beam(probes: Sequence[Probe]) -> list[Posed]:
    """The probing questions of all ten abilities that have a rubric."""
    return [
        Posed(
            query=probe.question.text,
            text=_lined(probe),
            group=probe.question.category,
            right=Rubric(criteria=probe.rubric, is_order=probe.question.category == EVENT_ORDERING),
        )
        for probe in probes
        if probe.rubric
    ]


def _lined(probe: Probe) -> str:
    is_order = probe.question.category == EVENT_ORDERING
    return f"{probe.question.text}\nOne item a line." if is_order else probe.question.text


def of_longmemeval(item: Item) -> Posed:
    """The question at its time."""
    rule = _REFUSAL if item.is_abstention else _RULES.get(item.type, _PLAIN)
    return Posed(
        query=item.question,
        text=item.question,
        group=item.type,
        right=Judged(gold=item.answer, rule=rule),
        now=item.asked_at,
        is_abstention=item.is_abstention,
    )
