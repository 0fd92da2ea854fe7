"""What counts as kept, told by patterns that the compressor does not use."""

import pytest

from pipeline.evaluate.compression import Kept, negations, numbers, report

LONG = "tokens " * 25


def kept(text: str, compressed: str, *, left: int = 60, forced: int = 10) -> Kept:
    return Kept(text=text, compressed=compressed, tokens=100, left=left, forced=forced)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("at 10:30 we paid $1,250.50", ["1,250.50", "10:30"]),
        ("Twenty-five people, two dogs", ["five", "twenty", "two"]),
        ("someone often weighs it", []),
        ("三十五岁，两个孩子，二十天", ["三十五", "两", "二十"]),
        ("一个一起，星期三，万一", []),
    ],
)
def test_numbers_are_digits_spelled_ones_and_counted_numerals(text: str, found: list[str]) -> None:
    assert sorted(numbers(text).elements()) == sorted(found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I don’t know, never did", ["don't", "never"]),
        ("nothing in the notebook", ["nothing"]),
        ("我不吃辣，也没去", ["不", "没"]),
        ("不过不错，非常特别", []),
    ],
)
def test_negations_are_told_from_words_that_only_look_like_them(
    text: str, found: list[str]
) -> None:
    assert sorted(negations(text).elements()) == sorted(found)


def test_ratios_are_of_texts_that_could_meet_the_rate() -> None:
    found = report(
        [
            kept(LONG, "a", left=60),
            kept(LONG, "b", left=54),
            kept(LONG, "c", left=80, forced=80),
            Kept(text="short", compressed="short", tokens=5, left=5, forced=0),
            Kept(text="x" * 99, compressed="x", tokens=50, left=50, forced=0, is_whole=True),
            Kept(text=LONG, compressed="c", tokens=5000, left=500, forced=0, is_again=True),
            Kept(text=LONG, compressed=LONG, tokens=100, left=100, forced=0, fallback="why"),
        ],
        rate=0.6,
    )

    assert (found.texts, found.short, found.forced, found.fallbacks) == (2, 1, 1, 1)
    assert (found.whole, found.again) == (1, 1)
    assert found.ratio == pytest.approx(0.57)
    assert found.mean == pytest.approx(0.57)
    assert found.within == 0.5


def test_a_lost_number_or_negation_is_shown_with_its_text() -> None:
    found = report([kept("not 3 or 4", "not 3"), kept("不吃3个", "吃3个")], rate=0.6)

    assert [(loss.text, loss.lost) for loss in found.lost_numbers] == [("not 3 or 4", ("4",))]
    assert [loss.lost for loss in found.lost_negations] == [("不",)]
    assert found.numbers_kept == pytest.approx(2 / 3)
    assert found.negations_kept == 0.5


def test_a_file_without_numbers_lost_none() -> None:
    found = report([], rate=0.5)

    assert (found.numbers_kept, found.negations_kept, found.ratio, found.within) == (1, 1, 0.5, 1)


def test_a_text_without_tokens_is_all_kept() -> None:
    assert Kept(text="", compressed="", tokens=0, left=0, forced=0).ratio == 1.0
