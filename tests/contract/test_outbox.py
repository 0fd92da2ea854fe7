"""The laws of an outbox, over SQLite and, where one is named, PostgreSQL."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from sqlalchemy import delete, insert

from actors.records import Records
from actors.records.engine import EVERY_TENANT, writing
from actors.records.tables import entries, entry_vectors, entry_versions, index_ops
from pipeline.entries import EntryChange, Kind, Statement, Status
from pipeline.ids import EntryId, entry_id
from pipeline.messages import NewMessage, Role, Scope
from pipeline.state import AwakeCommit, StoredStatement

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
EAST = np.array([1.0, 0.0], dtype=np.float32)


def remember(records: Records, scope: Scope, text: str) -> EntryId:
    message = NewMessage(
        conversation="c", role=Role.USER, speaker="Ola", content=text, said_at=NOON
    )
    [source] = records.messages.accept(scope, [message], now=NOON)
    statement = Statement(
        text=text,
        kind=Kind.FACT,
        speaker="Ola",
        said_at=NOON,
        zone="UTC",
        language="en",
        sources=(source.id,),
        sequence=source.sequence,
        ordinal=0,
    )
    entry = entry_id(scope.tenant, scope.collection, source.id, 0)
    [lease] = records.awake.lease("w", limit=1, now=NOON, ttl_s=30, idle_s=60)
    commit = AwakeCommit(
        start_step=records.awake.load(lease, limit=1, now=NOON, idle_s=60).step,
        quarantined={source.id: "not needed again"},
        statements=(StoredStatement(id=entry, statement=statement, vector=EAST),),
        model="tiny",
    )
    assert records.awake.commit(lease, commit, now=NOON)
    records.awake.release([lease])
    return entry


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
    wanted = [remember(records, scope, text) for text in ("one", "two", "three")]

    first = records.outbox.pending(limit=2)
    records.outbox.done(first)
    records.outbox.done(first)
    rest = records.outbox.pending(limit=2)

    assert [item.entry for item in (*first, *rest)] == wanted
    assert records.outbox.lag(scope) == 1


def test_an_entry_changed_twice_is_one_item_with_all_its_versions(
    records: Records, scope: Scope
) -> None:
    entry = remember(records, scope, "one")
    remember(records, scope, "two")
    archive(records, scope, entry)

    [item] = records.outbox.pending(limit=1)

    assert item.entry == entry
    assert len(item.ids) == 2
    assert [(one.version, one.status) for one, _ in item.versions] == [
        (1, Status.ACTIVE),
        (2, Status.ARCHIVED),
    ]


def test_a_change_after_the_reading_stays_pending(records: Records, scope: Scope) -> None:
    entry = remember(records, scope, "one")
    items = records.outbox.pending(limit=10)
    archive(records, scope, entry)

    records.outbox.done(items)
    records.outbox.done(items)

    [item] = records.outbox.pending(limit=10)
    assert item.versions[-1][0].version == 2


def test_an_erased_entry_says_which_points_must_go(records: Records, scope: Scope) -> None:
    entry = remember(records, scope, "one")
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
    entry = remember(records, scope, "one")
    with writing(records.engine, EVERY_TENANT) as connection:
        row = {"tenant": scope.tenant, "collection": scope.collection, "entry": entry}
        wide = np.array([0.6, 0.8, 0.0], dtype=np.float32)
        connection.execute(
            insert(entry_vectors).values(**row, version=1, model="wide", vector=wide)
        )

    [item] = records.outbox.pending(limit=10)

    assert [vector.shape for _, vector in item.versions] == [(3,)]


def test_the_lag_is_that_of_the_scope(records: Records, scope: Scope) -> None:
    remember(records, scope, "one")

    assert records.outbox.lag(scope) == 1
    assert records.outbox.lag(replace(scope, collection="per")) == 0
    assert records.messages.collection(scope).index_lag == 1


def test_all_that_is_owed_is_every_entry_once_whatever_was_listed_before(
    records: Records, scope: Scope
) -> None:
    taken, listed = remember(records, scope, "one"), remember(records, scope, "two")
    records.outbox.done(records.outbox.pending(limit=1))

    counts = [records.outbox.owe_all(), records.outbox.owe_all()]

    assert counts == [1, 0]
    assert [item.entry for item in records.outbox.pending(limit=10)] == [listed, taken]
    assert records.outbox.lag(scope) == 2
