"""Connections to the record store, and the two ways to use one: reading and writing.

A reading sees one instant; a writing is durable when its block ends, or leaves nothing behind.
On SQLite writers of one process queue on a lock of ours, those of several processes on SQLite's.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, TimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from pipeline.errors import ConfigError, StoreError

BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for those of other processes before it gives up."""

EVERY_TENANT = "*"
"""Work that serves all tenants: leases, the outbox, keys, migrations. No tenant has this name."""

_GATE = "slowwave_gate"
_WRITES = "slowwave_writes"
_SET_TENANT = text("SELECT set_config('slowwave.tenant', :tenant, true)")


def open_engine(url: str) -> Engine:
    """An engine on a SQLite file or on PostgreSQL (through psycopg 3); connects on first use.

    Raises:
        ConfigError: the URL names neither.
    """
    target = _target(url)
    if target.get_backend_name() == "sqlite":
        return _open_sqlite(target)
    return create_engine(
        target, json_serializer=_JSON, pool_pre_ping=True, pool_size=10, max_overflow=20
    ).execution_options(**{_GATE: nullcontext()})


_JSON = partial(json.dumps, ensure_ascii=False, allow_nan=False)
"""Texts inside JSON stay as they were said, so that a search of the bytes finds them."""


def _target(url: str) -> URL:
    try:
        target = make_url(url)
    except ArgumentError as exc:
        raise ConfigError(f"expected a database URL, got {url!r}", field="database") from exc
    if target.get_backend_name() == "sqlite" and target.database not in (None, "", ":memory:"):
        return target.set(drivername="sqlite")
    if target.get_backend_name() in ("postgresql", "postgres"):
        return target.set(drivername="postgresql+psycopg")
    shown = target.render_as_string(hide_password=True)
    raise ConfigError(f"expected sqlite:///FILE or postgresql://..., got {shown}", field="database")


def _open_sqlite(target: URL) -> Engine:
    engine = create_engine(
        target,
        json_serializer=_JSON,
        pool_size=10,
        max_overflow=90,
        connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
    ).execution_options(**{_GATE: threading.Lock()})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # the driver must not begin or commit by itself
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def reading(engine: Engine, tenant: str) -> Iterator[Connection]:
    """A connection whose statements all see the same instant and change nothing.

    Args:
        tenant: whose rows the statements may see on PostgreSQL, whatever they ask for.

    Raises:
        StoreError: the database cannot be reached or refused.
    """
    is_sqlite = engine.dialect.name == "sqlite"
    options = {} if is_sqlite else {"isolation_level": "REPEATABLE READ"}
    with _translated(), engine.connect() as plain:
        connection = plain.execution_options(**options)
        with connection.begin() as transaction:
            _confine(connection, tenant)
            yield connection
            transaction.rollback()


@contextmanager
def writing(engine: Engine, tenant: str) -> Iterator[Connection]:
    """A connection that commits when the block ends and rolls back when it raises.

    Args:
        tenant: whose rows the statements may see and write on PostgreSQL.

    Raises:
        StoreError: the database cannot be reached or refused; nothing is written.
    """
    gate: AbstractContextManager[object] = engine.get_execution_options()[_GATE]
    with _translated(), gate, engine.connect() as plain:
        connection = plain.execution_options(**{_WRITES: True})
        with connection.begin():
            _confine(connection, tenant)
            yield connection


def _confine(connection: Connection, tenant: str) -> None:
    """Tells PostgreSQL whose transaction this is; its row-level security reads it."""
    if connection.dialect.name == "postgresql":
        connection.execute(_SET_TENANT, {"tenant": tenant})


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (DBAPIError, TimeoutError) as exc:
        cause = exc.orig if isinstance(exc, DBAPIError) else exc
        raise StoreError(f"the record store refused: {type(exc).__name__}: {cause}") from exc
