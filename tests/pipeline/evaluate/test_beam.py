import pytest

from pipeline.errors import InputError
from pipeline.evaluate.beam import probes


def test_gold_ids_are_read_from_every_form_that_files_have() -> None:
    document = {
        "event_ordering": [{"question": "顺序？", "source_chat_ids": [1, [2, 3], "4"]}],
        "temporal_reasoning": [
            {"question": "How long?", "source_chat_ids": {"first": [5], "second": [6, True]}}
        ],
        "abstention": [{"question": "Who?"}],
    }

    found = {each.question.category: each.question for each in probes(document)}

    assert found["event_ordering"].gold == {"1", "2", "3", "4"}
    assert found["event_ordering"].text == "顺序？"
    assert found["temporal_reasoning"].gold == {"5", "6"}
    assert found["abstention"].gold == frozenset()


def test_a_rubric_is_a_list_or_the_text_of_one() -> None:
    document = {
        "abstention": [
            {"question": "a", "rubric": ["states: three", "says why"]},
            {"question": "b", "rubric": "['states: three']"},
            {"question": "c"},
        ]
    }

    assert [each.rubric for each in probes(document)] == [
        ("states: three", "says why"),
        ("states: three",),
        (),
    ]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "abilities"),
        ({}, "abilities"),
        ({"juggling": []}, "juggling"),
        ({"abstention": "who?"}, "abstention"),
        ({"abstention": ["who?"]}, "abstention[0]"),
        ({"abstention": [{"question": "who?", "rubric": 3}]}, "abstention[0].rubric"),
        ({"abstention": [{"question": "who?", "rubric": "["}]}, "abstention[0].rubric"),
    ],
)
def test_another_form_is_refused_by_the_name_of_the_field(document: object, field: str) -> None:
    with pytest.raises(InputError) as caught:
        probes(document)  # type: ignore[arg-type]

    assert caught.value.field == field
