from hypothesis import given
from hypothesis import strategies as st

from pipeline.awake.extract_split import split


def _words(text: str) -> int:
    return len(text.split())


def _bare(text: str) -> str:
    return "".join(text.split())


def test_a_short_text_stays_whole() -> None:
    assert split("One. Two.", measure=_words, limit=50) == ["One. Two."]


def test_a_long_text_is_split_between_sentences() -> None:
    text = "The first sentence has six words. The second one has six too."

    assert split(text, measure=_words, limit=8) == [
        "The first sentence has six words.",
        "The second one has six too.",
    ]


def test_a_long_sentence_is_split_between_clauses() -> None:
    text = "a quiet harbour at dawn, a loud one at noon, an empty one at night"

    assert split(text, measure=_words, limit=6) == [
        "a quiet harbour at dawn,",
        "a loud one at noon,",
        "an empty one at night",
    ]


def test_chinese_is_split_at_its_own_marks() -> None:
    text = "周梅去了宁波，看了海。她第二天回来了。"

    assert split(text, measure=len, limit=12) == ["周梅去了宁波，看了海。", "她第二天回来了。"]


@given(st.text(alphabet="ab ，。.,\n水", max_size=120), st.integers(min_value=1, max_value=9))
def test_nothing_is_lost_and_every_piece_fits(text: str, limit: int) -> None:
    pieces = split(text, measure=lambda piece: 3 * len(piece), limit=3 * limit)

    assert _bare("".join(pieces)) == _bare(text)
    assert all(len(piece) <= limit for piece in pieces)
