"""English stems."""

from concurrent.futures import ThreadPoolExecutor

import snowballstemmer

from pipeline.text.stems import stem

WORDS = [f"{root}{end}" for root in ("walk", "train", "remember", "paint") for end in ("ing", "ed")]


def test_forms_of_a_word_share_their_stem() -> None:
    assert stem("walking") == stem("walked") == "walk"


def test_what_is_not_all_letters_is_its_own_stem() -> None:
    assert [stem(word) for word in ("gpt4ing", "2024", "v2's")] == ["gpt4ing", "2024", "v2's"]


def test_threads_that_stem_at_once_get_what_one_alone_gets() -> None:
    alone = snowballstemmer.stemmer("english")
    others = [chr(ord("a") + n % 26) * (1 + n // 26) for n in range(200)]
    words = [f"{word}{other}ing" for other in others for word in WORDS]
    expected = [alone.stemWord(word) for word in words]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda part: [stem(word) for word in part], [words] * 8))

    assert found == [expected] * 8
