"""Strength over time, and what is archived."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from keeping import NOON, entry

from pipeline.entries import CURRENT, Kind, Status, Writer
from pipeline.settings import ForgettingSettings
from pipeline.sleep.forgetting import (
    MOST_STRENGTH,
    Forgetting,
    archived,
    faded_before,
    strength_at,
    strengthened,
    unarchived,
    weak,
)

POLICY = Forgetting(half_life_days={Kind.FACT: 100.0, Kind.INSTRUCTION: None}, floor=0.1)


def in_days(days: float):
    return NOON + timedelta(days=days)


def names(found) -> list[str]:
    return [one.entry.id for one in found]


def test_use_strengthens_by_a_fifth_and_never_beyond_five() -> None:
    strength = 1.0
    for _ in range(20):
        strength = strengthened(strength)

    assert strengthened(1.0) == pytest.approx(1.2)
    assert strength == MOST_STRENGTH


def test_a_half_life_halves_the_strength_that_is_read_and_leaves_what_is_stored() -> None:
    tea = entry("tea", "Mara likes tea.", strength=2.0)

    assert strength_at(tea, in_days(100), half_life_days=100) == pytest.approx(1.0)
    assert strength_at(tea, in_days(200), half_life_days=100) == pytest.approx(0.5)
    assert tea.strength == 2.0


def test_time_counts_from_the_last_use_and_never_backwards() -> None:
    used = replace(entry("tea", "Mara likes tea."), last_used_at=in_days(300))

    assert strength_at(used, in_days(400), half_life_days=100) == pytest.approx(0.5)
    assert strength_at(used, in_days(0), half_life_days=100) == 1.0


@given(st.floats(0, 5_000), st.floats(0, 5_000), st.floats(1, 1_000), st.floats(1, 5))
def test_strength_only_falls_and_stays_above_nothing(
    day: float, later: float, half_life: float, strength: float
) -> None:
    tea = entry("tea", "Mara likes tea.", strength=strength)
    first = strength_at(tea, in_days(day), half_life_days=half_life)
    second = strength_at(tea, in_days(day + later), half_life_days=half_life)

    assert 0 <= second <= first <= strength


def test_what_sank_below_the_floor_is_archived_and_an_instruction_never_is() -> None:
    old = entry("old", "Mara bought a lamp.")
    rule = entry("rule", "Always answer in French.", kind=Kind.INSTRUCTION)
    fresh = entry("fresh", "Mara sold the lamp.", day=300)

    assert names(weak([fresh, rule, old], POLICY, now=in_days(340))) == ["old"]
    assert names(weak([fresh, rule, old], POLICY, now=in_days(10_000))) == ["old", "fresh"]


def test_beyond_capacity_the_weakest_go_the_older_of_equals_first() -> None:
    used = entry("used", "玛拉住在奥斯陆。", strength=3.0)
    held = [entry(f"e{day}", f"Fact {day}.", day=day) for day in range(4)]
    policy = replace(POLICY, capacity=3)

    found = weak([*held, used], policy, now=in_days(4))

    assert names(found) == ["e0", "e1"]
    assert found[0].reason == "among the weakest beyond 3 entries (0.973)"


def test_capacity_waits_until_something_is_written() -> None:
    held = [entry(f"e{day}", f"Fact {day}.", day=day) for day in range(4)]
    policy = replace(POLICY, capacity=3)

    assert weak(held, policy, now=in_days(4), has_grown=False) == []


def test_what_undo_brought_back_is_left_alone_and_pushes_nobody_out() -> None:
    back = entry("back", "Mara bought a lamp.", by=Writer.UNDO)
    held = [entry(f"e{day}", f"Fact {day}.", day=300) for day in range(3)]
    policy = replace(POLICY, capacity=3)

    assert weak([back, *held], policy, now=in_days(340)) == []


def test_nothing_is_archived_twice() -> None:
    old = archived(entry("old", "Mara bought a lamp."), now=in_days(340))

    assert weak([old], POLICY, now=in_days(341)) == []


@given(
    st.lists(st.tuples(st.integers(0, 900), st.sampled_from(list(Kind)), st.floats(1, 5))),
    st.integers(1, 20),
)
def test_after_archiving_no_more_is_archived(rows, capacity: int) -> None:
    held = [
        entry(f"e{place}", f"Fact {place}.", day=day, kind=kind, strength=strength)
        for place, (day, kind, strength) in enumerate(rows)
    ]
    policy = ForgettingSettings().policy(capacity=capacity)
    now = in_days(900)

    gone = {one.entry.id for one in weak(held, policy, now=now)}
    after = [archived(one, now=now) if one.id in gone else one for one in held]

    assert weak(after, policy, now=now) == []
    assert not any(one.kind is Kind.INSTRUCTION for one in held if one.id in gone)
    decaying = [one for one in after if one.status in CURRENT and one.kind is not Kind.INSTRUCTION]
    assert len([one for one in after if one.status in CURRENT]) <= capacity or not decaying


def test_before_the_instant_of_fading_nothing_can_be_below_the_floor() -> None:
    now = in_days(1_000)
    then = faded_before(POLICY, now)[Kind.FACT]
    just = replace(entry("e", "Fact."), written_at=then)

    assert weak([replace(just, written_at=then + timedelta(hours=1))], POLICY, now=now) == []
    assert names(weak([replace(just, written_at=then - timedelta(hours=1))], POLICY, now=now))
    assert faded_before(replace(POLICY, floor=0.0), now) == {}


def test_a_restored_entry_is_as_current_as_it_was() -> None:
    unsure = entry("e", "Mara may move.", status=Status.TENTATIVE)
    gone = archived(unsure, now=in_days(1))

    back = unarchived(gone, [unsure, gone], now=in_days(2))

    assert (back.status, back.version, back.written_by) == (Status.TENTATIVE, 3, Writer.USER)
    assert unarchived(back, [unsure, gone, back], now=in_days(3)) is back


def test_settings_name_only_the_kinds_that_differ() -> None:
    policy = ForgettingSettings(half_life_days={Kind.EVENT: None}, capacity_entries=7).policy(
        capacity=None
    )

    assert policy.half_life_days[Kind.EVENT] is None
    assert policy.half_life_days[Kind.INSTRUCTION] is None
    assert policy.half_life_days[Kind.FACT] == 365.0
    assert policy.capacity == 7
