"""A collection's own settings in the record store: kept, changed, and when they make it idle."""

import io
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from telling import NOON, said

from actors.records import Records, open_records
from pipeline.errors import InputError, NotFound
from pipeline.messages import Json, Scope, TenantId
from pipeline.state import AwakeCommit, Compressed

COPY = Scope(tenant=TenantId("t"), collection="copy")


def own(records: Records, scope: Scope, **settings: Json) -> None:
    records.messages.change_settings(scope, lambda _before: settings, now=NOON)


def leased(records: Records, *, after_s: float, idle_s: float = 60) -> list[str]:
    """The collections that are due so long after noon; each is given back."""
    now = NOON + timedelta(seconds=after_s)
    held = records.awake.lease("w", limit=10, now=now, ttl_s=30, idle_s=idle_s)
    flushes = [
        lease.scope.collection
        for lease in held
        if records.awake.load(lease, limit=100, now=now, idle_s=idle_s).flush
    ]
    records.awake.release(held)
    assert flushes == [lease.scope.collection for lease in held]
    return flushes


def window(records: Records, scope: Scope) -> None:
    """One message, walked as far as its window."""
    records.messages.accept(scope, [said("我养了一只猫。")], now=NOON)
    [lease] = records.awake.lease("w", limit=1, now=NOON, ttl_s=30, idle_s=60)
    state = records.awake.load(lease, limit=10, now=NOON, idle_s=60)
    compressed = {each.id: Compressed(text=each.content) for each in state.accepted}
    commit = AwakeCommit(start_step=state.step, compressed=compressed)
    assert records.awake.commit(lease, commit, now=NOON)
    records.awake.release([lease])


def test_settings_make_a_collection_and_stay_with_it(records: Records, scope: Scope) -> None:
    own(records, scope, rate=0.5)
    records.messages.accept(scope, [said("I have a cat.")], now=NOON)

    assert records.messages.settings(scope) == {"rate": 0.5}
    assert records.messages.collection(scope).settings == {"rate": 0.5}
    [lease] = records.awake.lease("w", limit=1, now=NOON, ttl_s=30, idle_s=60)
    state = records.awake.load(lease, limit=10, now=NOON, idle_s=60)
    assert state.settings == {"rate": 0.5}


def test_a_collection_that_is_not_there_has_none(records: Records, scope: Scope) -> None:
    assert records.messages.settings_if_any(scope) == {}
    with pytest.raises(NotFound):
        records.messages.settings(scope)


def test_a_change_that_is_refused_changes_nothing(records: Records, scope: Scope) -> None:
    def refuse(_before: object) -> dict[str, Json]:
        raise InputError("no", field="rate")

    own(records, scope, rate=0.5)
    with pytest.raises(InputError):
        records.messages.change_settings(scope, refuse, now=NOON)

    assert records.messages.settings(scope) == {"rate": 0.5}


def test_idleness_of_its_own_comes_earlier_or_later_than_the_services(
    records: Records, scope: Scope
) -> None:
    own(records, scope, idle_s=5)
    window(records, scope)

    assert leased(records, after_s=4) == []
    assert leased(records, after_s=5) == [scope.collection]

    own(records, scope, idle_s=600)

    assert leased(records, after_s=61) == []
    assert leased(records, after_s=600) == [scope.collection]

    own(records, scope)

    assert leased(records, after_s=61) == [scope.collection]


def test_a_collection_without_the_trigger_is_never_idle(records: Records, scope: Scope) -> None:
    own(records, scope, triggers=["tokens", "flush"])
    window(records, scope)

    assert leased(records, after_s=1_000_000) == []
    assert leased(records, after_s=-1_000_000) == []

    records.messages.request_flush(scope)

    assert leased(records, after_s=1) == [scope.collection]


def test_a_clock_that_was_set_back_holds_up_no_idleness_of_its_own(
    records: Records, scope: Scope
) -> None:
    own(records, scope, idle_s=600)
    window(records, scope)

    assert leased(records, after_s=-3_600) == [scope.collection]


def test_each_new_message_puts_its_idleness_off(records: Records, scope: Scope) -> None:
    own(records, scope, idle_s=5)
    window(records, scope)
    later = NOON + timedelta(seconds=4)
    records.messages.accept(scope, [said("还有一只狗。")], now=later)
    [lease] = records.awake.lease("w", limit=1, now=later, ttl_s=30, idle_s=60)

    assert not records.awake.load(lease, limit=10, now=NOON + timedelta(seconds=8), idle_s=60).flush
    assert records.awake.load(lease, limit=10, now=NOON + timedelta(seconds=9), idle_s=60).flush


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Records]:
    stores = open_records(f"sqlite:///{tmp_path}/elsewhere.db")
    stores.tenants.ensure_tenant(TenantId("t"), NOON)
    yield stores
    stores.close()


def test_settings_travel_with_an_export_and_hold_where_it_arrives(
    records: Records, scope: Scope, elsewhere: Records
) -> None:
    own(records, scope, idle_s=5, prompt="只提取事实。")
    window(records, scope)
    lines = b"".join(records.exports.lines(scope))
    elsewhere.imports.load(COPY, io.BytesIO(lines), model="tiny", width=2, now=NOON)

    assert elsewhere.messages.settings(COPY) == {"idle_s": 5, "prompt": "只提取事实。"}
    assert leased(elsewhere, after_s=5) == ["copy"]
    assert b"".join(elsewhere.exports.lines(COPY)) == lines


def test_an_export_with_settings_that_are_none_is_refused(
    records: Records, scope: Scope, elsewhere: Records
) -> None:
    own(records, scope, colour="red")
    lines = b"".join(records.exports.lines(scope))

    with pytest.raises(InputError, match=r"collections.settings: settings.colour"):
        elsewhere.imports.load(COPY, io.BytesIO(lines), model="tiny", width=2, now=NOON)
