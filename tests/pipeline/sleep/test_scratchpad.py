"""The scratchpad as its entries say it, contradictions marked, users' words left alone."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from keeping import NOON, entry, item, written

from pipeline.entries import Attributes, Entry, Kind, Status, Writer
from pipeline.ids import EntryId, ItemId, RunId, item_id
from pipeline.scratchpad import DEFAULT_SLOTS, Item, ItemStatus, slot_of_kind
from pipeline.sleep.scratchpad import reconciled
from pipeline.sleep.shorten import Shorter, left_out, taken_in

NIGHT = NOON + timedelta(days=30)
ARRIVALS = slot_of_kind(DEFAULT_SLOTS)


def night(items: Iterable[Item], entries: Sequence[Entry]) -> dict[str, Item]:
    """The items after a night, by id; a second night must find nothing to do."""
    by_id = {one.id: one for one in entries}
    after = {one.id: one for one in items}
    for write in reconciled(after.values(), by_id, ARRIVALS, now=NIGHT):
        assert after.get(write.after.id) == write.before
        after[write.after.id] = write.after
    assert reconciled(after.values(), by_id, ARRIVALS, now=NIGHT + timedelta(days=1)) == []
    return dict(after)


def of(name: str) -> ItemId:
    return item_id(EntryId(name))


@pytest.mark.parametrize(
    ("kind", "slot"),
    [
        (Kind.FACT, "profile"),
        (Kind.RELATION, "profile"),
        (Kind.PREFERENCE, "preferences"),
        (Kind.OPINION, "preferences"),
        (Kind.INSTRUCTION, "instructions"),
        (Kind.EVENT, "timeline"),
        (Kind.TASK, "open_loops"),
    ],
)
def test_an_entry_without_an_item_gets_one_in_the_slot_of_its_kind(kind: Kind, slot: str) -> None:
    after = night([], [entry("e", "Mara plays chess.", kind=kind)])

    assert [(one.slot, one.text) for one in after.values()] == [(slot, "Mara plays chess.")]


def test_a_summary_and_an_outdated_entry_get_none() -> None:
    entries = [entry("s", "All of it.", kind=Kind.SUMMARY), entry("o", "x", status=Status.OUTDATED)]

    assert night([], entries) == {}


def test_an_item_follows_its_entry() -> None:
    said = replace(entry("e", "Mara lives in Oslo and works there.", day=3), version=2)

    after = night([item("e", "Mara lives in Oslo.")], [said])[of("e")]

    assert (after.text, after.said_at, after.version) == (said.text, said.said_at, 2)
    assert (after.sources, after.written_by) == (said.sources, Writer.SLEEP)


def test_the_item_of_an_outdated_entry_goes_and_names_what_took_its_place() -> None:
    old = entry("old", "Mara lives in Oslo.", status=Status.OUTDATED, newer="new")
    new = entry("new", "Mara lives in Bergen.", day=2)

    after = night([item("old", old.text), item("new", new.text, day=2)], [old, new])

    assert (after[of("old")].status, after[of("old")].superseded_by) == ("outdated", of("new"))
    assert after[of("new")].version == 1 + (after[of("new")].sources != item("new", "").sources)


def test_an_archived_entry_takes_its_item_along_and_brings_it_back() -> None:
    gone = entry("e", "Mara plays chess.", status=Status.ARCHIVED)
    asleep = night([item("e", gone.text)], [gone])

    awake = night(asleep.values(), [replace(gone, status=Status.ACTIVE)])

    assert asleep[of("e")].status is ItemStatus.OUTDATED
    assert awake[of("e")].status is ItemStatus.ACTIVE


@pytest.mark.parametrize("status", [ItemStatus.ACTIVE, ItemStatus.REMOVED])
def test_what_a_user_wrote_or_removed_is_left_as_it_is(status: ItemStatus) -> None:
    mine = replace(item("e", "Mara lives in Bodø.", by=Writer.USER), status=status)
    newer = entry("e", "Mara lives in Oslo.", day=9)
    other = entry("o", "Mara lives in Bergen.", day=10, status=Status.ACTIVE)

    assert night([mine], [newer, other])[mine.id] == mine


def test_two_values_of_one_thing_are_marked_at_the_older_and_both_stay() -> None:
    entries = [
        entry("a", "The meeting starts at 9:00."),
        entry("b", "The meeting starts at 10:30.", day=2),
        entry("c", "会议在9点开始。", day=3),
        entry("d", "会议在10点开始。", day=4),
        entry("e", "Mara does not like tea.", day=5),
        entry("f", "Mara likes tea.", day=6),
    ]

    after = night([], entries)

    assert after[of("a")].conflicts == (of("b"),)
    assert after[of("c")].conflicts == (of("d"),)
    assert after[of("e")].conflicts == (of("f"),)
    assert {one.status for one in after.values()} == {ItemStatus.ACTIVE}
    assert not any(after[of(name)].conflicts for name in "bdf")


def test_one_attribute_with_two_values_is_marked_whatever_the_words() -> None:
    oslo = Attributes(subject="Mara", key="lives in", value="Oslo")
    bergen = Attributes(subject="mara", key="lives in", value="Bergen")
    likes = [Attributes(subject="Mara", key="likes", value=what) for what in ("tea", "cake")]
    entries = [
        entry("a", "Mara lives in Oslo.", attributes=oslo),
        entry("b", "By now Mara moved to Bergen.", day=2, attributes=bergen),
        entry("c", "Mara likes tea.", attributes=likes[0]),
        entry("d", "Mara likes cake.", day=1, attributes=likes[1]),
    ]

    after = night([], entries)

    assert after[of("a")].conflicts == (of("b"),)
    assert not after[of("c")].conflicts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mara has two cats.", "Mara has three dogs."),
        ("Mara plays chess.", "Mara plays chess on Mondays."),
        ("玛拉有两只猫。", "玛拉有三条狗。"),
    ],
)
def test_other_things_are_not_marked(one: str, other: str) -> None:
    after = night([], [entry("a", one), entry("b", other, day=1)])

    assert not any(each.conflicts for each in after.values())


def test_events_and_what_another_speaker_says_are_not_marked() -> None:
    entries = [
        entry("a", "Mara ran 5 km.", kind=Kind.EVENT),
        entry("b", "Mara ran 7 km.", kind=Kind.EVENT, day=1),
        entry("c", "I am 30 years old."),
        entry("d", "I am 41 years old.", speaker="Ben", day=1),
    ]

    assert not any(each.conflicts for each in night([], entries).values())


def test_against_a_users_words_the_other_one_carries_the_mark() -> None:
    mine = written("mine", "The meeting starts at 8:00.")

    after = night([mine], [entry("b", "The meeting starts at 9:00.", day=5)])

    assert after[mine.id] == mine
    assert after[of("b")].conflicts == (mine.id,)


def test_a_contradicted_entry_is_marked_with_what_won() -> None:
    lost = entry("a", "Room 4 is free.", status=Status.CONTRADICTED, newer="b")
    won = entry("b", "Room 4 is taken.")

    after = night([item("a", lost.text)], [lost, won])[of("a")]

    assert (after.status, after.conflicts) == (ItemStatus.OUTDATED, (of("b"),))


def shortened(items: Sequence[Item], text: str) -> dict[str, Item]:
    """The items after a run made one of them all."""
    made = Shorter(slot="profile", text=text, made_of=tuple(items))
    return {w.after.id: w.after for w in taken_in(made, RunId("r"), why="test", now=NIGHT)}


def pair() -> tuple[list[Entry], dict[str, Item]]:
    entries = [entry("a", "Mara has a cat."), entry("b", "Mara has a dog.", day=1)]
    return entries, night([], entries)


def test_a_shorter_item_stands_while_nothing_it_was_made_of_changes() -> None:
    entries, items = pair()

    after = night(shortened(list(items.values()), "Mara has a cat and a dog.").values(), entries)

    assert sorted(one.status for one in after.values()) == ["active", "folded", "folded"]
    [made] = [one for one in after.values() if one.status is ItemStatus.ACTIVE]
    assert (set(made.entries), made.said_at) == ({"a", "b"}, entries[1].said_at)


def test_it_is_taken_apart_when_an_entry_says_something_else_or_ends() -> None:
    entries, items = pair()
    folded = shortened(list(items.values()), "Mara has a cat and a dog.")

    renamed = night(folded.values(), [replace(entries[0], text="Mara has a lynx."), entries[1]])
    ended = night(folded.values(), [replace(entries[0], status=Status.OUTDATED), entries[1]])

    active = {one.text for one in renamed.values() if one.status is ItemStatus.ACTIVE}
    assert active == {"Mara has a lynx.", "Mara has a dog."}
    assert [o.text for o in ended.values() if o.status is ItemStatus.ACTIVE] == ["Mara has a dog."]


def test_it_is_taken_apart_through_any_number_of_steps() -> None:
    entries, items = pair()
    once = shortened(list(items.values()), "Mara has a cat and a dog.")
    [first] = [one for one in once.values() if one.status is ItemStatus.ACTIVE]
    twice = once | shortened([first], "Mara has pets.")

    after = night(twice.values(), [replace(entries[0], status=Status.OUTDATED), entries[1]])

    assert [o.text for o in after.values() if o.status is ItemStatus.ACTIVE] == ["Mara has a dog."]


def test_a_shorter_item_that_was_erased_gives_back_what_it_took_in() -> None:
    entries, items = pair()
    folded = shortened(list(items.values()), "Mara has a cat and a dog.")
    left = [one for one in folded.values() if one.status is ItemStatus.FOLDED]

    after = night(left, entries)

    assert {one.status for one in after.values()} == {ItemStatus.ACTIVE}


def test_what_was_left_out_stays_out_until_its_entry_says_something_new() -> None:
    entries, items = pair()
    out = [w.after for w in left_out([items[of("a")]], why="test", now=NIGHT)]

    still = night([*out, items[of("b")]], entries)
    back = night([*out, items[of("b")]], [replace(entries[0], text="A lynx."), entries[1]])

    assert still[of("a")].status is ItemStatus.FOLDED
    assert back[of("a")].status is ItemStatus.ACTIVE


TEXTS = [
    "Mara has 2 cats.",
    "Mara has 3 cats.",
    "She does not run.",
    "She runs.",
    "猫有2只。",
    "猫有3只。",
]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(TEXTS),
            st.sampled_from(list(Kind)),
            st.sampled_from(list(Status)),
            st.sampled_from([None, *ItemStatus]),
            st.sampled_from(list(Writer)),
        ),
        max_size=8,
    )
)
def test_whatever_there_was_a_second_night_changes_nothing(rows) -> None:
    entries, items = [], []
    for place, (text, kind, status, item_status, writer) in enumerate(rows):
        said = entry(f"e{place}", text, kind=kind, status=status, day=place)
        entries.append(said)
        if item_status is not None:
            items.append(item(f"e{place}", "Before.", day=place, status=item_status, by=writer))

    after = night(items, entries)

    for one in items:
        if one.written_by is Writer.USER or one.status is ItemStatus.REMOVED:
            kept = replace(after[one.id], conflicts=(), version=1, written_by=one.written_by)
            assert kept.text == one.text
