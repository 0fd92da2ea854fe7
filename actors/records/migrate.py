"""Brings a database to the version of this code, whoever else tries it at the same time."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from actors.records.engine import EVERY_TENANT, NO_TENANT, open_engine, reading, writing
from actors.records.planning import describe_growth
from actors.records.wall import build_wall, check_role, check_wall, open_gate
from pipeline.errors import ConfigError

_LOCK = 0x510A3E  # any number that nothing else locks in the same PostgreSQL database


def migrate(url: str, *, owner: str | None = None) -> None:
    """Creates or upgrades the schema; doing it twice, or in several processes, changes nothing.

    Args:
        url: what the service connects with.
        owner: on PostgreSQL the same database as the role that owns the tables; they are opened
            for the role of ``url``. Without it the database is only checked.

    Raises:
        ConfigError: the database was written by a newer version; or on PostgreSQL by an older
            one and no owner is named, or row-level security does not bind the role of ``url``.
    """
    engine = open_engine(url)
    try:
        upgrade(engine, owner=owner)
    finally:
        engine.dispose()


def upgrade(engine: Engine, *, owner: str | None = None) -> None:
    """``migrate`` over an engine that is open already."""
    if engine.dialect.name == "postgresql":
        _upgrade_postgres(engine, owner)
    elif owner is not None:
        raise ConfigError("SQLite has no roles: expected no owner", field="owner")
    else:
        _upgrade(engine)


def _upgrade_postgres(engine: Engine, owner: str | None) -> None:
    with reading(engine, NO_TENANT) as connection:
        check_role(connection)
        role = connection.execute(text("SELECT current_user")).scalar_one()
    if owner is not None:
        _upgrade_as(owner, role)
    with reading(engine, NO_TENANT) as connection:
        check_wall(connection)
        if not _is_current(connection):
            raise ConfigError("the database is of an older version", field="database")


def _upgrade_as(owner: str, role: str) -> None:
    engine = open_engine(owner)
    try:
        _upgrade(engine)
        with writing(engine, EVERY_TENANT) as connection:
            _wait_for_others(connection)
            build_wall(connection)
            open_gate(connection, role=role)
    finally:
        engine.dispose()


def _upgrade(engine: Engine) -> None:
    with reading(engine, EVERY_TENANT) as connection:
        if _is_current(connection):
            return
    with writing(engine, EVERY_TENANT) as connection:
        if engine.dialect.name == "postgresql":
            _wait_for_others(connection)
        if not _is_current(connection):
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            if engine.dialect.name == "sqlite":
                describe_growth(connection)


def _wait_for_others(connection: Connection) -> None:
    """Until no other process migrates this PostgreSQL database."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def _is_current(connection: Connection) -> bool:
    scripts = ScriptDirectory.from_config(_config())
    found = MigrationContext.configure(connection).get_current_revision()
    known = {script.revision for script in scripts.walk_revisions()}
    if found is not None and found not in known:
        raise ConfigError(
            f"expected a database of at most version {scripts.get_current_head()}, got {found}, "
            "which a newer Slowwave wrote",
            field="database",
        )
    return found == scripts.get_current_head()
