"""What gives way when the scratchpad has grown too long."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from keeping import NOON, item

from pipeline.entries import Writer
from pipeline.ids import RunId
from pipeline.scratchpad import DEFAULT_SLOTS, Item, ItemStatus
from pipeline.settings import ScratchpadSettings
from pipeline.sleep.shorten import Shorter, best, left_out, overfull, taken_in


def facts(count: int, *, slot: str = "profile") -> list[Item]:
    return [item(f"{slot}{day}", f"Fact {day}.", day=day, slot=slot) for day in range(count)]


def tens(items: list[Item]) -> dict[str, int]:
    return {one.id: 10 for one in items}


def found(items: list[Item], *, threshold: int = 100, target: int = 50):
    return overfull(
        items, tens(items), DEFAULT_SLOTS, threshold_tokens=threshold, target_tokens=target
    )


def test_nothing_gives_way_within_the_threshold() -> None:
    assert found(facts(10)) is None


def test_beyond_it_all_but_protected_items_have_the_target_less_those() -> None:
    rules, mine = facts(1, slot="instructions"), replace(item("me", "I."), written_by=Writer.USER)
    back = replace(item("back", "Undone."), written_by=Writer.UNDO)
    loose = facts(10)

    over = found([*rules, mine, back, *loose])

    assert over is not None
    assert (list(over.items), over.room_tokens) == (loose, 30)


def test_what_undo_brought_back_stays_and_pushes_nothing_out() -> None:
    back = [replace(one, written_by=Writer.UNDO) for one in facts(40, slot="timeline")]

    assert found([*back, *facts(10)]) is None


def test_however_much_is_protected_a_quarter_is_left_for_the_rest() -> None:
    loops = facts(40, slot="open_loops")

    over = found([*loops, *facts(3)])

    assert found([*loops, *facts(2)]) is None
    assert over is not None
    assert over.room_tokens == 12


def test_what_is_said_again_and_what_is_new_stays_and_what_is_contradicted_goes_first() -> None:
    often = item("often", "玛拉住在奥斯陆。", times=3)
    doubted = replace(item("doubted", "Newest.", day=9), conflicts=(often.id,))
    held = [often, doubted, *facts(5)]

    stays = best(held, tens(held), room_tokens=30)

    assert stays == {often.id, held[-1].id, held[-2].id}


def test_every_slot_keeps_its_share() -> None:
    held = [*facts(10), *facts(10, slot="timeline")]

    stays = best(held, tens(held), room_tokens=100)

    assert sorted(one.slot for one in held if one.id in stays) == ["profile"] * 5 + ["timeline"] * 5


def test_what_is_left_out_is_folded_into_nothing() -> None:
    [write] = left_out([item("a", "Old.")], why="no room", now=NOON)

    after = write.after
    assert (after.status, after.superseded_by, after.version) == (ItemStatus.FOLDED, None, 2)
    assert (after.text, write.why) == ("Old.", "no room")


def test_a_shorter_item_says_what_it_was_made_of_whatever_the_order() -> None:
    a, b = item("a", "Mara has a cat."), item("b", "Mara has a dog.", day=4)

    first = taken_in(
        Shorter(slot="profile", text="Pets.", made_of=(a, b)), RunId("r"), why="", now=NOON
    )
    second = taken_in(
        Shorter(slot="profile", text="Pets.", made_of=(b, a)), RunId("r"), why="", now=NOON
    )

    made = first[0].after
    assert first == second
    assert (made.entries, made.sources, made.said_at) == (("b", "a"), ("b 0", "a 0"), b.said_at)
    assert [write.after.superseded_by for write in first[1:]] == [made.id, made.id]


@given(
    st.lists(st.tuples(st.sampled_from([s.name for s in DEFAULT_SLOTS]), st.integers(1, 60))),
    st.integers(8, 400),
)
def test_what_the_rule_leaves_is_never_too_much_again(rows, threshold: int) -> None:
    held = [item(f"e{i}", "x", day=i, slot=slot) for i, (slot, _) in enumerate(rows)]
    tokens = {one.id: size for one, (_, size) in zip(held, rows, strict=True)}
    limits = {"threshold_tokens": threshold, "target_tokens": threshold // 2}

    over = overfull(held, tokens, DEFAULT_SLOTS, **limits)
    if over is None:
        return
    stays = best(over.items, tokens, room_tokens=over.room_tokens)
    loose = {one.id for one in over.items}
    left = [one for one in held if one.id not in loose or one.id in stays]

    assert sum(tokens[one] for one in stays) <= over.room_tokens
    assert overfull(left, tokens, DEFAULT_SLOTS, **limits) is None


def test_the_target_is_at_most_half_of_the_threshold() -> None:
    with pytest.raises(ValueError, match="at most half of threshold_tokens, 500, got 900"):
        ScratchpadSettings(threshold_tokens=1_000, target_tokens=900)
