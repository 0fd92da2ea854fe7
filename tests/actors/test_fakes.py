"""What other tests rely on in the fakes."""

from datetime import UTC, timedelta

import numpy as np

from actors.fakes import FakeAttention, FakeCompressor, FakeEmbedder, FakeTokenizer, FixedClock


def test_texts_that_share_words_are_similar() -> None:
    cats, more_cats, trains = FakeEmbedder().embed(
        ["I like cats", "I like black cats", "the train leaves at noon"], purpose="passage"
    )

    assert cats @ more_cats > 0.7 > 0.4 > abs(cats @ trains)


def test_vectors_have_length_one_even_of_an_empty_text() -> None:
    vectors = FakeEmbedder(dim=8).embed(["", "猫"], purpose="query")

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_no_texts_are_no_vectors() -> None:
    assert FakeEmbedder(dim=8).embed([], purpose="query").shape == (0, 8)


def test_a_token_is_a_word_or_a_chinese_character() -> None:
    assert FakeTokenizer().count(["I like 猫咪!", ""]) == [5, 0]


def test_the_compressor_keeps_the_beginning_and_fails_where_told() -> None:
    compressor = FakeCompressor(fails_on="boom")

    kept, failed = compressor.compress(["one two three four", "boom"], rate=0.5)

    assert kept.text == "one two"
    assert (failed.text, failed.fallback) == ("boom", "contains boom")


def test_attention_follows_shared_words() -> None:
    [profile] = FakeAttention().profiles([["red cats", "red cats", "blue trains"]])

    assert profile is not None
    assert profile.tolist() == [0.0, 2.0, 0.0]


def test_attention_can_be_absent() -> None:
    assert FakeAttention(gives_attention=False).profiles([["a"]]) == [None]


def test_the_clock_moves_only_when_told() -> None:
    clock = FixedClock()
    before = clock.now()

    clock.advance(timedelta(hours=2))

    assert clock.now() - before == timedelta(hours=2)
    assert clock.now().tzinfo == UTC
