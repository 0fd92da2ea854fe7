"""Undo and redo of a run, over SQLite and, where one is named, PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from sleep_home import MODEL, NIGHT, SleepHome, dropping, garden, merging, one_later

from actors.records.erasure import SqlErasure
from pipeline.entries import Status, Writer
from pipeline.errors import Conflict, NotFound
from pipeline.ids import EntryId, RunId
from pipeline.runs import (
    UndoItem,
)

# Undo and redo ----------------------------------------------------------------------------------


def _done(items: Sequence[UndoItem]) -> Mapping[EntryId, bool]:
    return {item.entry: item.done for item in items}


def test_undo_restores_texts_statuses_order_and_vectors_as_new_versions(
    home: SleepHome,
) -> None:
    beans, _, corn, run = garden(home)

    items = home.store.undo(home.tenant, run, now=NIGHT)

    assert [(item.entry, item.done) for item in items] == [(beans, True), (corn, True)]
    restored, alive = home.entry(beans), home.entry(corn)
    assert (restored.text, restored.version) == ("Ola grows beans.", 3)
    assert (restored.written_by, restored.order.sequence) == (Writer.UNDO, 1)
    assert (alive.status, alive.superseded_by, alive.valid_to) == (Status.ACTIVE, None, None)
    assert home.vector(beans) == [1, 0]
    assert home.versions(beans)[-1] == (3, "undo", run)
    assert {row.state for row in home.store.ledger(home.tenant, run)} == {"undone"}
    assert home.store.run(home.tenant, run).undone
    assert home.outbox() == [corn, beans, beans, corn]


def test_an_undone_run_is_not_due_and_undoing_twice_changes_nothing(home: SleepHome) -> None:
    beans, _, _, run = garden(home)
    home.store.undo(home.tenant, run, now=NIGHT)

    again = home.store.undo(home.tenant, run, now=NIGHT)

    assert again == []
    assert home.entry(beans).version == 3
    assert home.store.due(home.tenant) == []


def test_what_an_undone_run_skipped_is_not_due_either(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn, no peas.", day=3)
    run = home.night(
        home.item(peas, [corn], dropping(corn)),
        home.item(beans, [peas, corn], merging(peas)),
    )
    open_before = home.store.snapshot(home.scope, model=MODEL).retry

    home.store.undo(home.tenant, run, now=NIGHT)

    assert open_before == {(beans, corn)}
    assert home.store.due(home.tenant) == []


def test_redo_applies_the_ledger_again_and_can_be_undone_again(home: SleepHome) -> None:
    beans, _, corn, run = garden(home)
    after_run = home.entry(beans)
    home.store.undo(home.tenant, run, now=NIGHT)

    redone = home.store.redo(home.tenant, run, now=NIGHT)
    after_redo = home.entry(beans)
    undone = home.store.undo(home.tenant, run, now=NIGHT)

    assert [(item.entry, item.done) for item in redone] == [(corn, True), (beans, True)]
    assert (after_redo.text, after_redo.order) == (after_run.text, after_run.order)
    assert (after_redo.version, after_redo.written_by) == (4, Writer.SLEEP)
    assert _done(undone) == {beans: True, corn: True}
    assert home.entry(corn).status is Status.ACTIVE
    assert home.store.run(home.tenant, run).undone


def test_redo_applies_what_rests_on_an_entry_that_the_run_itself_had_changed(
    home: SleepHome,
) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "奥拉也种玉米。", day=3)
    run = home.open()
    second = one_later(home.item(beans, [peas], merging(peas)))
    home.record(run, home.item(peas, [corn], merging(corn)), second)
    home.close(run)
    after_run = home.entry(beans).text, home.entry(peas).text

    for _ in range(2):
        undone = home.store.undo(home.tenant, run, now=NIGHT)
        redone = home.store.redo(home.tenant, run, now=NIGHT)

        assert _done(undone) == _done(redone) == {beans: True, peas: True}
        assert (home.entry(beans).text, home.entry(peas).text) == after_run


def test_redo_gives_back_the_vector_of_the_merged_text(home: SleepHome) -> None:
    beans, _, _, run = garden(home)
    home.store.undo(home.tenant, run, now=NIGHT)
    home.store.redo(home.tenant, run, now=NIGHT)

    assert home.vector(beans) == [0, 1]
    assert not home.store.run(home.tenant, run).undone
    assert home.store.due(home.tenant) == []


def test_undo_refuses_only_what_was_changed_since(home: SleepHome) -> None:
    beans, _, corn, run = garden(home)
    home.correct(beans, "Ola grows beans and sweet peas.")

    items = home.store.undo(home.tenant, run, now=NIGHT)

    assert _done(items) == {beans: False, corn: True}
    assert items[0].refused == "changed since by user: expected version 2, got 3"
    assert home.entry(beans).text == "Ola grows beans and sweet peas."


def test_undo_refuses_what_a_later_run_rests_on(home: SleepHome) -> None:
    beans, peas, corn, run = garden(home)
    roses = home.say("roses", "Ola grows roses.", day=0)
    later = home.night(home.item(roses, [beans], merging(beans, "Ola grows roses and beans.")))

    refused = home.store.undo(home.tenant, run, now=NIGHT)
    home.store.undo(home.tenant, later, now=NIGHT)
    taken_back = home.store.undo(home.tenant, run, now=NIGHT)

    assert refused[0].refused == f"run {later} decided on entry {roses} with it"
    assert _done(refused) == {beans: False, corn: True}
    assert _done(taken_back) == {beans: True}
    assert home.entry(peas).version == 1


def test_redo_refuses_where_the_entry_or_its_candidate_changed(home: SleepHome) -> None:
    beans, peas, corn, run = garden(home)
    home.store.undo(home.tenant, run, now=NIGHT)
    home.correct(peas, "Ola grows sugar peas.")
    home.correct(corn, "Ola grows sweetcorn.")

    items = home.store.redo(home.tenant, run, now=NIGHT)

    assert _done(items) == {beans: False, corn: False}
    assert {item.entry: item.refused for item in items} == {
        corn: "changed since by user: expected version 3, got 4",
        beans: f"candidate {peas} changed since: expected version 1",
    }
    assert home.store.run(home.tenant, run).undone


def test_redo_refuses_where_the_candidate_was_deleted_meanwhile(home: SleepHome) -> None:
    beans, peas, _, run = garden(home)
    rice = EntryId(f"{home.tenant}/rice")
    home.store.undo(home.tenant, run, now=NIGHT)
    home.night(home.item(peas, [rice], dropping(rice)))

    items = home.store.redo(home.tenant, run, now=NIGHT)

    assert not _done(items)[beans]


def test_a_running_or_unknown_run_is_not_undone(home: SleepHome) -> None:
    run = home.open()

    with pytest.raises(Conflict, match="still running"):
        home.store.undo(home.tenant, run, now=NIGHT)
    with pytest.raises(NotFound):
        home.store.redo(home.tenant, RunId("no-such-run"), now=NIGHT)


# Absorbed ---------------------------------------------------------------------------------------


def _absorbing(home: SleepHome) -> tuple[EntryId, EntryId, RunId]:
    """A night whose merge let the candidate rest, which was itself updated before."""
    target, newer, newest = (
        home.say(name, text, day=day)
        for day, (name, text) in enumerate([("a", "beans"), ("b", "peas"), ("c", "herbs")], 1)
    )
    run = home.open()
    item = replace(
        home.item(target, [newer], merging(newer, "beans, peas and herbs")), absorbed=(newer,)
    )
    first = home.item(newer, [newest], merging(newest, "peas and herbs"))
    home.record(run, first, one_later(item))
    home.close(run)
    return target, newer, run


def test_an_absorbed_candidate_is_outdated_with_a_link_and_its_vector(
    home: SleepHome,
) -> None:
    target, newer, run = _absorbing(home)

    entry = home.entry(newer)

    assert (entry.status, entry.superseded_by, entry.text) == (
        Status.OUTDATED,
        target,
        "peas and herbs",
    )
    assert home.vector(newer) == pytest.approx([0, 1])
    assert home.outbox().count(newer) == 2
    assert [row.absorbed for row in home.store.ledger(home.tenant, run)] == [
        (),
        (newer,),
    ]
    assert newer not in {one.id for one in home.store.snapshot(home.scope, model=MODEL).entries}


def test_undo_and_redo_cover_what_was_absorbed(home: SleepHome) -> None:
    target, newer, run = _absorbing(home)

    undone = home.store.undo(home.tenant, run, now=NIGHT)
    after_undo = (
        home.entry(target).text,
        home.entry(newer).text,
        home.entry(newer).status,
    )
    redone = home.store.redo(home.tenant, run, now=NIGHT)
    after_redo = (
        home.entry(target).text,
        home.entry(newer).text,
        home.entry(newer).status,
    )
    again = home.store.undo(home.tenant, run, now=NIGHT)

    assert [(item.entry, item.refused) for item in undone] == [
        (target, None),
        (newer, None),
        (newer, None),
    ]
    assert after_undo == ("beans", "peas", Status.ACTIVE)
    assert all(item.done for item in redone)
    assert after_redo == ("beans, peas and herbs", "peas and herbs", Status.OUTDATED)
    assert all(item.done for item in again)
    assert (home.entry(newer).text, home.entry(newer).status) == ("peas", Status.ACTIVE)


def test_undo_leaves_an_absorbed_entry_that_a_user_changed_and_says_so(
    home: SleepHome,
) -> None:
    target, newer, run = _absorbing(home)
    home.correct(newer, "sweet peas")

    items = home.store.undo(home.tenant, run, now=NIGHT)

    assert home.entry(target).text == "beans"
    assert home.entry(newer).text == "sweet peas"
    assert [(item.entry, item.done) for item in items] == [
        (target, True),
        (newer, False),
        (newer, False),
    ]
    assert all("changed since by user" in str(item.refused) for item in items[1:])


def test_what_rested_in_an_erased_entry_is_told_again(home: SleepHome) -> None:
    target, newer, _run = _absorbing(home)

    SqlErasure(home.engine).erase_entry(home.tenant, target, siblings=False, now=NIGHT)

    woken = home.entry(newer)
    assert (woken.status, woken.superseded_by, woken.valid_to) == (Status.ACTIVE, None, None)
    assert woken.text == "peas and herbs"
    assert home.vector(newer) == pytest.approx([0, 1])
    assert home.store.snapshot(home.scope, model=MODEL).entries[0].id == newer
