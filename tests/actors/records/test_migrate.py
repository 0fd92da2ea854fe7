"""The schema is that of the tables, whoever makes it and however often."""

import multiprocessing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from postgres_server import Database
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    insert,
    text,
)

from actors.records import migrate, open_records
from actors.records.engine import EVERY_TENANT, open_engine, reading, writing
from actors.records.migrate import _config
from actors.records.tables import METADATA
from pipeline.errors import ConfigError
from pipeline.messages import Scope, TenantId


def test_the_migrations_make_exactly_the_tables(database: Database) -> None:
    migrate(database.url, owner=database.owner)
    migrate(database.url, owner=database.owner)

    engine = open_engine(database.owner or database.url)
    with reading(engine, EVERY_TENANT) as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    migrate(database.url, owner=database.owner)
    engine = open_engine(database.owner or database.url)
    with writing(engine, EVERY_TENANT) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()

    with pytest.raises(ConfigError, match="newer Slowwave"):
        migrate(database.url, owner=database.owner)
    with pytest.raises(ConfigError, match="9999"):
        open_records(database.url)


def filled(table: Table) -> dict[str, object]:
    """A row that fits the table as it is, whatever its version; rows refer to each other."""
    values = {column.name: _value(column) for column in table.columns}
    if table.name == "collections":
        values["name"] = _NAMES["collection"]
    if table.name == "tenants":
        values |= {"name": _NAMES["tenant"], "settings": {}, "disabled_at": None}
    return values


def _value(column: Column[Any]) -> object:
    if column.name in _NAMES:
        return _NAMES[column.name]
    for kind, value in _VALUES:
        if isinstance(column.type, kind):
            return value
    return f"玉 {column.name}"


_VALUES = (
    (DateTime, datetime(2024, 3, 1, 12, tzinfo=UTC)),
    (Boolean, False),
    ((Integer, Float), 1),
    (JSON, []),
    (LargeBinary, b"\x00\x3c\x00\x00"),
)
_NAMES = {
    **{"tenant": "acme", "collection": "ola", "id": "e1", "entry": "e1", "zone": "UTC"},
    **{"kind": "fact", "status": "active", "written_by": "ingest"},
    **{"state": "extracted", "role": "user"},
}
_FILLED = ("tenants", "collections", "messages", "entries", "entry_versions", "entry_vectors")


def revisions() -> list[str]:
    return [script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()]


@pytest.mark.parametrize("revision", revisions())
def test_a_store_of_every_earlier_version_opens_with_the_same_rows(
    tmp_path: Path, revision: str
) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    engine = open_engine(url)
    with writing(engine, EVERY_TENANT) as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        old = MetaData()
        old.reflect(connection)
        for name in _FILLED:
            connection.execute(insert(old.tables[name]).values(filled(old.tables[name])))
    engine.dispose()

    records = open_records(url)
    scope = Scope(tenant=TenantId("acme"), collection="ola")

    [entry] = records.entries.entries(scope).entries
    [message] = records.messages.messages(scope)
    assert (entry.id, entry.text, entry.version) == ("e1", "玉 text", 1)
    assert (message.id, message.content) == ("e1", "玉 content")
    assert [one.entry.text for one in records.entries.history(scope.tenant, entry.id)] == [
        "玉 text"
    ]
    records.close()


def test_several_processes_may_migrate_at_once(database: Database) -> None:
    spawn = multiprocessing.get_context("spawn")
    as_owner = partial(migrate, owner=database.owner)
    processes = [spawn.Process(target=as_owner, args=(database.url,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0]
