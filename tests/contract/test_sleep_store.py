"""The laws of a sleep store, over SQLite and, where one is named, PostgreSQL."""

import uuid
from dataclasses import replace
from datetime import timedelta

import pytest
from sleep_home import MODEL, NIGHT, NOON, NORTH, SleepHome, a_run, dropping, garden, merging

from pipeline.entries import Delete, Ignore, Status, Update, Writer
from pipeline.errors import ConfigError, Conflict, InputError, NotFound
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId

# Runs -------------------------------------------------------------------------------------------


def test_one_window_has_one_run_and_any_number_of_previews_beside_it(home: SleepHome) -> None:
    first = home.store.open_run(a_run(home.tenant, NIGHT))
    preview = home.store.open_run(a_run(home.tenant, NIGHT, dry_run=True))

    with pytest.raises(Conflict, match="window"):
        home.store.open_run(a_run(home.tenant, NIGHT))

    assert {run.id for run in home.store.runs(home.tenant)} == {first.id, preview.id}


def test_a_run_of_an_unknown_tenant_is_refused(home: SleepHome) -> None:
    with pytest.raises(NotFound, match="nobody"):
        home.store.open_run(a_run(TenantId("nobody"), NIGHT))


def test_a_closed_run_says_how_it_ended_and_runs_come_newest_first(home: SleepHome) -> None:
    first, second = home.open(), home.open()

    closed = home.store.close_run(
        home.tenant,
        first,
        status="failed",
        totals={"targets": 3},
        error="no model",
        now=NIGHT,
    )

    assert (closed.status, closed.totals, closed.error) == ("failed", {"targets": 3}, "no model")
    assert closed.finished_at == NIGHT
    assert [run.id for run in home.store.runs(home.tenant)] == [second, first]
    assert [run.id for run in home.store.runs(home.tenant, limit=1)] == [second]


def test_a_run_is_found_by_its_own_tenant_only(home: SleepHome) -> None:
    run, stranger = home.open(), SleepHome(home.engine)

    assert home.store.run(home.tenant, run).id == run
    with pytest.raises(NotFound):
        home.store.run(stranger.tenant, run)
    with pytest.raises(NotFound):
        home.store.record(run, stranger.scope, [], through=0, model=MODEL, dry_run=False, now=NIGHT)
    assert stranger.store.due(stranger.tenant) == []


def test_runs_of_one_id_in_two_tenants_are_undone_apart(home: SleepHome) -> None:
    beans, _, _, run = garden(home)
    stranger = SleepHome(home.engine)
    stranger.store.open_run(replace(a_run(stranger.tenant, NIGHT), id=run))
    stranger.close(run)

    undone = stranger.store.undo(stranger.tenant, run, now=NIGHT)

    assert undone == []
    assert home.store.run(home.tenant, run).undone is False
    assert home.entry(beans).version == 2


# What is due ------------------------------------------------------------------------------------


def test_a_collection_is_due_until_a_run_has_seen_its_new_entries(home: SleepHome) -> None:
    home.say("beans", "Ola grows beans.", day=1)
    home.say("peas", "Ola grows peas.", day=2)

    before = home.store.due(home.tenant)
    home.night()

    assert [(one.scope, one.entries) for one in before] == [(home.scope, 2)]
    assert home.store.due(home.tenant) == []
    assert home.store.due(home.tenant, collection="elsewhere") == []


def test_a_snapshot_has_the_entries_in_their_order_with_their_vectors(
    home: SleepHome,
) -> None:
    peas = home.say("peas", "Ola grows peas.", day=2, vector=NORTH)
    beans = home.say("beans", "Ola grows beans.", day=1)
    home.night()
    corn = home.say("corn", "奥拉种玉米。", day=0)

    seen = home.store.snapshot(home.scope, model=MODEL)

    assert [entry.id for entry in seen.entries] == [corn, beans, peas]
    assert seen.is_new.tolist() == [True, False, False]
    assert seen.vectors.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert (seen.through, seen.retry) == (3, frozenset())


def test_what_is_written_after_the_snapshot_is_due_next_time(home: SleepHome) -> None:
    home.say("beans", "Ola grows beans.", day=1)
    through = home.store.snapshot(home.scope, model=MODEL).through
    late = home.say("peas", "Ola grows peas.", day=2)

    home.record(home.open(), through=through)

    seen = home.store.snapshot(home.scope, model=MODEL)
    assert [e.id for e, new in zip(seen.entries, seen.is_new, strict=True) if new] == [late]
    assert len(home.store.due(home.tenant)) == 1


