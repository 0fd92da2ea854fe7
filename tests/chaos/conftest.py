"""How much chaos: ``SLOWWAVE_CHAOS`` is ``short`` or ``full``; without it these tests skip."""

import os
import sys
from pathlib import Path

import pytest

# Modules beside the tests are imported by name.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def is_full() -> bool:
    """Whether the whole suite was asked for."""
    asked = os.environ.get("SLOWWAVE_CHAOS")
    if asked not in ("short", "full"):
        pytest.skip("SLOWWAVE_CHAOS is neither short nor full")
    return asked == "full"
