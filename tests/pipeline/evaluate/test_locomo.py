import pytest

from pipeline.errors import InputError
from pipeline.evaluate.locomo import questions


def test_questions_of_category_five_are_left_out() -> None:
    sample = {
        "qa": [
            {"question": "Where does Mara live?", "evidence": ["D1:2"], "category": 4},
            {"question": "Does Mara fly?", "evidence": ["D1:3"], "category": 5},
            {"question": "Why?", "category": 1},
        ]
    }

    found = questions(sample)

    assert [(q.text, q.category) for q in found] == [("Where does Mara live?", "4"), ("Why?", "1")]
    assert found[0].gold == {"D1:2"}
    assert found[1].gold == frozenset()


@pytest.mark.parametrize(
    ("sample", "field"),
    [
        ({}, "qa"),
        ({"qa": ["who?"]}, "qa[0]"),
        ({"qa": [{"question": "who?", "evidence": "D1:2"}]}, "qa[0].evidence"),
    ],
)
def test_another_form_is_refused_by_the_name_of_the_field(sample: dict, field: str) -> None:
    with pytest.raises(InputError) as caught:
        questions(sample)

    assert caught.value.field == field
