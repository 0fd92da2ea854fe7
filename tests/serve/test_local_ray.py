"""The local service on a real Ray head: up, killed in every way, up again, down."""

import concurrent.futures
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from pipeline.errors import SlowwaveError
from serve.local.head import spawn, tail
from serve.local.home import Home, home_at
from serve.local.ports import choose
from serve.local.processes import own_processes
from serve.local.record import Service
from serve.local.service import Plan, Started, down, is_ready, recorded, up

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    # The service outlives the call that starts it, so its first process is not waited for.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
]
HERE = Path(__file__).parent
USER_RAY = Path.home() / ".ray"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    home = home_at(tmp_path_factory.mktemp("home"))
    yield home
    down(home, say=print)


@pytest.fixture(autouse=True)
def deployer_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def start(home: Home, config: str = "tiny.yaml") -> Started:
    plan = Plan(config=Path(config), models_dir=home.path, deployer="tiny_deploy")
    return up(home, plan, say=print)


def kill(processes: list[psutil.Process]) -> None:
    """Kill and see dead: the kernel takes its moment, and a dying process still looks alive."""
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    assert psutil.wait_procs(processes, timeout=30)[1] == []


def listening(home: Home) -> set[str]:
    hosts: set[str] = set()
    for process in own_processes(home):
        for connection in process.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                hosts.add(f"{connection.laddr.ip} {process.cmdline()[0].split()[0]}")
    return hosts


def essential(service: Service, name: str) -> psutil.Process:
    return psutil.Process(next(each.pid for each in service.processes if each.name == name))


def test_of_two_starts_at_once_one_starts_and_the_other_finds_it(home: Home) -> None:
    had_user_ray = USER_RAY.exists()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first, second = pool.map(start, [home, home])

    assert sorted([first.is_new, second.is_new]) == [False, True]
    assert first.service == second.service == recorded(home)
    assert is_ready(first.service.url)
    assert {each.name for each in first.service.processes} == {"head", "gcs_server", "raylet"}
    assert USER_RAY.exists() == had_user_ray


def test_nothing_listens_beyond_loopback_without_asking_for_the_token(home: Home) -> None:
    service = start(home).service
    beyond = {line for line in listening(home) if not line.startswith(("127.", "::ffff:127."))}

    reached = httpx.get(f"{service.url}/environment", trust_env=False).json()
    refused = httpx.get(f"{service.dashboard}/api/version", trust_env=False)

    # A replica's own gRPC port checks the token; Ray offers no address to bind it to.
    assert all("ray::ServeReplica" in line for line in beyond)
    assert reached["RAY_AUTH_MODE"] == "token"
    assert refused.status_code == 401


@pytest.mark.parametrize("victim", ["head", "gcs_server"])
def test_a_service_without_one_of_its_rays_processes_is_started_anew(
    home: Home, victim: str
) -> None:
    before = start(home).service
    kill([essential(before, victim)])

    started = start(home)

    assert started.is_new
    assert started.service.processes != before.processes
    assert is_ready(started.service.url)


def test_every_process_killed_then_up_and_no_other_ray_is_touched(
    home: Home, tmp_path: Path
) -> None:
    start(home)
    other, address = foreign_ray(tmp_path)
    try:
        theirs = [other, *other.children(recursive=True)]
        kill(own_processes(home))

        started = start(home)

        assert started.is_new
        assert all(process.is_running() for process in theirs)

        down(home, say=print)

        assert own_processes(home) == []
        assert not home.runtime.exists()
        assert recorded(home) is None
        assert all(process.is_running() for process in theirs)
        assert socket.create_connection(address, timeout=2).close() is None
    finally:
        end_tree(other)


def test_a_start_that_fails_shows_the_log_and_leaves_no_process(home: Home) -> None:
    with pytest.raises(SlowwaveError, match=r"window\.capacity"):
        start(home, "broken.yaml")

    assert own_processes(home) == []
    assert not home.service_file.exists()


def foreign_ray(folder: Path) -> tuple[psutil.Process, tuple[str, int]]:
    """Somebody else's small Ray, started the usual way."""
    port, log, temp = choose().gcs, folder / "ray.log", Path(f"/tmp/other-ray-{os.getpid()}")
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    command += [f"--port={port}", f"--temp-dir={temp}", "--num-cpus=1", "--disable-usage-stats"]
    command += ["--include-dashboard=false", "--min-worker-port=0", "--max-worker-port=0"]
    process = spawn(command, env={**os.environ, "RAY_AUTH_MODE": "disabled"}, log=log, cwd=folder)
    deadline = time.monotonic() + 60
    while not (temp / "ray_current_cluster").exists():
        assert process.poll() is None, tail(log)
        assert time.monotonic() < deadline, tail(log)
        time.sleep(0.2)
    host, _, bound = (temp / "ray_current_cluster").read_text().strip().rpartition(":")
    return psutil.Process(process.pid), (host, int(bound))


def end_tree(process: psutil.Process) -> None:
    tree = [*process.children(recursive=True), process]
    for each in tree:
        each.send_signal(signal.SIGKILL)
    psutil.wait_procs(tree, timeout=10)
    subprocess.run(["rm", "-r", f"/tmp/other-ray-{os.getpid()}"], check=False)
