"""The whole service dies while a night is at a stage; started again it ends the night as it was."""

import contextlib
import os
import shutil
import signal
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from chaos_clients import script
from chaos_place import Place, stand_ins
from chaos_sleep import OPERATORS
from chaos_told import rows_of
from sqlalchemy import update

from actors.records.engine import EVERY_TENANT, writing
from actors.records.tables import sleep_runs
from pipeline.messages import Scope, TenantId
from serve.local.processes import own_processes

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    # The service outlives the call that starts it, so its first process is not waited for.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]

DEFAULT = TenantId("default")
SCOPES = [Scope(tenant=DEFAULT, collection=f"life-{number}") for number in range(3)]
STAGES = ("read", "find", "queue", "decide", "record", "tend")
WAIT_S = 300.0
Night = tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]
"""A run, and the rows of an export after it."""

SILENCE = timedelta(minutes=2)


@pytest.fixture(scope="module")
def remembered(is_full: bool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a service that has been told much and has not slept."""
    if not is_full:
        pytest.skip("only in the full suite")
    folder = tmp_path_factory.mktemp("told")
    place = Place(folder, stand_ins())
    try:
        _tell(place.up())
    finally:
        place.down()
    return place.home.path


def _tell(url: str) -> None:
    """The same messages to each collection, extracted when this returns."""
    (told,) = script(tenants=1, messages=60, seed=20, prefix="night").values()
    with httpx.Client(base_url=f"{url}/v1", timeout=120, trust_env=False) as http:
        for scope in SCOPES:
            path = f"/collections/{scope.collection}"
            for request in told:
                body = {"conversation": "talk", "messages": [said.body for said in request]}
                http.post(f"{path}/messages", json=body).raise_for_status()
            http.post(f"{path}/flush", json={"wait": True}).raise_for_status()


def _copied(remembered: Path, folder: Path) -> Place:
    """A service in a home that is as that one."""
    shutil.copytree(remembered, folder / "home", symlinks=True, ignore=_sockets)
    return Place(folder, stand_ins(), home=folder / "home")


def _sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_socket()]


def _night(url: str, run: str | None = None) -> dict[str, Any]:
    """Begins a run, or looks at it."""
    with httpx.Client(base_url=f"{url}/v1/sleep", timeout=60, trust_env=False) as http:
        reply = http.post("/runs", json={}) if run is None else http.get(f"/runs/{run}")
    found: dict[str, Any] = reply.raise_for_status().json()
    return found


def _ended(url: str, run: str) -> dict[str, Any]:
    """The run when it has ended."""
    until = time.monotonic() + WAIT_S
    while (found := _night(url, run))["status"] == "running":
        assert time.monotonic() < until, found
        time.sleep(1)
    return found


def _told(place: Place) -> dict[str, list[dict[str, Any]]]:
    records = place.records()
    try:
        return rows_of(records, SCOPES)
    finally:
        records.close()


@pytest.fixture(scope="module")
def calm(remembered: Path, tmp_path_factory: pytest.TempPathFactory) -> Night:
    """A night that nothing befell, and what is remembered after it."""
    place = _copied(remembered, tmp_path_factory.mktemp("calm"))
    try:
        url = place.up()
        run = _ended(url, _night(url)["id"])
    finally:
        place.down()
    print("\nwithout kills:", run["totals"], flush=True)
    assert run["totals"]["targets"] > 0
    assert run["totals"]["items"] > 0
    return run, _told(place)


def _at_work(place: Place, stage: str) -> None:
    """Returns when a worker of the stage stands still in the middle of its work."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        for pid in psutil.pids():
            if _is_at(pid, stage) and _stopped(pid, stage, place):
                return
        time.sleep(0.002)
    raise AssertionError(f"nobody was met at {stage}")


def _is_at(pid: int, stage: str) -> bool:
    """Whether the process says by its title that it works on the stage just now."""
    with contextlib.suppress(OSError):
        title = Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0].decode()
        is_actor = stage in ("decide", "tend")
        is_working = title.endswith(".submit") if is_actor else title.startswith("ray::")
        return is_working and OPERATORS[stage] in title
    return False


def _stopped(pid: int, stage: str, place: Place) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.suspend()
        if _is_at(pid, stage) and pid in {one.pid for one in own_processes(place.home)}:
            return True
        process.resume()
    return False


def _kill(place: Place) -> None:
    """Everything at once."""
    victims = own_processes(place.home)
    for victim in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim.pid, signal.SIGKILL)
    psutil.wait_procs(victims, timeout=60)


def _let_time_pass(place: Place) -> None:
    """The run's job was last heard of long ago."""
    records = place.records()
    with writing(records.engine, EVERY_TENANT) as connection:
        seen = connection.execute(sleep_runs.select()).one().seen_at
        connection.execute(update(sleep_runs).values(seen_at=seen - SILENCE))
    records.close()


@pytest.mark.parametrize("stage", STAGES)
def test_the_service_may_die_at_any_stage_of_a_night(
    stage: str,
    remembered: Path,
    calm: Night,
    tmp_path: Path,
) -> None:
    undisturbed, told = calm
    place = _copied(remembered, tmp_path)
    try:
        run = _night(place.up())["id"]
        _at_work(place, stage)
        _kill(place)
        _let_time_pass(place)
        ended = _ended(place.up(), run)
    finally:
        place.down()

    print(f"service at {stage}: {ended['status']} {ended['totals']}", flush=True)
    assert ended["status"] == "completed"
    assert _told(place) == told
    for name, count in undisturbed["totals"].items():
        if name not in ("model_calls", "tokens"):
            assert ended["totals"][name] == count
    assert ended["totals"]["model_calls"] <= undisturbed["totals"]["model_calls"]
