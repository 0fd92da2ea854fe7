"""How much chaos: ``SLOWWAVE_CHAOS`` is ``short`` or ``full``; without it these tests skip."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Modules beside the tests are imported by name.
sys.path.insert(0, str(Path(__file__).parent))
from chaos_place import Size
from postgres_server import PostgresServer

SHORT = Size(tenants=20, messages=400, kills=5)
FULL = Size(tenants=200, messages=5_000, kills=20)


@pytest.fixture(scope="session")
def is_full() -> bool:
    """Whether the whole suite was asked for."""
    asked = os.environ.get("SLOWWAVE_CHAOS")
    if asked not in ("short", "full"):
        pytest.skip("SLOWWAVE_CHAOS is neither short nor full")
    return asked == "full"


@pytest.fixture(scope="session")
def only_in_full(is_full: bool) -> None:
    """Skips where the short suite was asked for."""
    if not is_full:
        pytest.skip("only in the full suite")


@pytest.fixture(scope="session")
def size(is_full: bool) -> Size:
    """How much is said and killed."""
    return FULL if is_full else SHORT


@pytest.fixture(scope="module")
def server(is_full: bool) -> Iterator[PostgresServer]:
    """A PostgreSQL server that may be killed; skips where none can be installed."""
    try:
        found = PostgresServer()
    except RuntimeError as error:
        pytest.skip(str(error))
    with found:
        yield found
