"""A question to memory, with everything that narrows its answer."""

from dataclasses import dataclass
from datetime import datetime

from pipeline.entries import CURRENT, Entry, Kind, Status
from pipeline.errors import InputError
from pipeline.recall.filters import Filter, comparisons
from pipeline.recall.rank import Weights
from pipeline.tasks import CLOSED, STATE_KEY, task_state


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: ``text``, and at most how many entries may answer.

    Without ``statuses`` current entries answer, with ``as_of`` the versions that held at that
    instant; the two exclude each other. Nothing in ``kinds`` is every kind. ``weights``,
    ``min_score`` and ``rerank`` are the service's where None; ``neighbours`` turns on each side of
    a hit's sources come with it.
    """

    text: str
    limit: int = 10
    statuses: tuple[Status, ...] = ()
    kinds: tuple[Kind, ...] = ()
    where: Filter | None = None
    as_of: datetime | None = None
    weights: Weights | None = None
    min_score: float | None = None
    neighbours: int = 0
    rerank: bool | None = None

    @property
    def wanted(self) -> tuple[Status, ...]:
        """The statuses of the versions that may answer: also those of tasks that are over."""
        if self.statuses or not self._asks_closed_tasks:
            return self.statuses or CURRENT
        return (*CURRENT, Status.OUTDATED, Status.CONTRADICTED)

    @property
    def _asks_closed_tasks(self) -> bool:
        if self.where is None or self.as_of is not None:
            return False
        return any(
            asked.field == STATE_KEY and set(asked.values) & set(CLOSED)
            for asked in comparisons(self.where)
        )

    def lets_in(self, entry: Entry) -> bool:
        """Whether the status of an entry may answer: where none is named, a closed task alone may
        be over.
        """
        if self.statuses or self.as_of is not None or entry.status in CURRENT:
            return True
        return task_state(entry) in CLOSED


def check_question(question: Question) -> None:
    """Raises InputError, naming the field, for what contradicts itself."""
    if question.as_of is not None and question.statuses:
        raise InputError(
            "expected no statuses beside as_of, which finds what held then", field="statuses"
        )
    weights = question.weights
    if weights is not None and not weights.dense and not weights.lexical:
        raise InputError("expected a weight above 0 for dense or lexical", field="weights")
    if question.where is None:
        return
    for asked in comparisons(question.where):
        beyond = [value for value in asked.values if value not in question.wanted]
        if asked.field == "status" and beyond:
            allowed = ", ".join(question.wanted)
            raise InputError(
                f"expected a status among {allowed}, got {beyond[0]}: name others in statuses",
                field="filter.status",
            )
