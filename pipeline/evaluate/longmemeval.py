"""The questions of LongMemEval (arXiv 2410.10813) and its retrieval measures.

Every question has a history of its own. Its evidence is the turns marked ``has_answer``; questions
whose id ends in ``_abs`` have no answer there and are left out of retrieval, as is usual. Knows
nothing of files.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.errors import InputError
from pipeline.messages import Json

TYPES = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)
ABSTENTION = "_abs"
SESSION_KS = (5, 10)

_DATE = re.compile(r"(\d{4})/(\d\d)/(\d\d)(?: \(\w+\))?(?: (\d\d):(\d\d))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a history; ``is_evidence`` says that it holds the answer."""

    role: str
    content: str
    is_evidence: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation of a history and the time it took place, as ISO 8601 in UTC."""

    id: str
    said_at: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A question, when it is asked, what is right, and the history that it is about."""

    id: str
    type: str
    question: str
    answer: str
    asked_at: str
    sessions: tuple[Session, ...]
    answer_sessions: frozenset[str]

    @property
    def is_abstention(self) -> bool:
        """Whether the history holds no answer."""
        return self.id.endswith(ABSTENTION)


def items(document: Json) -> list[Item]:
    """The questions in the order of the file.

    Raises:
        InputError: the document is not of the published form; the field names the place.
    """
    if not isinstance(document, list) or not document:
        raise InputError("a list of questions was expected", field="questions")
    return [_item(row, f"[{place}]") for place, row in enumerate(document)]


def _item(row: Json, field: str) -> Item:
    if not isinstance(row, Mapping):
        raise InputError("an object was expected", field=field)
    type_ = _text(row, "question_type", field)
    if type_ not in TYPES:
        raise InputError(f"expected one of {', '.join(TYPES)}, got {type_!r}", field=field)
    return Item(
        id=_text(row, "question_id", field),
        type=type_,
        question=_text(row, "question", field),
        answer=str(row.get("answer", "")),
        asked_at=_time(_text(row, "question_date", field), f"{field}.question_date"),
        sessions=_sessions(row, field),
        answer_sessions=frozenset(
            str(each) for each in _listed(row.get("answer_session_ids"), f"{field}.answers")
        ),
    )


def _sessions(row: Mapping[str, Json], field: str) -> tuple[Session, ...]:
    names, dates, sessions = (
        _listed(row.get(key), f"{field}.{key}")
        for key in ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    )
    if not len(names) == len(dates) == len(sessions):
        raise InputError(
            f"expected as many sessions as ids and dates, got {len(sessions)}, {len(names)} and "
            f"{len(dates)}",
            field=field,
        )
    rows = zip(names, dates, sessions, strict=True)
    return tuple(
        Session(
            id=str(name),
            said_at=_time(str(date), f"{field}.haystack_dates[{place}]"),
            turns=_turns(turns, f"{field}.haystack_sessions[{place}]"),
        )
        for place, (name, date, turns) in enumerate(rows)
    )


def _turns(rows: Json, field: str) -> tuple[Turn, ...]:
    turns = []
    for row in _listed(rows, field):
        if not isinstance(row, Mapping):
            raise InputError("an object with role and content was expected", field=field)
        turn = Turn(
            role=_text(row, "role", field),
            content=_text(row, "content", field),
            is_evidence=row.get("has_answer") is True,
        )
        turns.append(turn)
    return tuple(turns)


def _text(row: Mapping[str, Json], key: str, field: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError("a text was expected", field=f"{field}.{key}")
    return value


def _listed(value: Json, field: str) -> Sequence[Json]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InputError("a list was expected", field=field)
    return value


def _time(text: str, field: str) -> str:
    """``2023/05/20 (Sat) 02:21`` as ISO 8601."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise InputError(f"expected a time as 2023/05/20 (Sat) 02:21, got {text!r}", field=field)
    year, month, day, hour, minute = found.groups(default="00")
    return f"{year}-{month}-{day}T{hour}:{minute}:00+00:00"


def recall_any(ranked: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """1 where any of ``gold`` is among the first ``k``, else 0."""
    return float(any(each in gold for each in ranked[:k]))


def recall_all(ranked: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """1 where all of ``gold`` are among the first ``k``, else 0."""
    return float(set(gold) <= set(ranked[:k]))


def ndcg(ranked: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """Discounted gain of the first ``k`` over the best possible, in 0..1; 0 without gold.

    As the benchmark counts: the second place is not discounted.
    """
    gains = [float(each in gold) for each in ranked[:k]]
    best = [1.0] * min(k, len(gold))
    return _gain(gains) / _gain(best) if best else 0.0


def _gain(values: Sequence[float]) -> float:
    discounts = np.log2(np.maximum(2, np.arange(1, len(values) + 1)))
    return float(np.sum(np.array(values) / discounts))
