"""What is due without more messages: flushes, ends and idle times, on every database."""

from datetime import timedelta

import pytest
from walking import LATER, NOON, load, remember, say, segment, take

from actors.records import Records
from pipeline.errors import NotFound
from pipeline.messages import Scope
from pipeline.state import AwakeCommit, Compressed


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
