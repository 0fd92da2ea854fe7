"""The laws of tenants, keys and quotas, over SQLite and, where one is named, PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from actors.records import Records
from pipeline.errors import AccessError, Conflict, InputError, LimitError, NotFound, TooLarge
from pipeline.messages import Message, NewMessage, Role, Scope, TenantId
from pipeline.tenancy import KeyScope, Quotas

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
ACME = TenantId("acme")
READ = [KeyScope.READ]


def say(
    records: Records,
    scope: Scope,
    count: int = 1,
    *,
    now: datetime = NOON,
    key: str | None = None,
    quota: int | None = None,
) -> list[Message]:
    new = [
        NewMessage(conversation="c", role=Role.USER, speaker="Ola", content="嗨", said_at=NOON)
        for _ in range(count)
    ]
    return records.messages.accept(
        scope, new, now=now, idempotency_key=key, body_digest="b", messages_per_minute=quota
    )


@pytest.mark.parametrize("name", ["*", "", "Acme", "a" * 64, "a b", "公司", "a/b", "a\x00", "a\n"])
def test_a_name_that_means_more_than_a_tenant_is_refused(records: Records, name: str) -> None:
    with pytest.raises(InputError) as refused:
        records.tenants.create(name, quotas={}, now=NOON)
    with pytest.raises(InputError):
        records.tenants.ensure_tenant(TenantId(name), NOON)

    assert refused.value.field == "name"
    assert records.tenants.tenants() == ["acme", "globex"]


def test_a_tenant_is_created_once_with_its_own_quotas(records: Records) -> None:
    created = records.tenants.create("new_1", quotas={"stored_entries": 5}, now=NOON)

    assert created.quotas == {"stored_entries": 5}
    assert created.keys == ()
    with pytest.raises(Conflict):
        records.tenants.create("new_1", quotas={}, now=NOON)


def test_own_quotas_go_before_the_defaults_and_none_is_no_limit(records: Records) -> None:
    defaults = Quotas(messages_per_minute=10, lag_messages=100)
    records.tenants.set_quotas(ACME, {"messages_per_minute": 20})
    records.tenants.set_quotas(ACME, {"lag_messages": None})

    found = records.tenants.quotas(ACME, defaults=defaults)

    assert found == Quotas(messages_per_minute=20, stored_entries=None, lag_messages=None)
    assert records.tenants.quotas(TenantId("globex"), defaults=defaults) == defaults


def test_a_rotated_key_takes_over_scopes_and_label_and_ends_the_old_one(records: Records) -> None:
    records.keys.add(ACME, "old", scopes=READ, now=NOON, label="app")
    records.keys.add(ACME, "other", scopes=READ, now=NOON, label="else")

    new = records.keys.rotate(ACME, "new", label="app", scopes=None, grace_s=0, now=NOON)

    assert (new.label, new.scopes) == ("app", frozenset(READ))
    assert records.keys.grant("new").tenant == records.keys.grant("other").tenant == ACME
    with pytest.raises(AccessError):
        records.keys.grant("old")


def test_with_a_grace_the_old_key_ends_later_and_never_later_than_before(records: Records) -> None:
    soon = NOON + timedelta(minutes=1)
    records.keys.add(ACME, "long", scopes=READ, now=NOON, label="app")
    records.keys.add(ACME, "short", scopes=READ, now=NOON, label="app", expires_at=soon)

    records.keys.rotate(ACME, "new", label="app", scopes=None, grace_s=3600, now=NOON)

    ends = {name: records.keys.grant(name).key for name in ("long", "short", "new")}
    assert {name: key and key.expires_at for name, key in ends.items()} == {
        "long": NOON + timedelta(hours=1),
        "short": soon,
        "new": None,
    }


def test_a_label_that_nobody_has_needs_scopes(records: Records) -> None:
    with pytest.raises(NotFound) as refused:
        records.keys.rotate(ACME, "new", label="typo", scopes=None, grace_s=0, now=NOON)
    made = records.keys.rotate(ACME, "new", label="typo", scopes=READ, grace_s=0, now=NOON)

    assert refused.value.field == "label"
    assert made.label == "typo"


def test_the_use_of_a_key_is_noted_at_most_once_a_minute(records: Records) -> None:
    records.keys.add(ACME, "key", scopes=READ, now=NOON)

    for seconds in (0, 59, 61):
        records.keys.touch("key", now=NOON + timedelta(seconds=seconds), every_s=60)

    [key] = records.tenants.tenant(ACME).keys
    assert key.last_used_at == NOON + timedelta(seconds=61)


def test_an_operator_is_a_working_key_with_the_scope_admin(records: Records) -> None:
    records.keys.add(ACME, "user", scopes=READ, now=NOON)
    assert not records.keys.has_operator(now=NOON)

    records.keys.add(ACME, "boss", scopes=[KeyScope.ADMIN], now=NOON)
    assert records.keys.has_operator(now=NOON)

    records.keys.revoke(ACME, "boss", now=NOON)
    assert not records.keys.has_operator(now=NOON)


def test_a_disabled_tenant_accepts_nothing_until_it_is_enabled(
    records: Records, scope: Scope
) -> None:
    globex = Scope(tenant=TenantId("globex"), collection="ola")
    disabled = records.tenants.disable(ACME, now=NOON)

    with pytest.raises(AccessError) as refused:
        say(records, scope)
    say(records, globex)
    records.tenants.enable(ACME)

    assert disabled.disabled_at == NOON
    assert refused.value.status == 403
    assert [message.sequence for message in say(records, scope)] == [1]


def test_the_quota_per_minute_refills_with_time_and_says_when(
    records: Records, scope: Scope
) -> None:
    say(records, scope, 60, quota=60)

    with pytest.raises(LimitError) as refused:
        say(records, scope, 5, quota=60, now=NOON + timedelta(seconds=2))

    assert refused.value.retry_after_s == pytest.approx(3)
    assert (refused.value.field, refused.value.limit) == ("messages_per_minute", 60)
    assert len(say(records, scope, 5, quota=60, now=NOON + timedelta(seconds=5))) == 5
    assert records.messages.collection(scope).last_sequence == 65


def test_a_refused_message_leaves_no_collection_behind(records: Records, scope: Scope) -> None:
    with pytest.raises(TooLarge, match="quota"):
        say(records, scope, 11, quota=10)

    with pytest.raises(NotFound):
        records.messages.collection(scope)


def test_a_repeat_counts_against_no_quota(records: Records, scope: Scope) -> None:
    first = say(records, scope, 10, key="k", quota=10)

    assert say(records, scope, 10, key="k", quota=10) == first


def test_a_clock_set_back_takes_no_messages_away(records: Records, scope: Scope) -> None:
    say(records, scope, 4, quota=10)
    earlier = NOON - timedelta(days=1)

    say(records, scope, 6, quota=10, now=earlier)
    with pytest.raises(LimitError):
        say(records, scope, quota=10, now=earlier)

    assert len(say(records, scope, 10, quota=10, now=earlier + timedelta(minutes=1))) == 10


def test_a_spent_quota_refills_from_where_a_clock_was_set_back_to(
    records: Records, scope: Scope
) -> None:
    say(records, scope, 10, quota=10)
    earlier = NOON - timedelta(hours=1)

    with pytest.raises(LimitError):
        say(records, scope, quota=10, now=earlier)
    with pytest.raises(LimitError):
        say(records, scope, 6, quota=10, now=earlier + timedelta(seconds=30))

    assert len(say(records, scope, 5, quota=10, now=earlier + timedelta(seconds=30))) == 5


def test_the_quota_holds_when_many_send_at_once(records: Records) -> None:
    records.tenants.set_quotas(ACME, {"messages_per_minute": 7})

    def send(number: int) -> int:
        try:
            return len(say(records, Scope(tenant=ACME, collection=f"c{number % 4}")))
        except LimitError:
            return 0

    with ThreadPoolExecutor(8) as pool:
        accepted = sum(pool.map(send, range(24)))

    assert accepted == 7


def test_a_tenants_quota_leaves_its_neighbour_alone(records: Records, scope: Scope) -> None:
    records.tenants.set_quotas(ACME, {"messages_per_minute": 1})
    say(records, scope)

    with pytest.raises(LimitError):
        say(records, scope)

    assert len(say(records, Scope(tenant=TenantId("globex"), collection="ola"), 50)) == 50
