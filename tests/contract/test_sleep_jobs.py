"""Jobs that take over, stop, or look at some entries, over SQLite and, where named, PostgreSQL."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sleep_home import MODEL, NIGHT, SleepHome, a_run, merging

from pipeline.entries import Ignore, Kind
from pipeline.errors import Conflict
from pipeline.runs import (
    EntryFilter,
    RunOptions,
    Stop,
    Trigger,
)

# Jobs -------------------------------------------------------------------------------------------


def test_a_run_is_read_back_as_it_was_opened(home: SleepHome) -> None:
    run = replace(
        a_run(home.tenant, NIGHT),
        trigger=Trigger.IDLE,
        options=RunOptions(collection="garden", full=True, min_similarity=0.8, absorb=True),
        deadline=NIGHT + timedelta(hours=2),
        max_tokens=10**12,
        seen_at=NIGHT,
    )

    home.store.open_run(run)

    assert home.store.run(home.tenant, run.id) == run


def test_a_silent_job_is_taken_over_by_one_and_its_late_end_is_not_written(
    home: SleepHome,
) -> None:
    run = home.store.open_run(replace(a_run(home.tenant, NIGHT), seen_at=NIGHT))
    later = NIGHT + timedelta(minutes=2)

    early = home.mine(home.store.take_over(silent_since=NIGHT, now=later))
    first = home.mine(home.store.take_over(silent_since=later, now=later))
    second = home.mine(home.store.take_over(silent_since=later, now=later))
    home.store.close_run(
        home.tenant, run.id, status="failed", totals={}, error="late", attempt=1, now=later
    )

    assert (early, second) == ([], [])
    assert [(one.id, one.attempt, one.seen_at) for one in first] == [(run.id, 2, later)]
    assert home.store.run(home.tenant, run.id).status == "running"
    with pytest.raises(Conflict, match="job 1"):
        home.store.beat(home.tenant, run.id, attempt=1, now=later)


def test_a_job_that_says_it_lives_keeps_its_run(home: SleepHome) -> None:
    run = home.store.open_run(replace(a_run(home.tenant, NIGHT), seen_at=NIGHT))
    later = NIGHT + timedelta(minutes=2)

    home.store.beat(home.tenant, run.id, attempt=1, now=later)

    assert home.mine(home.store.take_over(silent_since=later, now=later)) == []


def test_tokens_of_a_run_add_up_and_it_says_why_it_stopped(home: SleepHome) -> None:
    run = home.open()

    sums = [home.store.spend(home.tenant, run, tokens=tokens) for tokens in (70, 50)]
    closed = home.store.close_run(
        home.tenant,
        run,
        status="stopped",
        totals={"left": 1},
        error=None,
        stop=Stop.TOKENS,
        attempt=1,
        now=NIGHT,
    )

    assert sums == [70, 120]
    assert (closed.tokens, closed.status, closed.stop) == (120, "stopped", Stop.TOKENS)


def test_a_run_that_has_ended_ends_no_second_time(home: SleepHome) -> None:
    run = home.open()
    home.close(run)

    again = home.store.close_run(
        home.tenant, run, status="failed", totals={}, error="twice", now=NIGHT
    )

    assert (again.status, again.error) == ("completed", None)


# Some entries -----------------------------------------------------------------------------------


def test_a_snapshot_of_some_entries_holds_those_alone(home: SleepHome) -> None:
    home.say("a", "Ola grows beans.", day=1)

    def seen(only: EntryFilter) -> int:
        return len(home.store.snapshot(home.scope, model=MODEL, only=only).entries)

    assert seen(EntryFilter(kinds=(Kind.FACT, Kind.TASK), speakers=("Ola",))) == 1
    assert seen(EntryFilter(kinds=(Kind.TASK,))) == 0
    assert seen(EntryFilter(speakers=("Ida",))) == 0
    assert seen(EntryFilter(topics=("boats",))) == 0


def test_a_run_over_some_entries_leaves_its_collection_due_and_its_pairs_settled(
    home: SleepHome,
) -> None:
    target, newer = home.say("a", "beans", day=1), home.say("b", "peas", day=2)
    run = home.open(is_filtered=True)

    home.record(run, home.item(target, [newer], merging(newer)))
    home.close(run)

    pair = frozenset({(target, newer)})
    seen = home.store.snapshot(home.scope, model=MODEL)
    assert [one.scope for one in home.store.due(home.tenant)] == [home.scope]
    assert (seen.is_new.tolist(), seen.settled) == ([True, True], pair)
    home.store.undo(home.tenant, run, now=NIGHT)
    assert home.store.snapshot(home.scope, model=MODEL).settled == pair
    home.correct(newer, "sweet peas")
    assert home.store.snapshot(home.scope, model=MODEL).settled == frozenset()


def test_a_run_over_some_entries_does_not_settle_what_was_left_open(home: SleepHome) -> None:
    target, newer, third = (home.say(name, name, day=day) for day, name in enumerate("abc", 1))
    home.night(home.item(target, [newer, third], None))
    run = home.open(is_filtered=True)

    home.record(run, home.item(target, [newer], Ignore(reason="another matter")))
    home.close(run)

    seen = home.store.snapshot(home.scope, model=MODEL)
    assert seen.retry == frozenset({(target, newer), (target, third)})


def test_a_full_run_takes_collections_that_are_not_due(home: SleepHome) -> None:
    home.say("a", "beans", day=1)
    home.night()

    assert home.store.due(home.tenant) == []
    assert [one.scope for one in home.store.due(home.tenant, is_full=True)] == [home.scope]
