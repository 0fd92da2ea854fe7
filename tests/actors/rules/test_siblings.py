"""Two things of one sort are told apart; a changed value is none."""

import pytest

from actors.rules.decider import read
from actors.rules.siblings import is_sibling, swapped
from actors.rules.verdict import Why


def pairs(older: str, newer: str) -> list[tuple[str, str]]:
    found = swapped(read(older, "user"), read(newer, "user"))
    return [(" ".join(each.older), " ".join(each.newer)) for each in found]


def sibling(older: str, newer: str, why: Why) -> bool:
    return is_sibling(read(older, "user"), read(newer, "user"), why)


def test_the_words_that_tell_two_things_apart_are_swapped() -> None:
    assert pairs("The garage key hangs on hook 3.", "The cellar key hangs on hook 7.") == [
        ("garag", "cellar")
    ]
    assert pairs("绿色水桶能装十升水。", "黄色水桶能装十二升水。") == [("绿色", "黄色")]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Iris hates rowing.", "Iris enjoys rowing."),
        ("Iris cannot row.", "Iris learned to row."),
        ("The fair is on 3 May.", "The fair is on 9 June."),
        ("林晓讨厌划船。", "林晓最近爱上了划船。"),
        ("林晓不会划船。", "林晓学会了划船。"),
    ],
)
def test_verbs_grammar_and_values_are_not(older: str, newer: str) -> None:
    assert pairs(older, newer) == []


def test_sentences_of_other_forms_have_nothing_swapped() -> None:
    assert pairs("The fair takes place in Lyon.", "It rained on the day of the harvest.") == []


@pytest.mark.parametrize(
    ("older", "newer", "why"),
    [
        ("Chapter 1 has 20 pages.", "Chapter 2 has 35 pages.", Why.VALUE),
        ("林晓2019年身高160厘米。", "林晓2023年身高170厘米。", Why.VALUE),
        ("The hall ceiling is white.", "The study ceiling is blue.", Why.ATTRIBUTE),
        ("Iris likes plum tea.", "Iris does not like rose tea.", Why.FLIP),
        ("Iris's left ear is deaf.", "Iris's right ear is not deaf.", Why.ENDED),
        ("Iris's home number is 555-0140.", "Iris's office number is 555-0199.", Why.REPEATED),
    ],
)
def test_what_is_said_of_another_thing_replaces_nothing(older: str, newer: str, why: Why) -> None:
    assert sibling(older, newer, why)


@pytest.mark.parametrize(
    ("older", "newer", "why"),
    [
        ("The hall ceiling is white.", "The hall ceiling is blue.", Why.ATTRIBUTE),
        ("The rent is 800 euros.", "The rent is 900 euros now.", Why.VALUE),
        ("Iris plans to go to Rome.", "Iris cancelled the trip to Rome.", Why.ENDED),
        ("Iris works at Hart.", "Iris works at Mill.", Why.WORK),
        ("Iris likes tea.", "Iris likes plum tea.", Why.REFINED),
        ("房租是八百元。", "房租现在是九百元。", Why.VALUE),
        ("房租是八百元。", "The rent is 900 yuan.", Why.VALUE),
    ],
)
def test_another_value_of_the_same_thing_does(older: str, newer: str, why: Why) -> None:
    assert not sibling(older, newer, why)
