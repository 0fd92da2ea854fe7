from typing import Any

import pytest

from pipeline.errors import InputError
from pipeline.evaluate.beam import probes
from pipeline.evaluate.longmemeval import Item
from pipeline.evaluate.posed import (
    ABSENT,
    Judged,
    Rubric,
    WordsShared,
    chosen,
    of_beam,
    of_locomo,
    of_longmemeval,
)


def item(name: str, type_: str) -> Item:
    return Item(
        id=name,
        type=type_,
        question="我的猫叫什么？",
        answer="Biscuit",
        asked_at="2023-05-30T23:40:00+00:00",
        sessions=(),
        answer_sessions=frozenset(),
    )


def test_a_question_of_locomo_asks_for_what_its_category_is_scored_by() -> None:
    single, dated = of_locomo(
        {
            "qa": [
                {"question": "Who?", "answer": 3, "category": 4},
                {"question": "When?", "answer": "May", "category": 2},
            ]
        }
    )

    assert single.right == WordsShared(gold="3", category="4", choices={})
    assert "short phrase" in single.text
    assert "date" not in single.text
    assert "date" in dated.text
    assert (dated.query, dated.group) == ("When?", "2")


def test_an_adversarial_question_offers_what_is_wrong_and_that_it_was_not_mentioned() -> None:
    row = {"question": "Which?", "adversarial_answer": "Tango", "category": 5}

    first, second = of_locomo({"qa": [row, row]})

    assert isinstance(first.right, WordsShared)
    assert isinstance(second.right, WordsShared)
    assert first.right.choices == {"a": "Tango", "b": ABSENT}
    assert second.right.choices == {"a": ABSENT, "b": "Tango"}
    assert "(a) Tango (b) Not mentioned" in first.text


def test_an_answer_chooses_by_its_letter_or_says_it_in_full() -> None:
    choices = {"a": "Tango", "b": ABSENT}

    assert [chosen(said, choices) for said in ("b", "(B) Not", "a.", "a) Tango")] == [
        ABSENT,
        ABSENT,
        "Tango",
        "Tango",
    ]
    assert chosen("At the ball", choices) == "At the ball"
    assert chosen("b", {}) == "b"
    assert chosen("", choices) == ""


@pytest.mark.parametrize(
    ("sample", "field"), [({}, "qa"), ({"qa": "x"}, "qa"), ({"qa": [3]}, "qa[0]")]
)
def test_another_form_is_refused_by_the_name_of_the_field(
    sample: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        of_locomo(sample)

    assert caught.value.field == field


def test_the_order_of_events_is_asked_for_line_by_line() -> None:
    found = of_beam(
        probes(
            {
                "event_ordering": [{"question": "In which order?", "rubric": ["a", "b"]}],
                "abstention": [{"question": "Who?", "rubric": ["says so"]}, {"question": "x"}],
            }
        )
    )

    assert [each.right for each in found] == [
        Rubric(criteria=("a", "b"), is_order=True),
        Rubric(criteria=("says so",), is_order=False),
    ]
    assert [each.text for each in found] == ["In which order?\nOne item a line.", "Who?"]


def test_a_question_of_longmemeval_is_asked_at_its_own_time_by_the_rule_of_its_type() -> None:
    plain = of_longmemeval(item("q1", "multi-session"))
    dated = of_longmemeval(item("q2", "temporal-reasoning"))
    absent = of_longmemeval(item("q3_abs", "temporal-reasoning"))

    assert plain.now == "2023-05-30T23:40:00+00:00"
    rules = [each.right.rule for each in (plain, dated, absent) if isinstance(each.right, Judged)]
    assert "off by one" in rules[1]
    assert "cannot be answered" in rules[2]
    assert rules[0] not in rules[1:]
    assert (absent.group, absent.is_abstention, dated.is_abstention) == (
        "temporal-reasoning",
        True,
        False,
    )
