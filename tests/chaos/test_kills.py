"""What is acknowledged is stored once and in order, whatever is killed while it walks in."""

from pathlib import Path

import pytest
from chaos_killer import STAGES
from chaos_place import Place, Size, stand_ins, standing
from chaos_run import calm, check_same, storm

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(5400),
    # The service outlives the call that starts it, so its first process is not waited for.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]


def test_kills_lose_nothing_and_double_nothing_on_sqlite(tmp_path: Path, size: Size) -> None:
    marks = tmp_path / "calls"
    place = Place(tmp_path, stand_ins(marks=marks), marks=marks)

    print("\nSQLite, one worker")
    with standing(place):
        without_kills = calm(place, size)
        run = storm(place, size)

    check_same(run, without_kills)
    assert run.counted.total() == size.kills
    assert set(run.counted) == set(STAGES)
