from typing import Any

import pytest

from pipeline.errors import InputError
from pipeline.evaluate.longmemeval import items, ndcg, recall_all, recall_any

ROW: dict[str, Any] = {
    "question_id": "q1_abs",
    "question_type": "multi-session",
    "question": "我的猫叫什么？",
    "answer": 3,
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_session_ids": ["s1", "s2"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21"],
    "haystack_sessions": [
        [{"role": "user", "content": "My cat is Biscuit.", "has_answer": True}],
        [{"role": "assistant", "content": "Noted."}],
    ],
    "answer_session_ids": ["s1"],
}


def test_a_question_is_read_with_its_own_history_and_times() -> None:
    [item] = items([ROW])

    assert (item.id, item.type, item.question) == ("q1_abs", "multi-session", "我的猫叫什么？")
    assert (item.answer, item.asked_at) == ("3", "2023-05-30T23:40:00+00:00")
    assert item.is_abstention
    assert [session.said_at for session in item.sessions] == [
        "2023-05-20T02:21:00+00:00",
        "2023-05-21T00:00:00+00:00",
    ]
    assert [turn.is_evidence for session in item.sessions for turn in session.turns] == [
        True,
        False,
    ]
    assert item.answer_sessions == {"s1"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"question_id": None}, "[0].question_id"),
        ({"question_type": "riddle"}, "[0]"),
        ({"question": " "}, "[0].question"),
        ({"question_date": "yesterday"}, "[0].question_date"),
        ({"haystack_dates": ["2023/05/20"]}, "[0]"),
        ({"haystack_dates": ["2023/05/20", "soon"]}, "[0].haystack_dates[1]"),
        ({"haystack_sessions": "none"}, "[0].haystack_sessions"),
        ({"haystack_sessions": [["hello"], []]}, "[0].haystack_sessions[0]"),
        ({"haystack_sessions": [[{"role": "user"}], []]}, "[0].haystack_sessions[0].content"),
        ({"answer_session_ids": None}, "[0].answers"),
    ],
)
def test_another_form_is_refused_by_the_name_of_the_field(
    change: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        items([{**ROW, **change}])

    assert caught.value.field == field


@pytest.mark.parametrize(("document", "field"), [({}, "questions"), ([3], "[0]")])
def test_a_document_without_questions_is_refused(document: Any, field: str) -> None:
    with pytest.raises(InputError) as caught:
        items(document)

    assert caught.value.field == field


def test_recall_of_any_and_of_all_look_at_the_first_k() -> None:
    ranked = ["a", "b", "c"]

    assert (recall_any(ranked, {"b", "c"}, k=2), recall_all(ranked, {"b", "c"}, k=2)) == (1.0, 0.0)
    assert (recall_any(ranked, {"c"}, k=2), recall_all(ranked, {"b", "c"}, k=3)) == (0.0, 1.0)


def test_gain_is_best_at_the_first_two_places_and_discounted_after() -> None:
    assert ndcg(["a", "b"], {"a", "b"}, k=5) == 1.0
    assert ndcg(["x", "a"], {"a"}, k=5) == 1.0
    assert ndcg(["x", "y", "z", "a"], {"a"}, k=5) == 0.5
    assert ndcg(["x"], {"a"}, k=5) == 0.0
    assert ndcg(["x"], (), k=5) == 0.0
