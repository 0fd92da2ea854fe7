"""What is acknowledged is stored once and in order, whatever is killed while it walks in."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from chaos_killer import POSTGRES, STAGES
from chaos_place import Place, Size, real_models, stand_ins, standing
from chaos_run import calm, check_same, storm
from postgres_server import PostgresServer, fresh_database

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


def test_kills_lose_nothing_and_double_nothing_on_postgresql_with_four_workers(
    tmp_path: Path, size: Size, server: PostgresServer
) -> None:
    marks = tmp_path / "calls"
    stages = {*STAGES, POSTGRES}
    size = replace(size, kills=max(size.kills, len(stages)))
    restart = partial(server.restart, kill=True)

    print("\nPostgreSQL, four workers")
    with fresh_database(server.url) as database:
        args = stand_ins(workers=4, marks=marks)
        place = Place(tmp_path, args, database=database, marks=marks)
        with standing(place):
            without_kills = calm(place, size)
            run = storm(place, size, restart_postgres=restart)

    check_same(run, without_kills)
    assert run.counted.total() == size.kills
    assert set(run.counted) == stages


@pytest.mark.models
def test_kills_lose_nothing_and_double_nothing_with_the_real_models(
    tmp_path: Path, is_full: bool
) -> None:
    if not is_full:
        pytest.skip("only in the full suite")
    place = Place(tmp_path, real_models())
    size = Size(tenants=10, messages=200, kills=5)

    print("\nthe real models, SQLite, one worker")
    with standing(place):
        run = storm(place, size)

    assert run.counted.total() == size.kills
    assert set(run.counted) == set(STAGES)
