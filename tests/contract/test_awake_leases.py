"""Who works on a collection, and how often: leases, epochs and attempts, on every database."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from walking import LATER, NOON, entries, load, remember, say, stored, take, whole_step

from actors.records import Records
from pipeline.messages import MessageState, NewMessage, Role, Scope, TenantId
from pipeline.state import AwakeCommit, Lease


def test_an_idle_store_has_nothing_to_lease(records: Records, scope: Scope) -> None:
    assert take(records) == []

    remember(records, scope, "I have a cat.", "Ola has a cat.")

    assert take(records) == []


def test_a_held_collection_is_not_leased_again_until_it_is_released(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one")
    [lease] = take(records, "first")

    assert take(records, "second") == []
    records.awake.release([lease])
    [next_lease] = take(records, "second")

    assert next_lease.epoch > lease.epoch


def test_an_expired_lease_is_taken_over_with_a_higher_epoch_and_the_zombie_commits_nothing(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one")
    [zombie] = take(records, "zombie")
    state = load(records, zombie)
    [heir] = take(records, "heir", now=NOON + timedelta(seconds=31))
    statement = stored(scope, state.accepted[0], "Ola said one.")
    step = whole_step(0, state.accepted, [statement])

    assert heir.epoch > zombie.epoch
    assert records.awake.commit(zombie, step, now=LATER) is False
    assert entries(records, scope) == []
    assert records.messages.messages(scope)[0].state is MessageState.ACCEPTED
    assert records.awake.heartbeat([zombie], now=LATER, ttl_s=30) == []
    assert records.awake.commit(heir, step, now=LATER) is True
    assert len(entries(records, scope)) == 1


def test_a_worker_with_the_epoch_of_another_commits_nothing(records: Records, scope: Scope) -> None:
    say(records, scope, "one")
    [lease] = take(records, "first")

    stolen = replace(lease, worker="second")

    assert records.awake.commit(stolen, AwakeCommit(start_step=0), now=NOON) is False


def test_a_step_that_was_committed_is_not_committed_again(records: Records, scope: Scope) -> None:
    say(records, scope, "one")
    [lease] = take(records)
    state = load(records, lease)
    step = whole_step(0, state.accepted, [stored(scope, state.accepted[0], "Ola said one.")])

    assert records.awake.commit(lease, step, now=NOON) is True
    assert records.awake.commit(lease, step, now=NOON) is False
    assert len(entries(records, scope)) == 1


def test_a_released_lease_commits_nothing(records: Records, scope: Scope) -> None:
    say(records, scope, "one")
    [lease] = take(records)
    records.awake.release([lease])
    records.awake.release([lease])

    assert records.awake.commit(lease, AwakeCommit(start_step=0), now=NOON) is False


def test_a_heartbeat_keeps_the_lease(records: Records, scope: Scope) -> None:
    say(records, scope, "one")
    [lease] = take(records)

    held = records.awake.heartbeat([lease], now=NOON + timedelta(seconds=25), ttl_s=30)

    assert held == [lease]
    assert take(records, "other", now=NOON + timedelta(seconds=40)) == []
    assert len(take(records, "other", now=NOON + timedelta(seconds=56))) == 1


def test_the_lease_of_a_dead_worker_runs_out_although_the_clock_was_set_back(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "我养了一只猫。")
    [dead] = take(records, "dead")
    earlier = NOON - timedelta(hours=1)

    [taken] = take(records, "next", now=earlier)

    assert taken.epoch > dead.epoch
    assert take(records, "third", now=earlier + timedelta(seconds=29)) == []
    assert records.awake.commit(dead, AwakeCommit(start_step=0), now=earlier) is False


def test_a_clock_that_is_a_little_behind_takes_no_lease_away(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "I have a cat.")
    take(records, "first")

    assert take(records, "second", now=NOON - timedelta(seconds=20)) == []


def test_a_holder_that_lives_keeps_its_lease_over_a_clock_set_back(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "I have a cat.")
    [lease] = take(records, "first")
    earlier = NOON - timedelta(hours=1)

    records.awake.heartbeat([lease], now=earlier, ttl_s=30)

    assert take(records, "second", now=earlier) == []


def test_a_crash_between_load_and_commit_loses_nothing(records: Records, scope: Scope) -> None:
    say(records, scope, "one", "two")
    [dead] = take(records, "dead")
    before = load(records, dead)

    [heir] = take(records, "heir", now=LATER)

    again = load(records, heir)
    assert not before.is_careful
    assert not again.is_careful
    assert again.accepted == before.accepted


def test_after_a_second_crash_in_a_row_steps_are_taken_with_care(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one", "二")
    take(records, "dead")
    take(records, "dead as well", now=LATER)

    [heir] = take(records, "heir", now=LATER + timedelta(minutes=10))

    state = load(records, heir)
    assert state.is_careful
    assert [message.content for message in state.accepted] == ["one"]


def test_a_commit_between_two_crashes_parts_them(records: Records, scope: Scope) -> None:
    say(records, scope, "one", "二")
    take(records, "dead")
    [heir] = take(records, "heir", now=LATER)
    records.awake.commit(heir, AwakeCommit(start_step=0), now=LATER)

    [next_heir] = take(records, "next heir", now=LATER + timedelta(minutes=10))

    assert not load(records, next_heir).is_careful


def test_the_longest_waiting_collection_comes_first(records: Records, scope: Scope) -> None:
    for n, name in enumerate(["late", "early", "middle"]):
        at = NOON + timedelta(seconds={0: 30, 1: 10, 2: 20}[n])
        message = NewMessage(
            conversation="c", role=Role.USER, speaker="Ola", content="x", said_at=NOON
        )
        records.messages.accept(replace(scope, collection=name), [message], now=at)

    leased = take(records, now=LATER, limit=2)

    assert [lease.scope.collection for lease in leased] == ["early", "middle"]


def test_parallel_workers_never_get_the_same_collection(records: Records, scope: Scope) -> None:
    for n in range(24):
        say(records, replace(scope, collection=f"c{n}"), "one")

    def work(worker: str) -> list[Lease]:
        return [lease for _ in range(6) for lease in take(records, worker, limit=2)]

    with ThreadPoolExecutor(6) as pool:
        leased = [lease for some in pool.map(work, "abcdef") for lease in some]

    assert sorted(lease.scope.collection for lease in leased) == sorted(f"c{n}" for n in range(24))


def test_an_attempt_is_counted_before_the_message_is_touched(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one", "two")
    [lease] = take(records)
    first, second = (message.id for message in load(records, lease).accepted)

    assert records.awake.claim(lease, [first]) == {first: 1}
    assert records.awake.claim(lease, [first, second]) == {first: 2, second: 1}

    records.awake.commit(lease, AwakeCommit(start_step=0, survived=(first,)), now=NOON)
    assert records.awake.claim(lease, [first, second]) == {first: 1, second: 2}


def test_an_attempt_that_failed_for_no_fault_of_its_messages_is_taken_back(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one", "二")
    [lease] = take(records)
    first, second = (message.id for message in load(records, lease).accepted)
    records.awake.claim(lease, [first, second])

    records.awake.unclaim(lease, [first])

    assert records.awake.claim(lease, [first, second]) == {first: 1, second: 2}


def test_a_lost_lease_counts_no_attempt(records: Records, scope: Scope) -> None:
    say(records, scope, "one")
    [lost] = take(records, "slow")
    [lease] = take(records, "quick", now=LATER)
    [first] = (message.id for message in load(records, lost).accepted)

    assert records.awake.claim(lost, [first]) is None
    assert records.awake.claim(lease, [first]) == {first: 1}


def test_two_failed_steps_are_followed_by_careful_ones_that_know_why(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one", "two", "three")
    for _ in range(2):
        [lease] = take(records)
        records.awake.fail([lease], "ModelError: 没有回答")
        records.awake.release([lease])
    say(records, scope, "four")
    [lease] = take(records)

    first = load(records, lease)
    assert first.is_careful
    assert first.failure == "ModelError: 没有回答"
    assert [message.content for message in first.accepted] == ["one"]

    for step in range(3):
        [message] = load(records, lease).accepted
        records.awake.commit(lease, whole_step(step, [message]), now=NOON)
    after = load(records, lease)
    assert not after.is_careful
    assert [message.content for message in after.accepted] == ["four"]


def test_tenants_take_turns_however_long_one_of_them_waits(records: Records, scope: Scope) -> None:
    for number in range(5):
        say(records, Scope(tenant=scope.tenant, collection=f"crowd-{number}"), "早", "x")
    records.messages.accept(
        Scope(tenant=TenantId("globex"), collection="late"),
        [
            NewMessage(
                conversation="c", role=Role.USER, speaker="Bo", content="hello", said_at=LATER
            )
        ],
        now=NOON + timedelta(seconds=9),
    )

    taken = take(records, limit=2, now=NOON + timedelta(seconds=10))

    assert [(lease.scope.tenant, lease.scope.collection) for lease in taken] == [
        ("acme", "crowd-0"),
        ("globex", "late"),
    ]
    assert [lease.waiting for lease in taken] == [2, 1]
