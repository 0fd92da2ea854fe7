"""Connections to the record store, and the two ways to use one: reading and writing.

A reading sees one instant; a writing is durable when its block ends, or leaves nothing behind.
On SQLite writers of one process queue on a lock of ours, those of several processes on SQLite's.
"""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from actors.records.failures import translated
from pipeline.errors import ConfigError

BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for those of other processes before it gives up."""

CONNECT_TIMEOUT_S = 5
"""How long PostgreSQL may take to let a connection in, where the URL says nothing else."""

EVERY_TENANT = "*"
"""Work that serves all tenants: leases, the outbox, keys, migrations. No tenant has this name."""

NO_TENANT = ""
"""Work on what belongs to no tenant; sees and writes no tenant's row."""

_GATE = "slowwave_gate"
_WRITES = "slowwave_writes"
_TENANT = "slowwave_tenant"


def open_engine(url: str) -> Engine:
    """An engine on a SQLite file or on PostgreSQL (through psycopg 3); connects on first use.

    Raises:
        ConfigError: the URL names neither, or psycopg is not installed.
    """
    target = _target(url)
    return _open_sqlite(target) if target.get_backend_name() == "sqlite" else _open_postgres(target)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Texts inside JSON stay as they were said, so that a search of the bytes finds them."""


def _to_json(value: object) -> str:
    """Most columns of JSON hold an empty list or mapping; those need no encoder."""
    if value == {}:
        return "{}"
    return "[]" if value == [] else _encode(value)


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
    _hide(Path(str(target.database)))
    engine = create_engine(
        target,
        json_serializer=_to_json,
        pool_size=10,
        max_overflow=90,
        connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
    ).execution_options(**{_GATE: threading.Lock()})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _hide(file: Path) -> None:
    """Lets nobody else read a new database; its log and index files take over the mode."""
    if file.parent.is_dir():
        file.touch(mode=0o600)


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


def _open_postgres(target: URL) -> Engine:
    try:
        engine = create_engine(
            target.set(query={"connect_timeout": str(CONNECT_TIMEOUT_S), **target.query}),
            json_serializer=_to_json,
            pool_size=10,
            max_overflow=20,
        ).execution_options(**{_GATE: nullcontext()})
    except ModuleNotFoundError as exc:
        raise ConfigError(
            "PostgreSQL needs psycopg: install slowwave[postgres]", field="database"
        ) from exc
    event.listen(engine, "connect", _prepare_postgres)
    event.listen(engine, "begin", _begin_postgres)
    return engine


def _prepare_postgres(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    connection.autocommit = True  # the driver must not begin by itself


def _begin_postgres(connection: Connection) -> None:
    """Begins and tells row-level security whose transaction this is, in one round trip."""
    from psycopg.sql import Literal

    options = connection.get_execution_options()
    writes = options.get(_WRITES, False)
    mode = "READ COMMITTED, READ WRITE" if writes else "REPEATABLE READ, READ ONLY"
    tenant = Literal(options.get(_TENANT, NO_TENANT)).as_string()
    connection.exec_driver_sql(
        f"BEGIN ISOLATION LEVEL {mode}; SELECT set_config('slowwave.tenant', {tenant}, true)",
        execution_options={"no_parameters": True},
    )


@contextmanager
def reading(engine: Engine, tenant: str) -> Iterator[Connection]:
    """A connection whose statements all see the same instant and change nothing.

    Args:
        tenant: whose rows the statements may see on PostgreSQL, whatever they ask for.

    Raises:
        RolledBack: the database cannot be reached.
        StoreError: it refused.
    """
    with translated(), _begun(engine, tenant, writes=False) as connection:
        yield connection


@contextmanager
def writing(engine: Engine, tenant: str) -> Iterator[Connection]:
    """A connection that commits when the block ends and rolls back when it raises.

    Args:
        tenant: whose rows the statements may see and write on PostgreSQL.

    Raises:
        RolledBack: nothing is written, and the same work may succeed if it is done again.
        StoreError: the database refused, or was lost while it committed: whether it has written
            is then unknown.
    """
    gate: AbstractContextManager[object] = engine.get_execution_options()[_GATE]
    with translated(), gate, _begun(engine, tenant, writes=True) as connection:
        yield connection
        with translated(is_commit=True):
            connection.commit()


@contextmanager
def _begun(engine: Engine, tenant: str, *, writes: bool) -> Iterator[Connection]:
    """A connection inside a transaction, which rolls back unless it was committed."""
    options = {_TENANT: tenant, _WRITES: writes}
    try:
        connection = _begin(engine, options)
    except DBAPIError as exc:
        if not exc.connection_invalidated:
            raise
        connection = _begin(engine, options)  # those of the pool died with their server
    with connection:
        yield connection


def _begin(engine: Engine, options: dict[str, object]) -> Connection:
    connection = engine.connect().execution_options(**options)
    try:
        connection.begin()
    except BaseException:
        connection.close()
        raise
    return connection