def test_an_earlier_run_that_writes_late_does_not_make_old_entries_new(
    home: SleepHome,
) -> None:
    home.say("beans", "Ola grows beans.", day=1)
    stale = home.open()
    home.night()

    home.record(stale, through=0)

    assert home.store.due(home.tenant) == []


def test_a_snapshot_of_another_model_or_collection_is_refused(home: SleepHome) -> None:
    home.say("beans", "Ola grows beans.", day=1)

    with pytest.raises(ConfigError, match="1 entries of collection garden have no vector of big"):
        home.store.snapshot(home.scope, model="big")
    with pytest.raises(NotFound):
        home.store.snapshot(Scope(tenant=home.tenant, collection="attic"), model=MODEL)


def test_an_empty_collection_has_an_empty_snapshot(home: SleepHome) -> None:
    seen = home.store.snapshot(home.scope, model=MODEL)

    assert (seen.entries, len(seen.vectors), len(seen.is_new)) == ((), 0, 0)


# Recording --------------------------------------------------------------------------------------


def test_an_update_writes_a_version_with_the_vector_of_the_new_text(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    run = home.open()

    (row,) = home.record(run, home.item(beans, [peas], merging(peas)))

    after = home.entry(beans)
    assert (after.text, after.version, after.written_by) == (row.text_after, 2, Writer.SLEEP)
    assert (after.said_at, after.valid_from) == (NOON + timedelta(days=2), NOON + timedelta(days=1))
    assert home.vector(beans) == [0, 1]
    assert home.versions(beans) == [(1, "ingest", None), (2, "sleep", run)]
    assert home.outbox() == [beans]
    assert (row.state, row.action, row.text_before) == ("applied", "update", "Ola grows beans.")
    assert (row.version_after, row.decider, row.reason) == (2, "rules", "adds")
    assert home.store.ledger(home.tenant, run) == [row]


def test_invariant_5_a_delete_keeps_the_entry_and_its_vector_with_a_link(
    home: SleepHome,
) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    corn = home.say("corn", "Ola grows corn instead of beans.", day=2)

    (row,) = home.record(home.open(), home.item(beans, [corn], dropping(corn)))

    after = home.entry(beans)
    assert (after.status, after.superseded_by) == (Status.OUTDATED, corn)
    assert (after.valid_to, after.text) == (NOON + timedelta(days=2), "Ola grows beans.")
    assert home.vector(beans) == [1, 0]
    assert (row.state, row.action, row.text_after) == ("applied", "delete", None)
    kept = home.store.snapshot(home.scope, model=MODEL).entries
    assert [entry.id for entry in kept] == [corn]


def test_ignored_and_failed_decisions_change_no_entry(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn.", day=3)

    rows = home.record(
        home.open(),
        home.item(peas, [corn], Ignore(reason="another crop")),
        home.item(beans, [corn], None),
    )

    assert [(row.state, row.action, row.note) for row in rows] == [
        ("ignored", "ignore", None),
        ("failed", "none", "the decider timed out"),
    ]
    assert home.outbox() == []


@pytest.mark.parametrize("changed", ["beans", "peas"])
def test_invariant_7_a_decision_on_a_changed_entry_is_skipped_and_due_again(
    home: SleepHome, changed: str
) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    item = home.item(beans, [peas], merging(peas))
    through = home.store.snapshot(home.scope, model=MODEL).through
    home.correct({"beans": beans, "peas": peas}[changed], "Ola grows nothing.")

    (row,) = home.record(home.open(), item, through=through)

    assert row.state == "skipped"
    assert row.note is not None
    assert "version 2, decided at version 1" in row.note
    assert home.entry(beans).version == (2 if changed == "beans" else 1)
    assert home.store.snapshot(home.scope, model=MODEL).retry == {(beans, peas)}


def test_a_change_of_an_unused_candidate_does_not_hold_up_the_decision(
    home: SleepHome,
) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn.", day=3)
    item = home.item(beans, [peas, corn], merging(peas))
    home.correct(corn, "Ola grows maize.")

    (row,) = home.record(home.open(), item)

    assert row.state == "applied"


def test_an_entry_changed_by_an_earlier_item_of_the_run_counts_as_changed(
    home: SleepHome,
) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn, no peas.", day=3)

    rows = home.record(
        home.open(),
        home.item(peas, [corn], dropping(corn)),
        home.item(beans, [peas], merging(peas)),
    )

    assert [row.state for row in rows] == ["applied", "skipped"]
    assert home.entry(beans).text == "Ola grows beans."
    assert home.store.due(home.tenant) == []  # the candidate no longer holds: nothing to repeat


def test_a_decision_that_uses_no_candidate_of_its_own_fails(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)

    (row,) = home.record(home.open(), home.item(beans, [peas], dropping(EntryId("other"))))

    assert (row.state, row.note) == ("failed", "expected a candidate, got entry other")


def test_an_update_without_a_vector_writes_nothing(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    item = replace(home.item(beans, [peas], merging(peas)), vector=None)
    run = home.open()

    with pytest.raises(InputError, match="vector"):
        home.record(run, item)

    assert home.entry(beans).version == 1
    assert home.store.ledger(home.tenant, run) == []


def test_a_repeated_record_returns_the_first_rows_and_applies_nothing(
    home: SleepHome,
) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    run, item = home.open(), home.item(beans, [peas], merging(peas))
    first = home.record(run, item)

    again = home.record(run, replace(item, decision=Ignore(reason="second thoughts")))

    assert again == first == home.store.ledger(home.tenant, run)
    assert home.entry(beans).version == 2


def test_what_came_in_after_a_run_had_recorded_its_collection_stays_due(
    home: SleepHome,
) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas too.", day=2)
    run = home.open()
    first = home.record(run, home.item(beans, [peas], Ignore(reason="unsure")))
    corn = home.say("corn", "奥拉也种玉米。", day=3)

    again = home.record(run, home.item(beans, [peas, corn], merging(corn)))

    assert again == first
    assert home.entry(beans).text == "Ola grows beans."
    assert home.store.due(home.tenant, but_of=run) == []
    assert [one.scope for one in home.store.due(home.tenant)] == [home.scope]
    assert home.store.counts(home.tenant, run) == {
        "targets": 1,
        "update": 0,
        "delete": 0,
        "ignore": 1,
        "skipped": 0,
        "failed": 0,
        "absorbed": 0,
        "collections": 1,
    }


def test_a_dry_run_leaves_rows_and_nothing_else(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    run = home.open(dry_run=True)

    rows = home.record(
        run,
        replace(home.item(beans, [peas], merging(peas)), vector=None),
        dry_run=True,
    )

    assert [(row.state, row.text_after) for row in rows] == [("dry", "Ola grows beans and peas.")]
    assert home.entry(beans).version == 1
    assert home.outbox() == []
    assert len(home.store.due(home.tenant)) == 1


# What was left open -----------------------------------------------------------------------------


def test_a_failed_decision_is_due_until_a_later_run_decides_it(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    home.night(home.item(beans, [peas], None))
    retry = home.store.snapshot(home.scope, model=MODEL)

    due = home.store.due(home.tenant)
    home.night(home.item(beans, [peas], Ignore(reason="another crop")))

    assert retry.retry == {(beans, peas)}
    assert not retry.is_new.any()
    assert len(due) == 1
    assert home.store.due(home.tenant) == []


def test_a_failed_decision_whose_candidate_was_deleted_is_not_due(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn, no peas.", day=3)
    home.night(home.item(peas, [corn], dropping(corn)), home.item(beans, [peas], None))

    assert home.store.due(home.tenant) == []


def test_a_dry_run_does_not_settle_what_was_left_open(home: SleepHome) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    home.night(home.item(beans, [peas], None))

    preview = home.open(dry_run=True)
    home.record(preview, home.item(beans, [peas], Ignore(reason="another crop")), dry_run=True)

    assert len(home.store.due(home.tenant)) == 1


# Replies ----------------------------------------------------------------------------------------


def test_the_first_reply_to_a_prompt_stays(home: SleepHome) -> None:
    keys = [str(uuid.uuid4()) for _ in range(4)]
    replies = {
        keys[0]: Ignore(reason="无关"),
        keys[1]: Update(text="两箱蜂", used=(EntryId("a"), EntryId("b")), reason="adds"),
        keys[2]: Delete(superseded_by=EntryId("c"), reason="sold"),
    }
    home.store.cache_decisions(replies, scope=home.scope, through=0, now=NIGHT)

    other = {keys[0]: Delete(superseded_by=EntryId("z"), reason="")}
    home.store.cache_decisions(other, scope=home.scope, through=0, now=NIGHT)
    home.store.cache_decisions({}, scope=home.scope, through=0, now=NIGHT)

    assert home.store.cached_decisions(keys, scope=home.scope) == replies
    elsewhere = replace(home.scope, collection="another")
    assert home.store.cached_decisions(keys, scope=elsewhere) == {}
