"""The form of a reply to a decision."""

import json
from typing import get_args

import pytest

from actors.chat import is_strict
from pipeline.prompts import PromptLanguage, prompt
from pipeline.prompts.decide_schema import decision_schema, judgement_of


def test_the_schema_is_strict_and_the_prompts_name_every_word_of_it() -> None:
    schema = json.loads(json.dumps(decision_schema()))

    assert is_strict(schema)
    verdict = schema["properties"]["verdicts"]["items"]["properties"]["verdict"]["enum"]
    actions = schema["properties"]["action"]["enum"]
    for code in get_args(PromptLanguage):
        told = prompt("decide", language=code).render()
        assert all(word in told for word in (*verdict, *actions, *schema["properties"]))


def test_verdicts_come_before_the_action_that_rests_on_them() -> None:
    assert list(decision_schema()["properties"]) == ["verdicts", "action", "text", "reason"]  # type: ignore[call-overload]


def test_both_prompts_have_one_version() -> None:
    versions = {prompt("decide", language=code).version for code in get_args(PromptLanguage)}

    assert len(versions) == 1


@pytest.mark.parametrize(
    ("action", "read"),
    [("update", "update"), (" DELETE ", "delete"), ("NONE", "ignore"), ("更新", "update")],
)
def test_other_words_for_an_action_are_read(action: str, read: str) -> None:
    judgement = judgement_of({"action": action, "text": None, "reason": 3})

    assert judgement is not None
    assert (judgement.action, judgement.text, judgement.reason) == (read, "", "")


@pytest.mark.parametrize("value", [{}, {"action": None}, {"action": "explode"}, [], "update"])
def test_what_names_no_action_is_no_judgement(value: object) -> None:
    assert judgement_of(value) is None


@pytest.mark.parametrize(
    "verdicts",
    [
        {"kp": "adds"},
        ["kp adds", 3, "nonsense", None],
        ["kp：补充"],
        [{"id": "kp", "verdict": "UPDATE"}, {"id": "tb"}, {"verdict": "adds"}],
    ],
)
def test_verdicts_of_other_forms_are_read_and_the_rest_is_left(verdicts: object) -> None:
    judgement = judgement_of({"action": "ignore", "verdicts": verdicts})

    assert judgement is not None
    assert judgement.verdicts == {"kp": "adds"}


def test_a_verdict_that_is_no_word_of_ours_changes_nothing() -> None:
    judgement = judgement_of({"action": "ignore", "verdicts": [{"id": 4, "verdict": "perhaps"}]})

    assert judgement is not None
    assert judgement.verdicts == {"4": "unrelated"}
