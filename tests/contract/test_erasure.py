"""The laws of erasure over SQLite and, where one is named, PostgreSQL."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, insert, select
from telling import (
    HERON,
    HERON_ZH,
    NOON,
    entry_about,
    everything,
    lease,
    load,
    remember,
    said,
    step_of,
    texts,
)

from actors.records import Records
from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.erasure import Erased
from actors.records.erasure_parts import STEPS
from actors.records.registry import REGISTRY, Part
from actors.records.tables import METADATA, erasures, quarantine, recalls, scratchpad_items
from pipeline.errors import NotFound
from pipeline.ids import entry_id, point_id
from pipeline.messages import Scope, TenantId

Erase = Callable[[Records, Scope], Erased]


def erase_entry(records: Records, scope: Scope) -> Erased:
    entry = entry_about(records, scope, "Quetzalwing")
    return records.erasure.erase_entry(scope.tenant, entry, siblings=False, now=NOON)


def erase_conversation(records: Records, scope: Scope) -> Erased:
    return records.erasure.erase_conversation(scope, "herons", now=NOON)


def erase_collection(records: Records, scope: Scope) -> Erased:
    return records.erasure.erase_collection(scope, now=NOON)


def erase_tenant(records: Records, scope: Scope) -> Erased:
    return records.erasure.erase_tenant(scope.tenant, now=NOON)


LEVELS = [erase_entry, erase_conversation, erase_collection, erase_tenant]


def test_every_table_with_texts_of_a_collection_is_treated_as_the_registry_says() -> None:
    told = {row.table.name for row in REGISTRY if row.entry is not Part.KEPT}
    told |= {row.table.name for row in REGISTRY if row.conversation is not Part.KEPT}

    assert set(STEPS) == told


@pytest.mark.parametrize("erase", LEVELS)
def test_a_worker_that_loaded_before_an_erasure_writes_nothing_of_it_back(
    records: Records, scope: Scope, erase: Erase
) -> None:
    remember(records, scope, HERON, conversation="herons")
    records.messages.accept(scope, [said(f"again {HERON}", conversation="herons", at=5)], now=NOON)
    held = lease(records)
    state = load(records, held)
    step = step_of(scope, state.step, list(state.accepted))

    erase(records, scope)

    assert records.awake.commit(held, step, now=NOON) is False
    if erase is not erase_entry:  # the message behind the step is another one, and stays
        assert "Quetzalwing" not in everything(records)


@pytest.mark.parametrize("erase", LEVELS)
def test_an_erasure_leaves_the_neighbours_as_they_were(
    records: Records, scope: Scope, erase: Erase
) -> None:
    neighbour = Scope(tenant=TenantId("globex"), collection="ola")
    sibling = replace(scope, collection="ana")
    for other in (neighbour, sibling):
        remember(records, other, "one", "two", "三")
    remember(records, scope, HERON, HERON_ZH, conversation="herons")
    before = [texts(records, other) for other in (neighbour, sibling)]

    erase(records, scope)

    assert texts(records, neighbour) == before[0]
    if erase is not erase_tenant:
        assert texts(records, sibling) == before[1]
        assert records.messages.collection(sibling).entries == 3


@pytest.mark.parametrize("erase", LEVELS)
def test_what_was_erased_cannot_be_erased_again(
    records: Records, scope: Scope, erase: Erase
) -> None:
    remember(records, scope, HERON, conversation="herons")
    entry = entry_about(records, scope, "Quetzalwing")
    again: dict[Erase, Callable[[], Erased]] = {
        erase_entry: lambda: records.erasure.erase_entry(
            scope.tenant, entry, siblings=False, now=NOON
        )
    }

    erased = erase(records, scope)

    assert erased.receipt["entries"] == erased.receipt["messages"] == 1
    assert "Quetzalwing" not in everything(records)
    with pytest.raises(NotFound):
        again.get(erase, lambda: erase(records, scope))()


def test_the_index_is_told_to_forget_every_version(records: Records, scope: Scope) -> None:
    remember(records, scope, HERON)
    entry = entry_about(records, scope, "Quetzalwing")
    records.outbox.done(records.outbox.pending(limit=10))

    erase_collection(records, scope)

    [item] = records.outbox.pending(limit=10)
    assert (item.versions, item.removed) == ((), (point_id(scope.tenant, entry, 1),))


def test_topic_labels_made_of_erased_words_go_and_other_entries_stay(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, HERON, "Tea is hot.", HERON_ZH)

    erase_entry(records, scope)

    assert texts(records, scope) == ["Tea is hot.", HERON_ZH]
    assert {entry.topic for entry in records.entries.entries(scope).entries} == {""}
    assert [segment.topic for segment in records.messages.segments(scope)] == [""]
    assert "Quetzalwing" not in everything(records)


def test_other_entries_of_the_same_message_go_only_if_asked_for(
    records: Records, scope: Scope
) -> None:
    records.messages.accept(scope, [said("Two things.")], now=NOON)
    held = lease(records)
    [message] = load(records, held).accepted
    step = step_of(scope, 0, [message])
    other = replace(
        step.statements[0],
        id=entry_id(scope.tenant, scope.collection, message.id, 1),
        statement=replace(step.statements[0].statement, text="Second.", ordinal=1),
    )
    records.awake.commit(held, replace(step, statements=(*step.statements, other)), now=NOON)
    first, second = records.entries.entries(scope).entries

    records.erasure.erase_entry(scope.tenant, first.id, siblings=False, now=NOON)
    assert texts(records, scope) == ["Second."]
    records.erasure.erase_entry(scope.tenant, second.id, siblings=True, now=NOON)

    assert texts(records, scope) == []


def test_an_entry_said_in_two_conversations_outlives_one_of_them(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, HERON, conversation="herons")
    remember(records, scope, HERON, conversation="birds")
    kept = [m.id for m in records.messages.messages(scope) if m.conversation == "birds"]

    erase_conversation(records, scope)

    [entry] = records.entries.entries(scope).entries
    assert list(entry.sources) == kept
    assert records.fsck.check(scope, repair=False) == []


def test_recalls_scratchpad_and_quarantine_hold_nothing_afterwards(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, HERON)
    [message] = records.messages.messages(scope)
    entry = entry_about(records, scope, "Quetzalwing")
    place = {"tenant": scope.tenant, "collection": scope.collection}
    with writing(records.engine, EVERY_TENANT) as connection:
        row = {"id": "r", "kind": "search", "query": HERON, "returned": [], "created_at": NOON}
        connection.execute(insert(recalls).values(**place, **row))
        row = {"sequence": 1, "message": message.id, "reason": HERON, "quarantined_at": NOON}
        connection.execute(insert(quarantine).values(**place, **row, raw=HERON))
        item = {
            "id": "i",
            "version": 1,
            "slot": "profile",
            "text": HERON,
            "status": "active",
            "said_at": NOON,
            "sources": [message.id],
            "entries": [entry],
            "conflicts": [],
            "written_by": "sleep",
            "written_at": NOON,
        }
        connection.execute(insert(scratchpad_items).values(**place, **item))

    erased = erase_entry(records, scope)

    assert "Quetzalwing" not in everything(records)
    told = {name: erased.receipt[name] for name in ("recalls", "quarantine", "scratchpad_items")}
    assert told == {"recalls": 1, "quarantine": 1, "scratchpad_items": 2}


def test_a_repeat_of_an_erased_message_does_not_bring_it_back(
    records: Records, scope: Scope
) -> None:
    message = said(HERON, external_id="m1")
    records.messages.accept(scope, [message], now=NOON, idempotency_key="k", body_digest="d")
    held = lease(records)
    state = load(records, held)
    records.awake.commit(held, step_of(scope, 0, list(state.accepted)), now=NOON)

    erase_entry(records, scope)
    [by_id] = records.messages.accept(scope, [message], now=NOON)
    [by_key] = records.messages.accept(
        scope, [message], now=NOON, idempotency_key="k", body_digest="d"
    )

    assert (by_id.content, by_key.content) == ("", "")
    assert records.messages.collection(scope).pending == 0
    assert "Quetzalwing" not in everything(records)


def test_a_tombstone_holds_no_name_and_owes_its_wiping_until_it_is_done(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, HERON, conversation="herons")
    first = erase_conversation(records, scope)
    second = erase_collection(records, scope)

    assert records.erasure.owed() == [first.id, second.id]
    records.erasure.wiped([first.id, second.id], now=NOON)
    records.erasure.wiped([first.id], now=NOON + timedelta(days=1))

    assert records.erasure.owed() == []
    with reading(records.engine, EVERY_TENANT) as connection:
        rows = repr(connection.execute(select(erasures)).all())
    assert "herons" not in rows
    assert "'ola'" not in rows


def test_erasing_a_thousand_entries_takes_less_than_five_seconds(
    records: Records, scope: Scope
) -> None:
    remember(records, scope, *(f"Fact number {n}." for n in range(1000)))
    started = datetime.now(UTC)

    erased = erase_collection(records, scope)

    assert erased.receipt["entries"] == 1000
    assert datetime.now(UTC) - started < timedelta(seconds=5)
    with reading(records.engine, EVERY_TENANT) as connection:
        left = select(func.count()).select_from(METADATA.tables["entry_versions"])
        assert connection.execute(left).scalar_one() == 0
