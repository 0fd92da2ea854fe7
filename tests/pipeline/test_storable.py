"""What no store could keep is told apart from what every store keeps."""

import math

import pytest

from pipeline.storable import DEEPEST, check_json, check_text


@pytest.mark.parametrize("text", ["", "plain", "你好，林夏。", "👩‍🚀", "a\nb\t"])
def test_ordinary_texts_are_storable(text: str) -> None:
    check_text(text)
    check_json({"a": [text, 1, 1.5, None, True]})


@pytest.mark.parametrize(
    ("text", "why"), [("a\0b", "NUL byte, got one at character 1"), ("我\ud83d", "U\\+D83D")]
)
def test_what_no_database_keeps_is_refused_wherever_it_stands(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_text(text)
    with pytest.raises(ValueError, match=why):
        check_json([text])
    with pytest.raises(ValueError, match=why):
        check_json({text: 1})


@pytest.mark.parametrize("value", [math.nan, math.inf, {1: 2}, object(), b"a"])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        check_json({"a": value})


def test_nesting_has_an_end() -> None:
    value: object = 1
    for _ in range(DEEPEST):
        value = [value]
    check_json(value)

    with pytest.raises(ValueError, match="32 levels"):
        check_json([value])
