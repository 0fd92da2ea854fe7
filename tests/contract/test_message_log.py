"""The laws of a message log, over SQLite and, where one is named, PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from actors.records import Records
from pipeline.errors import Conflict, InputError, NotFound
from pipeline.messages import Message, MessageState, NewMessage, Role, Scope, TenantId

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
GLOBEX = Scope(tenant=TenantId("globex"), collection="ola")


def said(content: str, **other: object) -> NewMessage:
    plain = NewMessage(
        conversation="chat", role=Role.USER, speaker="Ola", content=content, said_at=NOON
    )
    return replace(plain, **other)


def test_accepted_messages_are_numbered_from_one_and_come_back_as_they_were_sent(
    records: Records, scope: Scope
) -> None:
    zone = timezone(timedelta(hours=8))
    chinese = said(
        "我的猫叫豆豆🐈，喜欢晒太阳。",
        said_at=datetime(2024, 3, 1, 20, 0, 0, 123456, tzinfo=zone),
        zone="+08:00",
        external_id="m-2",
        metadata={"主题": ["猫", {"n": 1.5, "ok": True, "none": None}]},
    )

    accepted = records.messages.accept(scope, [said("I moved to Bergen."), chinese], now=NOON)

    assert [message.sequence for message in accepted] == [1, 2]
    assert accepted == records.messages.messages(scope)
    assert accepted[1].content == chinese.content
    assert accepted[1].metadata == chinese.metadata
    assert accepted[1].said_at == chinese.said_at
    assert accepted[1].zone == "+08:00"
    assert accepted[1].accepted_at == NOON
    assert accepted[1].state is MessageState.ACCEPTED


def test_the_same_words_without_an_id_are_two_messages(records: Records, scope: Scope) -> None:
    records.messages.accept(scope, [said("yes")], now=NOON)
    records.messages.accept(scope, [said("yes")], now=NOON)

    assert len(records.messages.messages(scope)) == 2


def test_the_same_key_and_body_give_the_first_messages_again(
    records: Records, scope: Scope
) -> None:
    batch = [said("one"), said("two")]
    later = NOON + timedelta(hours=1)

    first = records.messages.accept(scope, batch, now=NOON, idempotency_key="k", body_digest="a")
    again = records.messages.accept(scope, batch, now=later, idempotency_key="k", body_digest="a")

    assert again == first
    assert records.messages.collection(scope).last_sequence == 2


def test_the_same_key_with_another_body_is_refused_and_stores_nothing(
    records: Records, scope: Scope
) -> None:
    records.messages.accept(scope, [said("one")], now=NOON, idempotency_key="k")

    with pytest.raises(Conflict, match="another body"):
        records.messages.accept(scope, [said("two")], now=NOON, idempotency_key="k")

    assert [message.content for message in records.messages.messages(scope)] == ["one"]


def test_a_key_counts_inside_its_collection(records: Records, scope: Scope) -> None:
    other = replace(scope, collection="per")
    records.messages.accept(scope, [said("one")], now=NOON, idempotency_key="k")

    accepted = records.messages.accept(other, [said("two")], now=NOON, idempotency_key="k")

    assert accepted[0].content == "two"


def test_a_known_external_id_gives_the_message_accepted_then(
    records: Records, scope: Scope
) -> None:
    known = said("one", external_id="a")
    first = records.messages.accept(scope, [known], now=NOON)

    mixed = records.messages.accept(
        scope, [said("new", external_id="b"), known, said("plain"), known], now=NOON
    )

    assert [message.sequence for message in mixed] == [2, 1, 3, 1]
    assert mixed[1] == first[0]


@pytest.mark.parametrize(
    "other",
    [
        {"content": "two"},
        {"role": Role.ASSISTANT},
        {"speaker": "Per"},
        {"said_at": NOON + timedelta(seconds=1)},
    ],
    ids=str,
)
def test_a_known_external_id_with_another_content_is_refused_and_stores_nothing(
    records: Records, scope: Scope, other: dict[str, object]
) -> None:
    known = said("one", external_id="a")
    records.messages.accept(scope, [known], now=NOON)

    with pytest.raises(Conflict) as refusal:
        records.messages.accept(scope, [said("new"), replace(known, **other)], now=NOON)

    assert refusal.value.field == "messages[1].message_id"
    assert records.messages.collection(scope).last_sequence == 1


def test_the_same_external_id_in_another_conversation_is_another_message(
    records: Records, scope: Scope
) -> None:
    batch = [said("one", external_id="a"), said("two", external_id="a", conversation="other")]

    accepted = records.messages.accept(scope, batch, now=NOON)

    assert [message.sequence for message in accepted] == [1, 2]


def test_a_naive_time_is_refused_and_stores_nothing(records: Records, scope: Scope) -> None:
    naive = said("two", said_at=datetime(2024, 3, 1, 12))  # noqa: DTZ001 the point of the test

    with pytest.raises(InputError, match="naive"):
        records.messages.accept(scope, [said("one"), naive], now=NOON)

    assert records.messages.collections(scope.tenant) == []


def test_an_unknown_tenant_is_not_found(records: Records) -> None:
    nobody = Scope(tenant=TenantId("nobody"), collection="ola")

    with pytest.raises(NotFound, match="tenant"):
        records.messages.accept(nobody, [said("one")], now=NOON)


def test_an_unknown_collection_is_not_found(records: Records, scope: Scope) -> None:
    with pytest.raises(NotFound):
        records.messages.collection(scope)
    with pytest.raises(NotFound):
        records.messages.request_flush(scope)

    assert records.messages.messages(scope) == []
    assert records.messages.last_said_at(scope, "chat") is None


def test_pages_go_up_by_sequence_and_the_newest_come_in_order(
    records: Records, scope: Scope
) -> None:
    records.messages.accept(scope, [said(str(n)) for n in range(1, 6)], now=NOON)

    def contents(**page: object) -> list[str]:
        return [message.content for message in records.messages.messages(scope, **page)]

    assert contents(limit=2) == ["1", "2"]
    assert contents(after=2, limit=2) == ["3", "4"]
    assert contents(limit=2, newest=True) == ["4", "5"]


def test_messages_around_one_are_those_of_its_conversation(records: Records, scope: Scope) -> None:
    texts = ["1", "二", "3", "四", "5"]
    first, *_ = records.messages.accept(scope, [said(text) for text in texts], now=NOON)
    records.messages.accept(scope, [said("x", conversation="other")], now=NOON)
    records.messages.accept(scope, [said("7")], now=NOON)

    def near(sequence: int, most: int) -> list[str]:
        found = records.messages.around(scope, first.conversation, sequence, most=most)
        return [message.content for message in found]

    assert near(3, 1) == ["二", "3", "四"]
    assert near(5, 2) == ["3", "四", "5", "7"]
    assert near(3, 0) == ["3"]


def test_an_unknown_collection_among_several_is_named(records: Records, scope: Scope) -> None:
    records.messages.accept(scope, [said("hi")], now=NOON)

    records.messages.must_exist(scope.tenant, [scope.collection])
    with pytest.raises(NotFound, match="nobody"):
        records.messages.must_exist(scope.tenant, [scope.collection, "nobody"])
    with pytest.raises(NotFound):
        records.messages.must_exist(TenantId("globex"), [scope.collection])


def test_the_last_said_time_is_that_of_the_newest_accepted_message(
    records: Records, scope: Scope
) -> None:
    earlier = NOON - timedelta(days=1)
    records.messages.accept(scope, [said("one"), said("two", said_at=earlier)], now=NOON)
    records.messages.accept(scope, [said("three", conversation="other")], now=NOON)

    assert records.messages.last_said_at(scope, "chat") == earlier


def test_a_flush_reaches_up_to_the_last_sequence(records: Records, scope: Scope) -> None:
    records.messages.accept(scope, [said("one"), said("two")], now=NOON)

    assert records.messages.request_flush(scope) == 2
    assert records.messages.collection(scope).flushed == 0


def test_collections_come_by_name_with_what_is_pending(records: Records, scope: Scope) -> None:
    other = replace(scope, collection="Åse")
    records.messages.accept(other, [said("one")], now=NOON)
    records.messages.accept(scope, [said("one"), said("two")], now=NOON)

    infos = records.messages.collections(scope.tenant)

    assert [(info.scope.collection, info.pending) for info in infos] == [("ola", 2), ("Åse", 1)]
    assert infos[0].created_at == NOON


def test_two_tenants_never_see_each_other(records: Records, scope: Scope) -> None:
    mine = records.messages.accept(scope, [said("the locker code is maple")], now=NOON)

    assert records.messages.messages(GLOBEX) == []
    assert records.messages.messages_by_id(GLOBEX, [mine[0].id]) == {}
    assert records.messages.collections(GLOBEX.tenant) == []
    assert records.messages.messages_by_id(scope, [mine[0].id]) == {mine[0].id: mine[0]}


def test_thirty_two_parallel_accepts_of_one_key_store_one_message(
    records: Records, scope: Scope
) -> None:
    def accept(_: int) -> list[Message]:
        batch = [said("The blue kettle holds two litres.")]
        return records.messages.accept(scope, batch, now=NOON, idempotency_key="kettle")

    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(accept, range(32)))

    assert all(reply == replies[0] for reply in replies)
    assert len(records.messages.messages(scope)) == 1


def test_parallel_accepts_leave_no_gap_in_the_sequences(records: Records, scope: Scope) -> None:
    def accept(n: int) -> None:
        records.messages.accept(scope, [said(f"{n} a"), said(f"{n} b")], now=NOON)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(accept, range(40)))

    stored = records.messages.messages(scope)
    assert [message.sequence for message in stored] == list(range(1, 81))
    assert len({message.content for message in stored}) == 80
    assert records.messages.collection(scope).pending == 80


def test_segments_of_an_unknown_collection_are_none(records: Records, scope: Scope) -> None:
    assert records.messages.segments(scope) == []
