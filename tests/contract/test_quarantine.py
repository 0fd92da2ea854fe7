"""The laws of quarantine and backlog, over SQLite and, where one is named, PostgreSQL."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from telling import statement

from actors.records import Records
from pipeline.errors import Conflict, NotFound
from pipeline.ids import MessageId, segment_id
from pipeline.messages import Message, NewMessage, Role, Scope, Segment, TenantId
from pipeline.state import AwakeCommit, AwakeState, Compressed, Lease
from pipeline.tenancy import QuarantineState

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=10)
ACME = TenantId("acme")
BY = "key ops of acme"


def say(records: Records, scope: Scope, *contents: str, now: datetime = NOON) -> list[Message]:
    new = [
        NewMessage(conversation="c", role=Role.USER, speaker="Ola", content=text, said_at=NOON)
        for text in contents
    ]
    return records.messages.accept(scope, new, now=now)


def take(records: Records, now: datetime = NOON) -> tuple[Lease, AwakeState]:
    [lease] = records.awake.lease("w", limit=1, now=now, ttl_s=30, idle_s=3600)
    return lease, records.awake.load(lease, limit=100, now=now, idle_s=3600)


def segment(messages: Sequence[Message]) -> Segment:
    return Segment(
        id=segment_id(messages[0].id), conversation="c", topic="t", messages=tuple(messages)
    )


def walk(
    records: Records, scope: Scope, *, bad: Sequence[MessageId] = (), now: datetime = NOON
) -> list[str]:
    """One whole step: all accepted become one segment; the bad ones go to quarantine."""
    lease, state = take(records, now)
    cut = segment(state.accepted)
    good = [message for message in state.accepted if message.id not in bad]
    commit = AwakeCommit(
        start_step=state.step,
        compressed={message.id: Compressed(text="short") for message in state.accepted},
        segments=(cut,),
        extracted=(cut.id,),
        statements=tuple(statement(scope, message, "t") for message in good),
        quarantined={message: "the reply was cut short" for message in bad},
        model="tiny",
    )
    assert records.awake.commit(lease, commit, now=now)
    records.awake.release([lease])
    return [message.content for message in state.accepted]


def held(records: Records, state: QuarantineState = QuarantineState.HELD) -> list[str]:
    return [item.message.content for item in records.quarantine.items(ACME, state=state)]


def texts(records: Records, scope: Scope) -> list[str]:
    return [entry.text for entry in records.entries.entries(scope).entries]


def test_a_retried_message_is_extracted_once_and_in_its_place(
    records: Records, scope: Scope
) -> None:
    first, second, third = say(records, scope, "one", "二", "three")
    walk(records, scope, bad=[first.id, second.id])
    assert held(records) == ["one", "二"]

    records.quarantine.retry(ACME, second.id, by=BY, now=LATER)
    records.quarantine.retry(ACME, first.id, by=BY, now=LATER)

    assert records.messages.collection(scope).pending == 2
    assert walk(records, scope, now=LATER) == ["one", "二"]
    info = records.messages.collection(scope)
    assert (info.pending, info.quarantined, info.entries) == (0, 0, 3)
    assert texts(records, scope) == ["one", "二", "three"]
    assert [each.first_sequence for each in _segments(records, scope)] == [1, 3]
    assert third.sequence == 3


class _Span:
    def __init__(self, segment: Segment) -> None:
        self.first_sequence = segment.messages[0].sequence


def _segments(records: Records, scope: Scope) -> list[_Span]:
    return [_Span(segment) for segment in records.messages.segments(scope)]


def test_what_was_said_later_in_an_open_window_waits_for_the_retried(
    records: Records, scope: Scope
) -> None:
    [first] = say(records, scope, "one")
    walk(records, scope, bad=[first.id])
    say(records, scope, "two")
    lease, state = take(records)
    compressed = {message.id: Compressed(text="2") for message in state.accepted}
    assert records.awake.commit(
        lease, AwakeCommit(start_step=state.step, compressed=compressed), now=NOON
    )

    records.quarantine.retry(ACME, first.id, by=BY, now=LATER)

    again = records.awake.load(lease, limit=100, now=LATER, idle_s=3600)
    assert [message.content for message in again.accepted] == ["one", "two"]
    assert again.windows == {}
    assert records.messages.collection(scope).pending == 2


def test_a_step_that_began_before_the_retry_commits_nothing(records: Records, scope: Scope) -> None:
    [first] = say(records, scope, "one")
    walk(records, scope, bad=[first.id])
    say(records, scope, "two")
    lease, state = take(records)

    records.quarantine.retry(ACME, first.id, by=BY, now=LATER)

    assert not records.awake.commit(lease, AwakeCommit(start_step=state.step), now=LATER)


def test_a_dropped_message_is_done_with_who_and_when_and_stays_readable(
    records: Records, scope: Scope
) -> None:
    [first] = say(records, scope, "one")
    walk(records, scope, bad=[first.id])

    records.quarantine.drop(ACME, first.id, by=BY, now=LATER)

    [item] = records.quarantine.items(ACME, state=QuarantineState.DROPPED)
    assert (item.settled_by, item.settled_at) == (BY, LATER)
    assert item.reason == "the reply was cut short"
    assert held(records) == []
    assert records.messages.messages(scope)[0].content == "one"
    [report] = records.backlog.reports(ACME)
    assert (report.quarantined, report.dropped, report.failures) == (0, 1, {})


def test_what_is_settled_is_not_settled_again(records: Records, scope: Scope) -> None:
    first, second = say(records, scope, "one", "two")
    walk(records, scope, bad=[first.id, second.id])
    records.quarantine.retry(ACME, first.id, by=BY, now=LATER)
    records.quarantine.drop(ACME, second.id, by=BY, now=LATER)

    for message in (first.id, second.id):
        with pytest.raises(Conflict):
            records.quarantine.retry(ACME, message, by=BY, now=LATER)
        with pytest.raises(Conflict):
            records.quarantine.drop(ACME, message, by=BY, now=LATER)
    assert held(records, QuarantineState.RETRIED) == ["one"]


def test_a_message_that_fails_again_is_held_again(records: Records, scope: Scope) -> None:
    [first] = say(records, scope, "one")
    walk(records, scope, bad=[first.id])
    records.quarantine.retry(ACME, first.id, by=BY, now=LATER)

    walk(records, scope, bad=[first.id], now=LATER)

    assert held(records) == ["one"]
    assert held(records, QuarantineState.RETRIED) == []


def test_a_neighbour_neither_sees_nor_settles_what_is_not_its_own(
    records: Records, scope: Scope
) -> None:
    globex = TenantId("globex")
    [first] = say(records, scope, "one")
    walk(records, scope, bad=[first.id])

    assert records.quarantine.items(globex) == []
    for settle in (records.quarantine.retry, records.quarantine.drop):
        with pytest.raises(NotFound):
            settle(globex, first.id, by=BY, now=LATER)
    assert held(records) == ["one"]


def test_a_long_quarantine_is_read_in_pages(records: Records, scope: Scope) -> None:
    other = Scope(tenant=ACME, collection="zoe")
    for where in (scope, other):
        said = say(records, where, "a", "b", "c")
        walk(records, where, bad=[message.id for message in said])

    first = records.quarantine.items(ACME, limit=4)
    rest = records.quarantine.items(ACME, limit=4, after=first[-1].message.id)

    places = [(item.scope.collection, item.message.sequence) for item in [*first, *rest]]
    assert places == [(name, n) for name in ("ola", "zoe") for n in (1, 2, 3)]
    assert len(records.quarantine.items(ACME, collection="zoe")) == 3


def test_the_report_counts_each_tenants_own(records: Records, scope: Scope) -> None:
    first, *_ = say(records, scope, "one", "two", "three")
    walk(records, scope, bad=[first.id])
    say(records, scope, "four", now=LATER)
    say(records, Scope(tenant=TenantId("globex"), collection="ola"), "hers")

    acme, globex = records.backlog.reports()

    assert acme == records.backlog.reports(ACME)[0]
    assert (acme.accepted, acme.pending, acme.extracted, acme.quarantined) == (4, 1, 2, 1)
    assert acme.failures == {"the reply was cut short": 1}
    assert acme.oldest_pending_at == LATER
    assert (globex.accepted, globex.pending, globex.oldest_pending_at) == (1, 1, NOON)
    assert records.backlog.pending(ACME) == 1
    assert records.backlog.stored_entries(ACME) == 2


def test_the_oldest_pending_message_may_lie_in_an_open_window(
    records: Records, scope: Scope
) -> None:
    say(records, scope, "one")
    lease, state = take(records)
    compressed = {message.id: Compressed(text="1") for message in state.accepted}
    records.awake.commit(lease, AwakeCommit(start_step=0, compressed=compressed), now=NOON)
    say(records, scope, "two", now=LATER)

    [report] = records.backlog.reports(ACME)

    assert report.oldest_pending_at == NOON
