from datetime import UTC, datetime

import pytest

from pipeline.entries import CURRENT, Attributes, Entry, Kind, OrderKey, Status, Writer
from pipeline.errors import InputError
from pipeline.ids import EntryId
from pipeline.recall.filters import parse_filter
from pipeline.recall.question import Question, check_question
from pipeline.recall.rank import Weights
from pipeline.tasks import STATE_KEY

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)


def test_current_entries_answer_unless_statuses_are_named() -> None:
    assert Question(text="茶").wanted == CURRENT
    assert Question(text="茶", statuses=(Status.ARCHIVED,)).wanted == (Status.ARCHIVED,)


def test_an_instant_and_statuses_exclude_each_other() -> None:
    with pytest.raises(InputError, match="as_of") as refused:
        check_question(Question(text="tea", as_of=NOON, statuses=(Status.OUTDATED,)))

    assert refused.value.field == "statuses"


def test_a_filter_reaches_no_status_that_the_question_does_not_name() -> None:
    where = parse_filter({"or": [{"kind": "fact"}, {"status": {"in": ["active", "outdated"]}}]})

    with pytest.raises(InputError, match="outdated") as refused:
        check_question(Question(text="tea", where=where))

    assert refused.value.field == "filter.status"
    check_question(Question(text="tea", where=where, statuses=tuple(Status)))
    check_question(Question(text="tea"))


def test_a_search_with_neither_list_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        check_question(Question(text="tea", weights=Weights(dense=0.0, lexical=0.0)))

    assert refused.value.field == "weights"
    check_question(Question(text="tea", weights=Weights(dense=0.0)))


def task(status: Status, *, state: str | None = None) -> Entry:
    return Entry(
        id=EntryId("e"),
        version=1,
        text="买台灯",
        kind=Kind.TASK,
        status=status,
        speaker="王芳",
        said_at=NOON,
        zone="UTC",
        language="zh",
        order=OrderKey(said_at=NOON, sequence=1, ordinal=0),
        valid_from=NOON,
        sources=(),
        written_by=Writer.INGEST,
        written_at=NOON,
        attributes=None
        if state is None
        else Attributes(subject="王芳", key=STATE_KEY, value=state),
    )


def test_who_asks_for_closed_tasks_gets_them_and_nothing_else_that_is_over() -> None:
    where = parse_filter({"or": [{"task_state": "done"}, {"speaker": "王芳"}]})
    asked = Question(text="灯", where=where)

    assert set(asked.wanted) == {*CURRENT, Status.OUTDATED, Status.CONTRADICTED}
    assert asked.lets_in(task(Status.OUTDATED, state="done"))
    assert asked.lets_in(task(Status.ACTIVE))
    assert not asked.lets_in(task(Status.OUTDATED))


def test_open_tasks_and_what_held_at_an_instant_are_looked_for_among_what_holds() -> None:
    done = parse_filter({"task_state": "done"})

    assert Question(text="灯", where=parse_filter({"task_state": "open"})).wanted == CURRENT
    assert Question(text="灯", where=done, as_of=NOON).wanted == CURRENT
    assert Question(text="灯", where=done, as_of=NOON).lets_in(task(Status.OUTDATED))
    named = Question(text="灯", where=done, statuses=(Status.OUTDATED,))
    assert named.wanted == (Status.OUTDATED,)
    assert named.lets_in(task(Status.OUTDATED))
