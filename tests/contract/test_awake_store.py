"""The laws of an awake store, over SQLite and, where one is named, PostgreSQL."""

from dataclasses import replace

from walking import NOON, load, say, segment, take, whole_step

from actors.records import Records
from pipeline.messages import MessageState, Scope
from pipeline.state import AwakeCommit, Compressed


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
