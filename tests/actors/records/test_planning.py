"""SQLite finds a row by its id, however long its collection is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import ColumnElement, Engine, Table, select, text

from actors.records import migrate
from actors.records.engine import EVERY_TENANT, open_engine, reading
from actors.records.sql import in_scope
from actors.records.tables import (
    entries,
    entry_vectors,
    entry_versions,
    index_ops,
    messages,
    segments,
)
from pipeline.messages import Scope, TenantId

SCOPE = Scope(tenant=TenantId("acme"), collection="life")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    url = f"sqlite:///{tmp_path / 'records.sqlite'}"
    migrate(url)
    engine = open_engine(url)
    yield engine
    engine.dispose()


@pytest.mark.parametrize(
    ("table", "key"),
    [
        (messages, "id"),
        (segments, "id"),
        (entries, "id"),
        (entry_versions, "entry"),
        (entry_vectors, "entry"),
        (index_ops, "entry"),
    ],
)
def test_rows_are_found_by_id_inside_a_collection(engine: Engine, table: Table, key: str) -> None:
    ids = ["a", "b", "c"]

    plan = planned(engine, table, table.c[key].in_(ids))

    assert f"(tenant=? AND {key}=?)" in plan


def test_messages_are_found_by_state(engine: Engine) -> None:
    plan = planned(engine, messages, messages.c.state == "accepted")

    assert "(tenant=? AND collection=? AND state=?)" in plan


def planned(engine: Engine, table: Table, which: ColumnElement[bool]) -> str:
    """How SQLite would look for rows of the collection."""
    query = select(table.c[table.primary_key.columns.keys()[0]]).where(in_scope(table, SCOPE))
    shown = query.where(which).compile(engine, compile_kwargs={"literal_binds": True})
    with reading(engine, EVERY_TENANT) as connection:
        rows = connection.execute(text(f"EXPLAIN QUERY PLAN {shown}")).all()
    return "\n".join(row.detail for row in rows)
