import subprocess
import sys

import pytest

from pipeline.recall.lexical import CHARACTER_WEIGHT, sparse_passage, sparse_query, terms
from pipeline.state import SparseVector


def test_english_is_lowercased_stemmed_and_freed_of_small_words() -> None:
    assert terms("The dogs were RUNNING to Anna's garden") == ["dog", "run", "anna", "garden"]


def test_a_denial_stays() -> None:
    assert terms("I'm sure I don't like it, not now") == ["sure", "don't", "like", "not", "now"]


def test_chinese_is_cut_into_words_their_parts_and_characters() -> None:
    assert {"上海浦东新区", "上海", "浦东", "浦"} <= set(terms("上海浦东新区"))
    assert {"猫", "豆豆", "太阳", "晒太阳"} <= set(terms("我的猫叫豆豆，喜欢晒太阳"))
    assert terms("我的") == []


def test_characters_unknown_to_the_dictionary_also_stand_as_a_pair() -> None:
    assert "東京" in terms("東京")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京で寿司", ["東京", "で", "寿司"]),
        ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
        ("ไทย", ["ไท", "ทย"]),
        ("Привет, мир", ["привет", "мир"]),
        ("مُحَمَّد بالعالم", ["محمد", "بالعالم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("Straße café Łódź", ["strasse", "cafe", "łodz"]),
        ("ＡＢＣ１２３", ["abc123", "abc", "123"]),
    ],
)
def test_each_script_has_its_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("anna.b@example.org", {"anna.b@example.org", "example.org", "anna"}),
        ("https://www.example.com/docs/a.html?x=1", {"example.com", "a.html", "doc", "1"}),
        ("getUserName", {"getusernam", "user", "name"}),
        ("snake_case_id", {"snake_case_id", "snake", "id"}),
        ("$1,299.50", {"1299.50"}),
        ("2024-05-01", {"2024-05-01", "2024", "05"}),
        ("v1.2.3", {"v1.2.3"}),
        ("C++ and C#", {"c++", "c#"}),
        ("iPhone15手机", {"iphone15", "15", "手机"}),
        ("O'Brien’s", {"o'brien"}),
    ],
)
def test_numbers_names_and_addresses_are_found_whole_and_in_parts(
    text: str, expected: set[str]
) -> None:
    assert expected <= set(terms(text))


@pytest.mark.parametrize("text", ["", "  \n", "🙂🙂", "...", "\ud83d", "the of and", "的了"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    nothing = SparseVector(indices=(), values=())

    assert terms(text) == []
    assert sparse_passage(text) == sparse_query(text) == nothing


def test_a_passage_has_growing_indices_and_positive_weights() -> None:
    vector = sparse_passage("a red bicycle, a blue kettle and a green door")

    assert list(vector.indices) == sorted(set(vector.indices))
    assert all(0 <= index < 2**32 for index in vector.indices)
    assert all(value > 0 for value in vector.values)


def _weight(vector: SparseVector, term: str) -> float:
    place = vector.indices.index(sparse_query(term).indices[0])
    return vector.values[place]


def test_a_repeated_word_weighs_more_but_less_than_twice() -> None:
    once = _weight(sparse_passage("red kettle"), "red")
    twice = _weight(sparse_passage("red red kettle"), "red")

    assert once < twice < 2 * once


def test_a_word_weighs_less_in_a_longer_text() -> None:
    short = _weight(sparse_passage("red kettle"), "red")
    long = _weight(sparse_passage("red kettle " + "old wooden garden door " * 10), "red")

    assert long < short


def test_a_query_holds_each_word_once_and_single_characters_weigh_less() -> None:
    assert sparse_query("tea tea").values == (1.0,)
    assert sorted(sparse_query("太阳").values) == [CHARACTER_WEIGHT, CHARACTER_WEIGHT, 1.0]


def test_the_index_of_a_term_never_changes() -> None:
    assert sparse_query("red").indices == (3333378283,)


def test_chinese_terms_are_quiet_and_leave_no_dictionary_cache() -> None:
    code = "from pipeline.recall.lexical import terms; terms('晒太阳')"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("", "")
