"""Rows that go in together come out as they were, on every database."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Engine, select

from actors.records import Records
from actors.records.bulk import insert_rows, upsert
from actors.records.engine import open_engine, reading, writing
from actors.records.tables import collections, conversations
from pipeline.messages import TenantId

ACME = TenantId("acme")
SAID = datetime(2025, 3, 1, 10, 0, 0, 123456, tzinfo=UTC)
ODD = ("quotes \" ' and \\", "line\nbreak\ttab", "她的相机 📷", "{}", "null", "%(rows)s $1 :name")


@pytest.fixture
def engine(records: Records, records_url: str) -> Iterator[Engine]:
    """The database under the stores."""
    opened = open_engine(records_url)
    yield opened
    opened.dispose()


def _collections(*names: str, settings: Any) -> list[dict[str, Any]]:
    return [
        {"tenant": ACME, "name": name, "created_at": SAID, "settings": settings, "origin": None}
        for name in names
    ]


def test_texts_times_and_documents_come_out_as_they_went_in(engine: Engine) -> None:
    nested = {"deep": [1, 2.5, None, {"她": ODD[0]}]}
    with writing(engine, ACME) as connection:
        insert_rows(connection, collections, _collections(*ODD, settings=nested))
    with reading(engine, ACME) as connection:
        rows = connection.execute(select(collections).order_by(collections.c.name)).all()
    assert {row.name for row in rows} == set(ODD)
    assert all(row.settings == nested and row.created_at == SAID for row in rows)
    assert all(row.origin is None and row.last_sequence == 0 for row in rows)


def test_a_row_alone_is_no_other_than_one_of_many(engine: Engine) -> None:
    with writing(engine, ACME) as connection:
        insert_rows(connection, collections, _collections("alone", settings={"a": 1}))
        insert_rows(connection, collections, _collections("b", "c", settings={"a": 1}))
        insert_rows(connection, collections, [])
    with reading(engine, ACME) as connection:
        rows = connection.execute(select(collections.c.settings, collections.c.created_at)).all()
    assert len(rows) == 3
    assert len({(str(row.settings), row.created_at) for row in rows}) == 1


def test_a_document_that_is_null_is_no_missing_one(engine: Engine) -> None:
    with writing(engine, ACME) as connection:
        insert_rows(connection, collections, _collections("a", "b", settings=None))
    with reading(engine, ACME) as connection:
        assert connection.execute(select(collections.c.settings)).scalars().all() == [None, None]


def test_rows_that_exist_change_only_where_they_are_told_to(engine: Engine) -> None:
    def thread(name: str, last: int) -> dict[str, Any]:
        place = {"tenant": ACME, "collection": "ola", "name": name, "created_at": SAID}
        return {**place, "last_sequence": last, "last_said_at": None}

    with writing(engine, ACME) as connection:
        insert_rows(connection, collections, _collections("ola", settings={}))
        upsert(connection, conversations, [thread("a", 1), thread("b", 1)], changes=())
        upsert(connection, conversations, [thread("a", 2), thread("c", 2)], changes=())
        upsert(
            connection,
            conversations,
            [thread("b", 3), thread("d", 3)],
            changes=("last_sequence",),
        )
    with reading(engine, ACME) as connection:
        rows = connection.execute(select(conversations.c.name, conversations.c.last_sequence))
        assert {name: last for name, last in rows} == {"a": 1, "b": 3, "c": 2, "d": 3}
