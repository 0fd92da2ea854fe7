import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.sentences import SpanKind, sentences


def texts(text: str) -> list[str]:
    return [span.text for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved. It rains!", ["I moved.", "It rains!"]),
        ("i moved. then it rained", ["i moved.", "then it rained"]),
        ("Really? Yes.", ["Really?", "Yes."]),
        ("It was 5. Then 6.", ["It was 5.", "Then 6."]),
        ("我搬家了。下雨了！你呢？", ["我搬家了。", "下雨了！", "你呢？"]),
        ("你好吗?我很好", ["你好吗?", "我很好"]),
        ("Wow!太好了", ["Wow!", "太好了"]),
        ("他说“走吧。”我没动。", ["他说“走吧。”", "我没动。"]),
        ("“走吧。”他说。我没动。", ["“走吧。”他说。", "我没动。"]),
        ('"Really?" she said. I nodded.', ['"Really?" she said.', "I nodded."]),
        ("Line one\nline two\r\n\r\n第三行", ["Line one", "line two", "第三行"]),
    ],
)
def test_marks_and_line_ends_end_a_sentence(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Okafor met Mrs. Lind at 5 p.m. on Elm St. near the park.",
        "J. K. Hale and George W. Moss, e.g. in vol. 3, p. 12, paid 3.14 euros.",
        "See No. 5 or fig. 2, etc. and so on.",
        "Open main.py and v2.1.0 of notes.md now.",
        "Read https://example.org/a.b?c=1.2&d=!x for more.",
        "请看 https://example.org/?q=1 这个链接",
        "Run `a. B! c?` first.",
        "Well... I am not sure.. maybe",
        "我想……算了。",
        "价格是 3.5 元，版本 v1.2.3",
        "The U.S. market shrank.",
    ],
)
def test_a_dot_inside_a_word_a_number_or_an_abbreviation_ends_nothing(text: str) -> None:
    expected = ["The U.S. market shrank."] if text.startswith("The U.S.") else [text]

    assert texts(text) == expected


def test_no_is_a_sentence_unless_a_number_follows() -> None:
    assert texts("No. I said five.") == ["No.", "I said five."]


def test_a_link_at_the_end_of_a_sentence_does_not_swallow_the_next() -> None:
    assert texts("See https://example.org/a. Then call me.") == [
        "See https://example.org/a.",
        "Then call me.",
    ]


def test_a_fenced_block_is_one_span_of_code() -> None:
    text = "Try this:\n```python\nx = 1. \n\ny = 2!\n```\nDone."

    spans = sentences(text)

    assert [span.kind for span in spans] == [SpanKind.PROSE, SpanKind.CODE, SpanKind.PROSE]
    assert spans[1].text == "```python\nx = 1. \n\ny = 2!\n```"


def test_an_open_fence_runs_to_the_end() -> None:
    assert [span.kind for span in sentences("a\n~~~\nb. C\nd")] == [SpanKind.PROSE, SpanKind.CODE]


def test_headings_items_and_rows_are_told_apart() -> None:
    text = "# Plan. Today\n- buy milk. Two\n1. call Ana\n2、写信\n| a | b |\n|---|---|\nplain"

    spans = sentences(text)

    assert [(span.kind.value, span.body) for span in spans] == [
        ("heading", "Plan. Today"),
        ("item", "buy milk."),
        ("item", "Two"),
        ("item", "call Ana"),
        ("item", "写信"),
        ("row", "| a | b |"),
        ("row", "|---|---|"),
        ("prose", "plain"),
    ]


def test_a_number_at_the_start_is_not_an_item_mark() -> None:
    assert [(span.kind.value, span.body) for span in sentences("3.5 kg of rice")] == [
        ("prose", "3.5 kg of rice")
    ]


@given(st.text(alphabet='ab .!?。！？"”`~\n-1|#A说 \t', max_size=200))
def test_spans_are_in_order_and_cover_all_that_is_not_white_space(text: str) -> None:
    spans = sentences(text)

    covered = "".join(text[span.start : span.end] for span in spans)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(text[span.start : span.end] == span.text for span in spans)
    assert all(left.end <= right.start for left, right in itertools.pairwise(spans))


@pytest.mark.parametrize(
    "piece", ["a. ", "`", "好。", "...", "x", "http://a ", "\n- ", "`a` ", "? ", "| "]
)
def test_two_hundred_thousand_characters_take_no_more_than_seconds(piece: str) -> None:
    text = piece * (200_000 // len(piece))

    started = time.process_time()
    sentences(text)

    assert time.process_time() - started < 5
