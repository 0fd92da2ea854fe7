"""Taking what was erased out of the database's files, where that is ours to do.

SQLite overwrites deleted rows (``secure_delete``), but its log keeps them until it is truncated and
pages keep what was moved inside them. So the file is written anew, which takes as much free space
as the file has; writers wait meanwhile, readers do not. A PostgreSQL server does the same by itself
with autovacuum, on files that are not ours.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.engine.interfaces import DBAPIConnection

from pipeline.errors import StoreError


def wipe_files(engine: Engine) -> bool:
    """Whether the files hold no erased byte any more.

    False while a reader still looks at an instant before the erasure; nothing is lost then, and
    it is for the caller to try again.

    Raises:
        StoreError: the file cannot be written anew.
    """
    if engine.dialect.name != "sqlite":
        return True
    with _plain(engine) as connection, _translated():
        _run(connection, "VACUUM")
        busy, _pages, _moved = _run(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    return not busy


@contextmanager
def _plain(engine: Engine) -> Iterator[DBAPIConnection]:
    """A connection outside any transaction, which VACUUM asks for."""
    connection = engine.raw_connection()
    try:
        yield connection.dbapi_connection  # type: ignore[misc]  # never None before close
    finally:
        connection.close()


def _run(connection: DBAPIConnection, statement: str) -> tuple[int, int, int]:
    cursor = connection.cursor()
    try:
        cursor.execute(statement)
        return cursor.fetchone() or (0, 0, 0)
    finally:
        cursor.close()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as exc:
        raise StoreError(f"the record store cannot be written anew: {exc}") from exc
