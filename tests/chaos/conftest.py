"""How much chaos: ``SLOWWAVE_CHAOS`` is ``short`` or ``full``; without it these tests skip."""

import os
import sys
from pathlib import Path

import pytest

# Modules beside the tests are imported by name.
sys.path.insert(0, str(Path(__file__).parent))
from chaos_place import Size

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
def size(is_full: bool) -> Size:
    """How much is said and killed."""
    return FULL if is_full else SHORT
