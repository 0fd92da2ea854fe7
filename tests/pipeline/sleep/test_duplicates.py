"""Entries that say the same in nearly the same words."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from keeping import NOON, entry

from pipeline.entries import Kind, Status, Writer
from pipeline.sleep.duplicates import duplicates, merged

NIGHT = NOON + timedelta(days=30)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mara lives in Oslo.", "Mara lives in Oslo"),
        ("Mara has a cat named Pixel.", "mara really has a cat named Pixel!"),
        ("Please answer in French.", "Answer in French."),
        ("玛拉住在奥斯陆。", "玛拉住在奥斯陆啊！"),
        ("玛拉的猫叫豆豆", "玛拉的猫叫豆豆。"),
    ],
)
def test_case_punctuation_articles_and_fillers_make_no_difference(one: str, other: str) -> None:
    held = [entry("a", one), entry("b", other, day=1)]

    [found] = duplicates(held, new={held[1].id})

    assert (found.stays.id, [each.id for each in found.taken_in]) == ("a", ["b"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna owes Ben money.", "Ben owes Anna money."),
        ("Mara likes tea.", "Mara does not like tea."),
        ("Mara moves to Oslo.", "Mara moved to Oslo."),
        ("Mara has 2 cats.", "Mara has 3 cats."),
        ("玛拉喜欢茶。", "玛拉不喜欢茶。"),
        ("玛拉走了。", "玛拉走。"),
    ],
)
def test_order_negation_tense_and_numbers_do(one: str, other: str) -> None:
    held = [entry("a", one), entry("b", other, day=1)]

    assert duplicates(held, new={each.id for each in held}) == []


def test_other_speakers_kinds_days_of_events_and_statuses_stay_apart() -> None:
    held = [
        entry("a", "I went for a run.", kind=Kind.EVENT),
        entry("b", "I went for a run", kind=Kind.EVENT, day=1),
        entry("c", "I went for a run.", kind=Kind.EVENT, speaker="Ben"),
        entry("d", "I went for a run.", kind=Kind.OPINION),
        entry("e", "I went for the run.", kind=Kind.EVENT, status=Status.TENTATIVE),
    ]

    assert duplicates(held, new={each.id for each in held}) == []


def test_what_is_not_new_is_left_as_it_is() -> None:
    held = [entry("a", "Mara lives in Oslo."), entry("b", "Mara lives in Oslo", day=1)]

    assert duplicates(held, new=()) == []


def test_what_a_user_corrected_stays_before_what_is_older() -> None:
    held = [entry("a", "Mara lives in Oslo"), entry("b", "Mara lives in Oslo.", by=Writer.USER)]

    [found] = duplicates(held, new={held[0].id})

    assert found.stays.id == "b"


def test_the_one_that_stays_has_all_sources_and_the_newest_time_and_holds_since_the_first() -> None:
    a, b = entry("a", "Mara lives in Oslo."), entry("b", "Mara lives in Oslo", day=5)
    [found] = duplicates([a, b], new={b.id})

    stays, [gone] = merged(found, now=NIGHT)

    assert (stays.text, stays.version, stays.order) == (a.text, 2, b.order)
    assert stays.sources == (*b.sources, *a.sources)
    assert (stays.valid_from, stays.said_at) == (a.valid_from, b.said_at)
    assert (gone.status, gone.superseded_by, gone.version) == (Status.OUTDATED, "a", 2)


@given(
    st.lists(st.sampled_from(["tea", "Tea.", "the tea", "coffee", "不", "茶", "茶。"]), max_size=8)
)
def test_of_any_that_say_the_same_exactly_one_stays_and_merging_again_finds_none(words) -> None:
    held = {each.id: each for each in (entry(f"e{i}", w, day=i) for i, w in enumerate(words))}
    for found in duplicates(held.values(), new=held.keys()):
        stays, gone = merged(found, now=NIGHT)
        held |= {each.id: each for each in (stays, *gone)}

    active = [each for each in held.values() if each.status is Status.ACTIVE]

    assert duplicates(held.values(), new=held.keys()) == []
    kinds = {word.casefold().strip(".。").removeprefix("the ") for word in words}
    assert len(active) == len(kinds)
