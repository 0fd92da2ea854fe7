"""Which words stay under a budget of tokens, and how they are written again."""

from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.awake.compress import choose, compressed, join
from pipeline.awake.readings import Reading, unread
from pipeline.awake.words import words
from pipeline.errors import InputError


class Words:
    """Counts the words of ``pipeline.awake.words``."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(words(text)) for text in texts]


class Letters:
    """Counts letters, as if each were a token."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [sum(sign.isalnum() for sign in text) for text in texts]


def left(text: str, *, rate: float, telling: tuple[str, ...] = ()) -> str:
    found = words(text)
    worth = [9.0 if word.text in telling else 1.0 for word in found]
    return join(text, found, choose(text, found, worth, rate=rate, tokenizer=Words()))


def read(text: str) -> Reading:
    """A reading whose tokens are its words."""
    found = words(text)
    return Reading(
        text=text,
        words=tuple(found),
        starts=np.array([word.start for word in found]),
        ends=np.array([word.end for word in found]),
        chunks=([0] * len(found),),
    )


def values(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float32)


def test_the_most_surprising_words_stay_in_their_order() -> None:
    text = "the old garden behind our house grows wild tomatoes"

    assert left(text, rate=0.34, telling=("tomatoes", "garden", "wild")) == ("garden wild tomatoes")


def test_tokens_are_counted_not_words() -> None:
    found = words(text := "alpha be to gamma")

    assert choose(text, found, [4.0, 3.0, 2.0, 1.0], rate=0.7, tokenizer=Letters()) == [0, 1, 2]


def test_a_short_word_fills_what_a_long_one_would_exceed() -> None:
    found = words(text := "alpha immeasurable of gamma")

    assert choose(text, found, [4.0, 3.0, 2.0, 1.0], rate=0.4, tokenizer=Letters()) == [0, 2]


def test_digits_negations_and_names_stay_first() -> None:
    text = "well we did not really meet Priya at gate 42 that sunny morning"

    assert left(text, rate=0.4, telling=("sunny", "morning")) == "not meet Priya 42 sunny"


def test_what_must_not_be_lost_stays_beyond_the_budget() -> None:
    assert left("10 20 30 40 50 60", rate=0.2) == "10 20 30 40 50 60"


def test_a_rate_of_one_keeps_everything() -> None:
    text = "keep all of  this,\nplease"

    assert left(text, rate=1.0) == text


def test_short_texts_stay_whole() -> None:
    assert left("yes please", rate=0.2) == "yes please"


def test_chinese_words_are_kept_whole_and_without_spaces() -> None:
    text = "周末我们一起去公园野餐拍照"

    assert left(text, rate=0.4, telling=("公园", "野餐")).endswith("公园野餐")


def test_a_dropped_stretch_leaves_one_space_between_latin_words() -> None:
    text = "paint   the tall wooden fence"

    assert left(text, rate=0.4, telling=("paint", "fence")) == "paint fence"


def test_lines_stay_lines() -> None:
    text = "buy some fresh bread\nwalk our brown dog"

    assert left(text, rate=0.5, telling=("buy", "bread", "walk", "dog")) == ("buy bread\nwalk dog")


def test_the_end_of_an_emptied_sentence_goes_with_it() -> None:
    text = "oh well there. the tomatoes ripen early."

    assert left(text, rate=0.4, telling=("tomatoes", "ripen", "early")) == ("tomatoes ripen early.")


def test_two_numbers_stay_two_when_the_words_between_them_go() -> None:
    assert left("三，大概是这样，五十", rate=0.3) == "三 五十"


def test_a_negation_does_not_become_half_of_another_word() -> None:
    text = "有个风险，“别提那个方案”，强度能说话不能唱歌"

    kept = left(text, rate=0.5, telling=("有", "个", "提", "能", "唱歌"))

    assert "个 别提" in kept
    assert "能 不能唱歌" in kept


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="1 values"):
        choose("a", words("one word too many"), [1.0], rate=0.5, tokenizer=Words())


def test_a_long_result_is_chosen_again_at_half_the_rate_and_at_most_twice() -> None:
    text = " ".join(f"{sign}word" for sign in "abcdefghijklmnopqrst")
    judged = [values(*range(20))]

    def size(*, max_tokens: int) -> int:
        result = compressed(read(text), judged, rate=0.8, tokenizer=Words(), max_tokens=max_tokens)
        return len(result.text.split())

    assert [size(max_tokens=most) for most in (16, 15, 7, 1)] == [16, 8, 4, 4]


def test_a_failed_chunk_leaves_the_whole_text_with_the_reason() -> None:
    result = compressed(
        read("four words are here"), ["out of memory"], rate=0.5, tokenizer=Words(), max_tokens=9
    )

    assert (result.text, result.fallback) == ("four words are here", "out of memory")


def test_a_text_that_could_not_be_read_stays_with_the_reason() -> None:
    result = compressed(
        unread("words", failure="bad bytes"), [], rate=0.5, tokenizer=Words(), max_tokens=9
    )

    assert (result.text, result.fallback) == ("words", "bad bytes")


def test_a_text_of_which_nothing_would_be_left_stays_as_it_was() -> None:
    text = "?! ... ?! ..."
    result = compressed(read(text), [values(1, 1, 1, 1)], rate=0.5, tokenizer=Words(), max_tokens=9)

    assert (result.text, result.fallback) == (text, "no word would be left")


def test_function_words_may_count_for_less() -> None:
    result = compressed(
        read("they saw the otters here"),
        [values(1, 3, 5, 4, 1)],
        rate=0.4,
        tokenizer=Words(),
        max_tokens=9,
        small_word_weight=0.3,
    )

    assert result.text == "saw otters"


def test_values_that_are_not_one_per_token_are_refused() -> None:
    with pytest.raises(InputError, match="4 tokens, 1 values"):
        compressed(
            read("four words are here"), [values(1)], rate=0.5, tokenizer=Words(), max_tokens=9
        )
