"""Which words stay under a budget of tokens, and how they are written again."""

import pytest

from pipeline.awake.compress import choose, join
from pipeline.awake.words import words
from pipeline.errors import InputError


def compressed(text: str, *, rate: float, telling: tuple[str, ...] = ()) -> str:
    found = words(text)
    bits = [9.0 if word.text in telling else 1.0 for word in found]
    return join(text, found, choose(found, bits, [1] * len(found), rate=rate))


def test_the_most_surprising_words_stay_in_their_order() -> None:
    text = "the old garden behind our house grows wild tomatoes"

    assert compressed(text, rate=0.34, telling=("tomatoes", "garden", "wild")) == (
        "garden wild tomatoes"
    )


def test_tokens_are_counted_not_words() -> None:
    found = words("alpha beta gamma delta")

    assert choose(found, [4.0, 3.0, 2.0, 1.0], [5, 1, 1, 3], rate=0.7) == [0, 1, 2]


def test_digits_negations_and_names_stay_first() -> None:
    text = "well we did not really meet Priya at gate 42 that sunny morning"

    assert compressed(text, rate=0.4, telling=("sunny", "morning")) == "not meet Priya 42 sunny"


def test_what_must_not_be_lost_stays_beyond_the_budget() -> None:
    assert compressed("10 20 30 40 50 60", rate=0.2) == "10 20 30 40 50 60"


def test_a_rate_of_one_keeps_everything() -> None:
    text = "keep all of  this,\nplease"

    assert compressed(text, rate=1.0) == text


def test_short_texts_stay_whole() -> None:
    assert compressed("yes please", rate=0.2) == "yes please"


def test_chinese_words_are_kept_whole_and_without_spaces() -> None:
    text = "周末我们一起去公园野餐拍照"

    assert compressed(text, rate=0.4, telling=("公园", "野餐")).endswith("公园野餐")


def test_a_dropped_stretch_leaves_one_space_between_latin_words() -> None:
    text = "paint   the tall wooden fence"

    assert compressed(text, rate=0.4, telling=("paint", "fence")) == "paint fence"


def test_lines_stay_lines() -> None:
    text = "buy some fresh bread\nwalk our brown dog"

    assert compressed(text, rate=0.5, telling=("buy", "bread", "walk", "dog")) == (
        "buy bread\nwalk dog"
    )


def test_the_end_of_an_emptied_sentence_goes_with_it() -> None:
    text = "oh well there. the tomatoes ripen early."

    assert compressed(text, rate=0.4, telling=("tomatoes", "ripen", "early")) == ("tomatoes ripen.")


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="1 values"):
        choose(words("one word too many"), [1.0], [1, 1, 1, 1], rate=0.5)
