"""Which words carry what must not be lost, in English and Chinese."""

import pytest

from pipeline.awake.readings import Tier
from pipeline.awake.words import words


def kept(text: str) -> list[str]:
    return [word.text for word in words(text) if word.tier == Tier.KEPT]


def favoured(text: str) -> list[str]:
    return [word.text for word in words(text) if word.tier >= Tier.FAVOURED]


def test_every_character_is_in_exactly_one_word() -> None:
    text = "Mia said: “I can't pay $1,250.50!” 😀 她说：价格是30元。\n| a | b |"

    pieces = words(text)

    assert "".join(word.text for word in pieces) == "".join(text.split())
    assert all(text[word.start : word.end] == word.text for word in pieces)


@pytest.mark.parametrize("number", ["7", "$1,250.50", "10:30am", "2024-03-03", "3rd", "50%"])
def test_numbers_are_kept(number: str) -> None:
    assert number in kept(f"we noted {number} on the list")


def test_what_is_counted_is_favoured_with_its_number() -> None:
    assert favoured("we booked 2 rooms for three nights and left") == [
        "2",
        "rooms",
        "three",
        "nights",
    ]


@pytest.mark.parametrize("negation", ["not", "never", "don't", "without", "can’t"])
def test_negations_are_kept_and_what_they_deny_is_favoured(negation: str) -> None:
    assert kept(f"we {negation} travel by boat") == [negation]
    assert favoured(f"we {negation} travel by boat") == [negation, "travel"]


@pytest.mark.parametrize("number", ["seventeen", "forty", "Twenty-five", "hundreds", "twice"])
def test_spelled_numbers_are_kept(number: str) -> None:
    assert kept(f"we saw {number} of them") == [number]


def test_capitals_inside_a_sentence_are_names() -> None:
    assert kept("Yesterday my cousin Priya flew to Lisbon.") == ["Priya", "Lisbon"]


def test_a_name_at_the_start_is_known_from_elsewhere() -> None:
    assert kept("Priya called. I like Priya.") == ["Priya", "Priya"]


def test_a_text_in_capitals_is_not_all_names() -> None:
    assert kept("WE ARE ALL GOING HOME SOON") == []


@pytest.mark.parametrize(
    "code", ["load_index", "parseDate", "src/main.py", "`x = 1`", "run()", "https://a.org/b?c=d"]
)
def test_code_and_links_are_kept_whole(code: str) -> None:
    assert code in kept(f"please look at {code} when possible")


def test_a_link_ends_before_the_full_stop() -> None:
    assert kept("it is at https://a.org/b.") == ["https://a.org/b"]


def test_chinese_numbers_keep_their_unit() -> None:
    assert kept("我3月5日花了200元买鞋") == ["3月", "5日", "200元"]


@pytest.mark.parametrize(
    "sentence", ["我不吃辣", "我没有去过", "请勿打扰他", "他从不抽烟", "你先别走"]
)
def test_chinese_negations_are_kept(sentence: str) -> None:
    assert any(set(word) & set("不没勿别") for word in kept(sentence))


@pytest.mark.parametrize("code", ["v3.2", "P95", "Omega-3"])
def test_words_with_a_digit_are_kept(code: str) -> None:
    assert kept(f"the new {code} value matters") == [code]


def test_numbers_and_negations_inside_compounds_are_kept() -> None:
    assert kept("a half-court game seems never-ending") == ["half-court", "never-ending"]


@pytest.mark.parametrize("word", ["两周", "三次", "今明两天", "进不去", "迫不及待"])
def test_chinese_words_with_a_number_or_negation_inside_are_kept(word: str) -> None:
    assert "".join(kept(f"我们{word}的")) in (word, f"我们{word}"[2:])


def test_chinese_conjunctions_are_not_negations() -> None:
    assert kept("不过我们不但喜欢而且常常去") == []


def test_chinese_names_and_places_are_kept() -> None:
    assert {"北京", "王芳"} <= set(kept("王芳搬到北京住"))


def test_an_empty_text_has_no_words() -> None:
    assert words(" \n\t") == []
