"""How much chaos: ``SLOWWAVE_CHAOS`` is ``short`` or ``full``; without it these tests skip."""

import os
import sys
from pathlib import Path

import pytest

# Modules beside the tests are imported by name.
sys.path.insert(0, str(Path(__file__).parent))
from chaos_place import Place, Size, stand_ins, standing
from chaos_run import Run, calm

SHORT = Size(tenants=20, messages=400, kills=6)
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


@pytest.fixture(scope="session")
def without_kills(size: Size, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run that nothing befell: what every other one must remember."""
    place = Place(tmp_path_factory.mktemp("calm"), stand_ins())
    with standing(place):
        run = calm(place, size)
    print(f"\nwithout kills\n{run}")
    return run
