"""The schema is that of the tables, whoever makes it and however often."""

import multiprocessing
from functools import partial

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from postgres_server import Database
from sqlalchemy import text

from actors.records import migrate, open_records
from actors.records.engine import EVERY_TENANT, open_engine, reading, writing
from actors.records.tables import METADATA
from pipeline.errors import ConfigError


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


def test_several_processes_may_migrate_at_once(database: Database) -> None:
    spawn = multiprocessing.get_context("spawn")
    as_owner = partial(migrate, owner=database.owner)
    processes = [spawn.Process(target=as_owner, args=(database.url,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0]
