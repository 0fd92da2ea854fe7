from datetime import UTC, datetime

import pytest

from pipeline.entries import CURRENT, Status
from pipeline.errors import InputError
from pipeline.recall.filters import parse_filter
from pipeline.recall.question import Question, check_question
from pipeline.recall.rank import Weights

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
