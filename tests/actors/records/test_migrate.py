"""The schema is that of the tables, whoever makes it and however often."""

import multiprocessing
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, text

from actors.records import migrate, open_records
from actors.records.engine import EVERY_TENANT, open_engine, reading, writing
from actors.records.tables import METADATA
from pipeline.errors import ConfigError


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/records.db"
        return
    server = os.environ.get("SLOWWAVE_TEST_POSTGRES")
    if server is None:
        pytest.skip("SLOWWAVE_TEST_POSTGRES names no server")
    schema = f"test_{uuid.uuid4().hex}"
    admin = create_engine(server.replace("postgresql://", "postgresql+psycopg://"))
    with admin.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    yield f"{server}?options=-csearch_path%3D{schema}"
    with admin.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
    admin.dispose()


def test_the_migrations_make_exactly_the_tables(url: str) -> None:
    migrate(url)
    migrate(url)

    engine = open_engine(url)
    with reading(engine, EVERY_TENANT) as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_a_database_of_a_newer_version_is_refused(url: str) -> None:
    migrate(url)
    engine = open_engine(url)
    with writing(engine, EVERY_TENANT) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()

    with pytest.raises(ConfigError, match="newer Slowwave"):
        migrate(url)
    with pytest.raises(ConfigError, match="9999"):
        open_records(url)


def test_several_processes_may_migrate_at_once(url: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=migrate, args=(url,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [process.exitcode for process in processes] == [0, 0]
