"""Connections, and what the columns take."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Dialect, literal, select, text
from sqlalchemy.dialects import postgresql, sqlite

from actors.records.columns import HalfVector, UtcDateTime
from actors.records.engine import EVERY_TENANT, open_engine, reading, writing
from pipeline.errors import ConfigError, InputError, StoreError


@pytest.mark.parametrize(
    "url", ["mysql://host/db", "sqlite://", "sqlite:///:memory:", "no url at all"]
)
def test_a_url_of_neither_database_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        open_engine(url)

    assert refusal.value.field == "database"


def test_the_refusal_of_a_url_hides_its_password() -> None:
    with pytest.raises(ConfigError) as refusal:
        open_engine("mysql://ola:hunter2@host/db")

    assert "hunter2" not in refusal.value.message


def test_sqlite_is_durable_and_erases_what_it_deletes(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/a.db")

    with engine.connect() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in (
                "journal_mode",
                "synchronous",
                "foreign_keys",
                "busy_timeout",
                "secure_delete",
            )
        }
    engine.dispose()

    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 30_000,
        "secure_delete": 1,
    }


def test_a_reading_sees_one_instant_while_another_writes(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/a.db")
    with writing(engine, EVERY_TENANT) as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))

    with reading(engine, EVERY_TENANT) as reader:
        before = reader.execute(text("SELECT count(*) FROM t")).scalar()
        with writing(engine, EVERY_TENANT) as writer:
            writer.execute(text("INSERT INTO t VALUES (1)"))
        after = reader.execute(text("SELECT count(*) FROM t")).scalar()
    engine.dispose()

    assert (before, after) == (0, 0)


def test_a_writing_that_raises_leaves_nothing(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/a.db")
    with writing(engine, EVERY_TENANT) as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))

    def fail() -> None:
        with writing(engine, EVERY_TENANT) as connection:
            connection.execute(text("INSERT INTO t VALUES (1)"))
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        fail()

    with reading(engine, EVERY_TENANT) as connection:
        assert connection.execute(text("SELECT count(*) FROM t")).scalar() == 0
    engine.dispose()


def test_a_database_that_cannot_be_reached_is_a_store_error(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/missing/a.db")

    with pytest.raises(StoreError, match="unable to open"), reading(engine, EVERY_TENANT):
        pass
    engine.dispose()


@pytest.mark.parametrize(
    ("dialect", "stored"),
    [
        (sqlite.dialect(), "2024-03-01 12:00:00.000005"),
        (postgresql.dialect(), datetime(2024, 3, 1, 12, 0, 0, 5, tzinfo=UTC)),
    ],
)
def test_an_instant_of_any_zone_is_kept_in_utc(dialect: Dialect, stored: object) -> None:
    local = datetime(2024, 3, 1, 20, 0, 0, 5, tzinfo=timezone(timedelta(hours=8)))
    kind = UtcDateTime().dialect_impl(dialect)
    bind, read = kind.bind_processor(dialect), kind.result_processor(dialect, None)

    assert bind is not None
    assert read is not None
    assert bind(local) == stored
    assert read(bind(local)) == local
    assert read(bind(local)).tzinfo is UTC
    assert bind(None) is read(None) is None


def test_a_naive_time_is_refused_in_our_words(tmp_path: Path) -> None:
    naive = datetime(2024, 3, 1)  # noqa: DTZ001 the point of the test
    engine = open_engine(f"sqlite:///{tmp_path}/a.db")
    query = select(literal(naive, UtcDateTime))

    with reading(engine, EVERY_TENANT) as connection, pytest.raises(InputError, match="naive"):
        connection.execute(query)
    engine.dispose()


def test_a_vector_comes_back_of_length_one_within_half_precision() -> None:
    vector = np.arange(1, 385, dtype=np.float32)
    vector /= np.linalg.norm(vector)
    column = HalfVector()

    stored = column.process_bind_param(vector, sqlite.dialect())
    read = column.process_result_value(stored, sqlite.dialect())

    assert stored is not None
    assert len(stored) == 2 * 384
    assert read is not None
    assert read.dtype == np.float32
    assert np.linalg.norm(read) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(read, vector, atol=1e-4)


def test_a_vector_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match="finite"):
        HalfVector().process_bind_param(np.array([np.nan], dtype=np.float32), sqlite.dialect())


def test_nobody_else_reads_a_new_database(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'records.sqlite'}")
    with writing(engine, EVERY_TENANT) as connection:
        connection.execute(text("CREATE TABLE said (words TEXT)"))
        modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    engine.dispose()

    assert modes == {
        "records.sqlite": 0o600,
        "records.sqlite-wal": 0o600,
        "records.sqlite-shm": 0o600,
    }


def test_a_number_that_no_column_holds_is_an_error_of_the_store(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/a.db")
    with writing(engine, EVERY_TENANT) as connection:
        connection.execute(text("CREATE TABLE t (n INTEGER)"))

    def fail() -> None:
        with writing(engine, EVERY_TENANT) as connection:
            connection.execute(text("INSERT INTO t VALUES (:n)"), {"n": 2**63})

    with pytest.raises(StoreError, match="too large"):
        fail()

    with reading(engine, EVERY_TENANT) as connection:
        assert connection.execute(text("SELECT count(*) FROM t")).scalar() == 0
    engine.dispose()
