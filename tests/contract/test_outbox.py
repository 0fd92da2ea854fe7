"""The laws of an outbox, over SQLite and, where one is named, PostgreSQL."""

from dataclasses import replace

import numpy as np
from sqlalchemy import delete, insert
from telling import NOON, note

from actors.records import Records
from actors.records.engine import EVERY_TENANT, writing
from actors.records.tables import entries, entry_vectors, entry_versions, index_ops
from pipeline.entries import EntryChange, Status
from pipeline.ids import EntryId
from pipeline.messages import Scope


def archive(records: Records, scope: Scope, entry: EntryId) -> None:
    records.entries.revise(
        scope.tenant,
        entry,
        EntryChange(status=Status.ARCHIVED),
        expected_version=1,
        vector=None,
        model="tiny",
        why="",
        now=NOON,
    )


def test_changes_come_oldest_first_and_are_forgotten_when_done(
    records: Records, scope: Scope
) -> None:
    wanted = [note(records, scope, text) for text in ("one", "two", "three")]

    first = records.outbox.pending(limit=2)
    records.outbox.done(first)
    records.outbox.done(first)
    rest = records.outbox.pending(limit=2)

    assert [item.entry for item in (*first, *rest)] == wanted
    assert records.outbox.lag(scope) == 1


def test_an_entry_changed_twice_is_one_item_with_all_its_versions(
    records: Records, scope: Scope
) -> None:
    entry = note(records, scope, "one")
    note(records, scope, "two")
    archive(records, scope, entry)

    [item] = records.outbox.pending(limit=1)

    assert item.entry == entry
    assert len(item.ids) == 2
    assert [(one.version, one.status) for one, _ in item.versions] == [
        (1, Status.ACTIVE),
        (2, Status.ARCHIVED),
    ]


def test_a_change_after_the_reading_stays_pending(records: Records, scope: Scope) -> None:
    entry = note(records, scope, "one")
    items = records.outbox.pending(limit=10)
    archive(records, scope, entry)

    records.outbox.done(items)
    records.outbox.done(items)

    [item] = records.outbox.pending(limit=10)
    assert item.versions[-1][0].version == 2


def test_an_erased_entry_says_which_points_must_go(records: Records, scope: Scope) -> None:
    entry = note(records, scope, "one")
    with writing(records.engine, EVERY_TENANT) as connection:
        connection.execute(delete(entry_vectors).where(entry_vectors.c.entry == entry))
        connection.execute(delete(entry_versions).where(entry_versions.c.entry == entry))
        connection.execute(delete(entries).where(entries.c.id == entry))
        row = {"tenant": scope.tenant, "collection": scope.collection, "entry": entry}
        connection.execute(insert(index_ops).values(**row, removed=["p1"], created_at=NOON))

    [item] = records.outbox.pending(limit=10)

    assert item.versions == ()
    assert item.removed == ("p1",)


def test_vectors_of_another_model_are_left_out(records: Records, scope: Scope) -> None:
    entry = note(records, scope, "one")
    with writing(records.engine, EVERY_TENANT) as connection:
        row = {"tenant": scope.tenant, "collection": scope.collection, "entry": entry}
        wide = np.array([0.6, 0.8, 0.0], dtype=np.float32)
        connection.execute(
            insert(entry_vectors).values(**row, version=1, model="wide", vector=wide)
        )

    [item] = records.outbox.pending(limit=10)

    assert [vector.shape for _, vector in item.versions] == [(3,)]


def test_the_lag_is_that_of_the_scope(records: Records, scope: Scope) -> None:
    note(records, scope, "one")

    assert records.outbox.lag(scope) == 1
    assert records.outbox.lag(replace(scope, collection="per")) == 0
    assert records.messages.collection(scope).index_lag == 1


def test_all_that_is_owed_is_every_entry_once_whatever_was_listed_before(
    records: Records, scope: Scope
) -> None:
    taken, listed = note(records, scope, "one"), note(records, scope, "two")
    records.outbox.done(records.outbox.pending(limit=1))

    counts = [records.outbox.owe_all(), records.outbox.owe_all()]

    assert counts == [1, 0]
    assert [item.entry for item in records.outbox.pending(limit=10)] == [listed, taken]
    assert records.outbox.lag(scope) == 2
