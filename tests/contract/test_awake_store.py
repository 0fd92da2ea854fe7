"""The laws of an awake store, over SQLite and, where one is named, PostgreSQL."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from actors.records import Records
from pipeline.entries import Kind, OrderKey, Statement, Status, Writer
from pipeline.errors import NotFound
from pipeline.ids import entry_id, segment_id
from pipeline.messages import Message, MessageState, NewMessage, Role, Scope, Segment, TenantId
from pipeline.state import AwakeCommit, Compressed, Lease, StoredStatement

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=10)
EAST = np.array([1.0, 0.0], dtype=np.float32)
NORTH = np.array([0.0, 1.0], dtype=np.float32)


def say(records: Records, scope: Scope, *contents: str, conversation: str = "chat") -> None:
    batch = [
        NewMessage(
            conversation=conversation,
            role=Role.USER,
            speaker="Ola",
            content=content,
            said_at=NOON + timedelta(minutes=n),
        )
        for n, content in enumerate(contents)
    ]
    records.messages.accept(scope, batch, now=NOON)


def take(records: Records, worker: str = "w", *, now: datetime = NOON, limit: int = 10):
    return records.awake.lease(worker, limit=limit, now=now, ttl_s=30, idle_s=60)


def load(records: Records, lease: Lease, *, now: datetime = NOON, limit: int = 100):
    return records.awake.load(lease, limit=limit, now=now, idle_s=60)


def segment(messages: Sequence[Message]) -> Segment:
    return Segment(
        id=segment_id(messages[0].id),
        conversation=messages[0].conversation,
        topic="cats",
        messages=tuple(messages),
    )


def stored(
    scope: Scope, message: Message, text: str, *, ordinal: int = 0, vector=EAST, **other: object
) -> StoredStatement:
    plain = Statement(
        text=text,
        kind=Kind.FACT,
        speaker="Ola",
        said_at=message.said_at,
        zone="UTC",
        language="en",
        sources=(message.id,),
        sequence=message.sequence,
        ordinal=ordinal,
    )
    return StoredStatement(
        id=entry_id(scope.tenant, scope.collection, message.id, ordinal),
        statement=replace(plain, **other),
        vector=vector,
    )


def whole_step(
    step: int, messages: Sequence[Message], statements: Sequence[StoredStatement] = ()
) -> AwakeCommit:
    cut = segment(messages)
    return AwakeCommit(
        start_step=step,
        compressed={message.id: Compressed(text="short") for message in messages},
        segments=(cut,),
        extracted=(cut.id,),
        statements=tuple(statements),
        model="tiny",
    )


def remember(records: Records, scope: Scope, content: str, text: str, **other: object) -> None:
    say(records, scope, content)
    [lease] = take(records)
    state = load(records, lease)
    statement = stored(scope, state.accepted[0], text, **other)
    assert records.awake.commit(
        lease, whole_step(state.step, state.accepted, [statement]), now=NOON
    )
    records.awake.release([lease])


def entries(records: Records, scope: Scope):
    return list(records.entries.entries(scope).entries)


def test_a_message_walks_from_accepted_to_extracted(records: Records, scope: Scope) -> None:
    say(records, scope, "one", "two", "three")
    [lease] = take(records)
    first, second, third = load(records, lease).accepted

    compressed = {
        first.id: Compressed(text="1"),
        second.id: Compressed(text="two", fallback="too short"),
        third.id: Compressed(text="3"),
    }
    assert records.awake.commit(lease, AwakeCommit(start_step=0, compressed=compressed), now=NOON)
    state = load(records, lease)
    assert state.accepted == ()
    assert [message.compressed for message in state.windows["chat"]] == ["1", "two", "3"]
    assert [message.content for message in state.windows["chat"]] == ["one", "two", "three"]

    cut = segment(state.windows["chat"][:2])
    assert records.awake.commit(lease, AwakeCommit(start_step=1, segments=(cut,)), now=NOON)
    state = load(records, lease)
    assert [message.id for message in state.windows["chat"]] == [third.id]
    assert [buffered.id for buffered in state.buffered] == [cut.id]
    assert [message.id for message in state.buffered[0].messages] == [first.id, second.id]
    assert state.buffered[0].topic == "cats"

    assert records.awake.commit(lease, AwakeCommit(start_step=2, extracted=(cut.id,)), now=NOON)
    state = load(records, lease)
    assert state.buffered == ()
    assert state.step == 3
    assert records.messages.collection(scope).pending == 1
    states = [message.state for message in records.messages.messages(scope)]
    assert states == [MessageState.EXTRACTED, MessageState.EXTRACTED, MessageState.WINDOWED]


def test_windows_are_kept_per_conversation(records: Records, scope: Scope) -> None:
    say(records, scope, "one", conversation="a")
    say(records, scope, "two", conversation="b")
    [lease] = take(records)
    accepted = load(records, lease).accepted
    compressed = {message.id: Compressed(text="x") for message in accepted}
    records.awake.commit(lease, AwakeCommit(start_step=0, compressed=compressed), now=NOON)

    windows = load(records, lease).windows

    assert {name: [m.content for m in window] for name, window in windows.items()} == {
        "a": ["one"],
        "b": ["two"],
    }


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


def test_open_messages_become_idle_although_the_clock_was_set_back(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "I have a cat.")
    [lease] = take(records)
    [message] = load(records, lease).accepted
    compressed = {message.id: Compressed(text="cat")}
    records.awake.commit(lease, AwakeCommit(start_step=0, compressed=compressed), now=NOON)
    records.awake.release([lease])
    earlier = NOON - timedelta(hours=1)

    [lease] = take(records, now=earlier)

    assert load(records, lease, now=earlier).flush is True


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


def test_open_messages_are_due_when_idle_and_then_flushed(records: Records, scope: Scope) -> None:
    say(records, scope, "one")
    [lease] = take(records)
    [message] = load(records, lease).accepted
    compressed = {message.id: Compressed(text="1")}
    records.awake.commit(lease, AwakeCommit(start_step=0, compressed=compressed), now=NOON)
    assert load(records, lease).flush is False
    records.awake.release([lease])

    assert take(records, now=NOON + timedelta(seconds=59)) == []
    [lease] = take(records, now=NOON + timedelta(seconds=60))
    state = load(records, lease, now=NOON + timedelta(seconds=60))

    assert state.flush is True
    assert state.flush_through == 1


def test_a_flush_is_due_until_it_is_met(records: Records, scope: Scope) -> None:
    say(records, scope, "one")
    [lease] = take(records)
    [message] = load(records, lease).accepted
    compressed = {message.id: Compressed(text="1")}
    records.awake.commit(lease, AwakeCommit(start_step=0, compressed=compressed), now=NOON)
    records.awake.release([lease])
    assert take(records) == []

    records.messages.request_flush(scope)
    [lease] = take(records)
    state = load(records, lease)
    assert (state.flush, state.flush_through) == (True, 1)
    cut = segment(state.windows["chat"])
    step = AwakeCommit(
        start_step=1, segments=(cut,), extracted=(cut.id,), flushed_through=state.flush_through
    )
    records.awake.commit(lease, step, now=NOON)
    records.awake.release([lease])

    assert records.messages.collection(scope).flushed == 1
    assert take(records) == []


def test_an_ended_conversation_is_due_until_its_end_was_seen(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one", "二")
    say(records, scope, "other", conversation="tea")
    [lease] = take(records)
    first = load(records, lease).accepted
    compressed = {message.id: Compressed(text=message.content) for message in first}
    records.awake.commit(lease, AwakeCommit(start_step=0, compressed=compressed), now=NOON)
    records.awake.release([lease])
    assert take(records) == []

    assert records.messages.request_end(scope, "chat") == 2
    [lease] = take(records)
    state = load(records, lease)
    assert (state.ended, state.flush, set(state.windows)) == ({"chat": 2}, False, {"chat", "tea"})
    step = AwakeCommit(start_step=1, segments=(segment(state.windows["chat"]),), ended=state.ended)
    records.awake.commit(lease, step, now=NOON)
    records.awake.release([lease])

    assert take(records) == []
    assert records.messages.collection(scope).pending == 3


def test_an_end_that_moved_on_meanwhile_is_seen_again(records: Records, scope: Scope) -> None:
    say(records, scope, "one")
    records.messages.request_end(scope, "chat")
    [lease] = take(records)
    seen = load(records, lease).ended

    say(records, scope, "two")
    records.messages.request_end(scope, "chat")
    records.awake.commit(lease, AwakeCommit(start_step=0, ended=seen), now=NOON)

    assert load(records, lease).ended == {"chat": 2}


def test_an_end_waits_for_the_messages_behind_the_limit(records: Records, scope: Scope) -> None:
    say(records, scope, "one", "two", "three")
    records.messages.request_end(scope, "chat")
    [lease] = take(records)

    assert load(records, lease, limit=2).ended == {}
    assert load(records, lease, limit=3).ended == {"chat": 3}


def test_an_end_of_what_is_unknown_is_refused_and_one_with_nothing_open_changes_nothing(
    records: Records, scope: Scope
) -> None:
    with pytest.raises(NotFound):
        records.messages.request_end(scope, "chat")
    say(records, scope, "one")
    with pytest.raises(NotFound, match="conversation"):
        records.messages.request_end(scope, "tea")
    [lease] = take(records)
    [message] = load(records, lease).accepted
    records.awake.commit(lease, AwakeCommit(start_step=0, unused=(message.id,)), now=NOON)

    assert records.messages.request_end(scope, "chat") == 1
    assert load(records, lease).ended == {}


def test_a_flush_waits_for_the_messages_behind_the_limit(records: Records, scope: Scope) -> None:
    say(records, scope, "one", "two", "three")
    records.messages.request_flush(scope)
    [lease] = take(records)

    assert load(records, lease, limit=2).flush is False
    assert load(records, lease, limit=3).flush is True
    assert load(records, lease, limit=2, now=LATER).flush is False


def test_a_flush_with_nothing_open_is_met_at_once(records: Records, scope: Scope) -> None:
    remember(records, scope, "I have a cat.", "Ola has a cat.")

    records.messages.request_flush(scope)

    assert records.messages.collection(scope).flushed == 1
    assert take(records) == []


def test_a_quarantined_message_has_a_reason_and_blocks_nothing(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one", "two")
    [lease] = take(records)
    bad, good = load(records, lease).accepted
    step = replace(whole_step(0, [good]), quarantined={bad.id: "the model refused"})

    records.awake.commit(lease, step, now=NOON)

    info = records.messages.collection(scope)
    assert (info.pending, info.quarantined) == (0, 1)
    states = [message.state for message in records.messages.messages(scope)]
    assert states == [MessageState.QUARANTINED, MessageState.EXTRACTED]


def test_a_statement_becomes_an_entry_with_a_version_a_vector_and_an_outbox_row(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, "我有一只猫。", "Ola 有一只猫。", language="zh", topic="猫")

    [entry] = entries(records, scope)
    [item] = records.outbox.pending(limit=10)
    [version] = records.entries.history(scope.tenant, entry.id)

    assert (entry.text, entry.version, entry.written_by) == ("Ola 有一只猫。", 1, Writer.INGEST)
    assert entry.valid_from == entry.said_at == NOON
    assert entry.order == OrderKey(said_at=NOON, sequence=1, ordinal=0)
    assert version.entry == entry
    assert item.entry == entry.id
    assert item.scope == scope
    assert [one for one, _ in item.versions] == [entry]
    np.testing.assert_allclose(item.versions[0][1], EAST)


def test_a_statement_said_again_adds_its_source_to_the_active_entry(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, "The library closes at nine.", "The library closes at nine.")
    remember(records, scope, "It closes at nine!", "the  LIBRARY closes at nine!", vector=NORTH)

    [entry] = entries(records, scope)
    first, second = records.messages.messages(scope)
    [item] = records.outbox.pending(limit=10)

    assert entry.sources == (second.id, first.id)
    assert entry.version == 2
    assert entry.text == "The library closes at nine."
    assert entry.order == OrderKey(said_at=NOON, sequence=2, ordinal=0)
    assert entry.valid_from == NOON
    assert [vector.tolist() for _, vector in item.versions] == [[1.0, 0.0], [1.0, 0.0]]
    assert [one.why for one in records.entries.history(scope.tenant, entry.id)] == [
        "extracted",
        "said again",
    ]


def test_a_statement_said_twice_in_one_step_is_one_entry(records: Records, scope: Scope) -> None:
    say(records, scope, "I have a cat.", "I have a cat.")
    [lease] = take(records)
    first, second = load(records, lease).accepted
    statements = [
        stored(scope, first, "Ola has a cat."),
        stored(scope, second, "Ola has a cat."),
        stored(scope, second, "Ola has a cat.", ordinal=1, kind=Kind.OPINION),
    ]

    records.awake.commit(lease, whole_step(0, [first, second], statements), now=NOON)

    cat, opinion = entries(records, scope)
    assert (cat.version, cat.sources) == (1, (second.id, first.id))
    assert opinion.kind is Kind.OPINION


def test_an_older_repeat_leaves_time_and_place_of_the_entry(records: Records, scope: Scope) -> None:
    remember(records, scope, "I have a cat.", "Ola has a cat.")
    past = NOON - timedelta(days=30)
    remember(records, scope, "I have a cat.", "Ola has a cat.", said_at=past)

    [entry] = entries(records, scope)
    first, second = records.messages.messages(scope)

    assert entry.sources == (first.id, second.id)
    assert entry.said_at == NOON
    assert entry.valid_from == NOON


def test_the_same_sources_again_change_nothing(records: Records, scope: Scope) -> None:
    remember(records, scope, "I have a cat.", "Ola has a cat.")
    [source] = records.messages.messages(scope)
    remember(records, scope, "So?", "Ola has a cat.", sources=(source.id,))

    [entry] = entries(records, scope)

    assert entry.version == 1


def test_only_an_active_entry_takes_the_sources_of_a_repeat(records: Records, scope: Scope) -> None:
    remember(records, scope, "Maybe I have a cat.", "Ola has a cat.", status=Status.TENTATIVE)
    remember(records, scope, "I have a cat.", "Ola has a cat.")

    assert [entry.status for entry in entries(records, scope)] == [
        Status.TENTATIVE,
        Status.ACTIVE,
    ]


def test_a_repeat_in_another_collection_or_tenant_is_its_own_entry(
    records: Records, scope: Scope
) -> None:
    globex = Scope(tenant=TenantId("globex"), collection=scope.collection)
    for one in (scope, replace(scope, collection="per"), globex):
        remember(records, one, "I have a cat.", "Ola has a cat.")

    assert len(entries(records, scope)) == 1
    assert entries(records, globex)[0].version == 1


def test_parallel_workers_never_get_the_same_collection(records: Records, scope: Scope) -> None:
    for n in range(24):
        say(records, replace(scope, collection=f"c{n}"), "one")

    def work(worker: str) -> list[Lease]:
        return [lease for _ in range(6) for lease in take(records, worker, limit=2)]

    with ThreadPoolExecutor(6) as pool:
        leased = [lease for some in pool.map(work, "abcdef") for lease in some]

    assert sorted(lease.scope.collection for lease in leased) == sorted(f"c{n}" for n in range(24))


def test_segments_come_by_first_sequence_with_their_messages(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one", "two", "three")
    [lease] = take(records)
    one, two, three = load(records, lease).accepted
    later, earlier = segment([two, three]), segment([one])
    commit = AwakeCommit(start_step=0, segments=(later, earlier), extracted=(later.id,))
    records.awake.commit(lease, commit, now=NOON)

    found = records.messages.segments(scope)

    assert [[message.content for message in one.messages] for one in found] == [
        ["one"],
        ["two", "three"],
    ]
    assert [one.id for one in load(records, lease).buffered] == [earlier.id]


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


def test_a_flush_of_many_windows_takes_some_in_each_step(records: Records, scope: Scope) -> None:
    for number in range(5):
        say(records, scope, "一", "two", "three", conversation=f"talk-{number}")
    [lease] = take(records)
    accepted = load(records, lease).accepted
    compressed = {message.id: Compressed(text="x") for message in accepted}
    records.awake.commit(lease, AwakeCommit(start_step=0, compressed=compressed), now=NOON)
    records.messages.request_flush(scope)
    records.awake.release([lease])
    [lease] = take(records)

    some = load(records, lease, limit=7)
    assert lease.waiting == 15
    assert (some.flush, some.is_partial) == (True, True)
    assert list(some.windows) == ["talk-0", "talk-1"]

    everything = load(records, lease, limit=15)
    assert (everything.flush, everything.is_partial) == (True, False)

    say(records, scope, "late", conversation="talk-0")
    with_new = load(records, lease, limit=7)
    assert [message.content for message in with_new.accepted] == ["late"]
    assert (with_new.flush, len(with_new.windows)) == (False, 5)
