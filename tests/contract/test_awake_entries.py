"""Statements become entries, and repeats add their sources, on every database."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
from walking import EAST, NOON, NORTH, entries, load, remember, say, stored, take, whole_step

from actors.records import Records
from pipeline.entries import Kind, OrderKey, Status, Writer
from pipeline.messages import Scope, TenantId


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
