"""What holds for every test, and the record stores that tests run over."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from actors.records import migrate

# Modules beside the tests (telling, postgres_server) are imported by name.
sys.path.insert(0, str(Path(__file__).parent))
from postgres_server import VARIABLE, Database, fresh_database

# A busy machine is slow, not wrong: examples have no deadline of their own, tests have a timeout.
settings.register_profile("slowwave", deadline=None)
settings.load_profile("slowwave")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs PostgreSQL, so that these tests can be run alone."""
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if "postgres_url" in item.fixturenames or parameters.get("database") == "postgres":
            item.add_marker("postgres")


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """The superuser's URL of the PostgreSQL server that is named; skips where none is."""
    server = os.environ.get(VARIABLE)
    if server is None:
        pytest.skip(f"{VARIABLE} names no server")
    return server


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    """An empty schema on PostgreSQL."""
    with fresh_database(postgres_url) as database:
        yield database


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database: SQLite always, PostgreSQL where a server is named."""
    if request.param == "sqlite":
        return Database(url=f"sqlite:///{tmp_path}/records.db")
    found: Database = request.getfixturevalue("postgres")
    return found


@pytest.fixture
def records_url(database: Database) -> str:
    """The URL of a record store without rows."""
    migrate(database.url, owner=database.owner)
    return database.url
