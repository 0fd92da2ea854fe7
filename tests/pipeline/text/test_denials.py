"""Clauses, and what is denied in them."""

import pytest

from pipeline.text.denials import Clause, clauses


def only(text: str) -> Clause:
    [clause] = clauses(text)
    return clause


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("I do not eat meat", ("eat", "meat")),
        ("we have never been fishing", ("fish",)),
        ("I stopped eating meat", ("eat", "meat")),
        ("coffee without sugar", ("sugar",)),
        ("我不喜欢喝茶", ("喜欢", "喝茶")),
        ("我从来不吃肉", ("吃", "肉")),
        ("我没养过狗", ("养", "狗")),
        ("我戒烟三年了", ("烟",)),
        ("我睡不着", ("睡",)),
        ("I eat meat", ()),
        ("这家店不错", ()),
    ],
)
def test_a_negation_reaches_the_words_behind_it(text: str, denied: tuple[str, ...]) -> None:
    assert only(text).denied == denied
    assert only(text).is_denied == bool(denied)


@pytest.mark.parametrize(
    "text",
    [
        "I can't wait to go",
        "I not only sing",
        "don't you eat meat?",
        "never without tea",
        "我不仅会做饭",
        "我不得不走",
        "你是不是住杭州",
        "没想到我喜欢茶",
        "你不吃肉吗？",
    ],
)
def test_from_what_only_looks_denied_nothing_is_concluded(text: str) -> None:
    assert all(clause.is_doubtful for clause in clauses(text))


def test_a_clause_ends_where_the_sentence_turns() -> None:
    assert [clause.is_denied for clause in clauses("I eat fish, but I don't eat meat.")] == [
        False,
        True,
    ]
    assert [clause.is_denied for clause in clauses("我爱吃鱼，不爱吃虾。")] == [False, True]


def test_a_word_that_denies_in_meaning_makes_a_clause_negative() -> None:
    assert only("I failed the test").is_negative
    assert only("我对花生过敏").is_negative
    assert not only("I passed the test").is_negative
