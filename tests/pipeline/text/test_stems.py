"""English stems."""

from concurrent.futures import ThreadPoolExecutor

import snowballstemmer

from pipeline.text.stems import stem

WORDS = [f"{root}{end}" for root in ("walk", "train", "remember", "paint") for end in ("ing", "ed")]


def test_forms_of_a_word_share_their_stem() -> None:
    assert stem("walking") == stem("walked") == "walk"


def test_threads_that_stem_at_once_get_what_one_alone_gets() -> None:
    alone = snowballstemmer.stemmer("english")
    words = [f"{word}{n}ing" for n in range(200) for word in WORDS]
    expected = [alone.stemWord(word) for word in words]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda part: [stem(word) for word in part], [words] * 8))

    assert found == [expected] * 8
