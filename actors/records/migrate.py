"""Brings a database to the version of this code, whoever else tries it at the same time."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from actors.records.engine import EVERY_TENANT, open_engine, reading, writing
from pipeline.errors import ConfigError

_LOCK = 0x510A3E  # any number that nothing else locks in the same PostgreSQL database


def migrate(url: str) -> None:
    """Creates or upgrades the schema; doing it twice, or in several processes, changes nothing.

    Raises:
        ConfigError: the database was written by a newer version.
    """
    engine = open_engine(url)
    try:
        upgrade(engine)
    finally:
        engine.dispose()


def upgrade(engine: Engine) -> None:
    """``migrate`` over an engine that is open already."""
    with reading(engine, EVERY_TENANT) as connection:
        if _is_current(connection):
            return
    with writing(engine, EVERY_TENANT) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if not _is_current(connection):
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


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
