"""The local service's parts that need no Ray."""

import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from pipeline.errors import ConfigError
from serve.local import record
from serve.local.head import environment
from serve.local.home import Home, current_home, home_at, models_dir
from serve.local.ports import choose, is_free
from serve.local.processes import MARK, end_processes, is_alive, own_processes
from serve.local.record import Process, Service
from serve.local.service import down, locked, running, stands
from serve.local.temporary import check_no_config

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_at(tmp_path / "home")


def service(home: Home, *, pid: int, created: float) -> Service:
    return Service(
        id=home.id,
        version="1",
        url="http://127.0.0.1:1",
        dashboard="http://127.0.0.1:2",
        ray_address="127.0.0.1:3",
        token_file="t",
        config="c",
        started_at="2025-01-01T00:00:00+00:00",
        ports={"http": 1},
        processes=(Process(name="head", pid=pid, created=created),),
    )


def marked(home: Home, command: list[str] = SLEEP) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command, env={**os.environ, MARK: home.id}, start_new_session=True, stdout=subprocess.PIPE
    )


def ended(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.communicate()


def cleared(home: Home) -> None:
    shutil.rmtree(home.runtime)


def test_two_folders_have_different_ids_and_one_folder_always_the_same(tmp_path: Path) -> None:
    assert home_at(tmp_path / "a").id == home_at(tmp_path / "b" / ".." / "a").id
    assert home_at(tmp_path / "a").id != home_at(tmp_path / "b").id


def test_home_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("SLOWWAVE_MODELS", str(tmp_path / "models"))

    assert current_home().path == (tmp_path / "mine").resolve()
    assert models_dir() == (tmp_path / "models").resolve()


def test_home_and_token_are_for_their_owner_alone(home: Home) -> None:
    home.prepare()
    home.prepare_start()
    token = home.token_file.read_text()
    home.prepare_start()
    cleared(home)

    assert home.token_file.read_text() == token
    assert stat.S_IMODE(home.token_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700


def test_a_home_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError) as caught:
        home_at(tmp_path / "file" / "home").prepare()

    assert caught.value.field == "SLOWWAVE_HOME"


def test_sockets_below_the_runtime_folder_fit_into_their_path(home: Home) -> None:
    node = "0" * 56

    assert len(str(home.runtime / node / "m.sock")) <= 97
    assert len(str(home.temp_dir / "pymp-abcdefgh" / "listener-abcdefgh")) <= 107


def test_temporary_files_of_the_service_go_with_its_runtime_folder(home: Home) -> None:
    home.prepare()
    home.prepare_start()
    env = environment(home, choose(), {"TMPDIR": "/elsewhere"})
    cleared(home)

    assert Path(env["TMPDIR"]).is_relative_to(home.runtime)


def test_chosen_ports_are_free_and_different() -> None:
    ports = choose()
    single = [
        ports.http,
        ports.gcs,
        ports.dashboard,
        ports.agent,
        ports.agent_grpc,
        ports.runtime_env,
        ports.metrics,
        ports.client,
        ports.proxy_metrics,
        ports.proxy_stats,
        ports.fallback_http,
        ports.fallback_grpc,
    ]
    ranges = [*range(ports.replicas[0], ports.replicas[1] + 1)]
    ranges += range(ports.workers[0], ports.workers[1] + 1)

    assert len({*single, *ranges}) == len(single) + len(ranges)
    assert all(is_free(port) for port in single)


def test_a_taken_port_that_was_asked_for_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(ConfigError, match=f"port {port} is in use"):
            choose(port)


def test_a_record_comes_back_as_it_was_written(home: Home) -> None:
    home.prepare()
    written = service(home, pid=1, created=2.0)

    record.write(written, home.service_file)

    assert record.read(home.service_file) == written
    assert stat.S_IMODE(home.service_file.stat().st_mode) == 0o600


def test_no_record_is_none_and_a_broken_one_is_an_error(home: Home) -> None:
    home.prepare()
    assert record.read(home.service_file) is None

    home.service_file.write_text('{"id": 1')

    with pytest.raises(ConfigError):
        record.read(home.service_file)


def test_a_record_of_a_reused_pid_does_not_stand(home: Home) -> None:
    me = psutil.Process()

    assert stands(service(home, pid=me.pid, created=me.create_time()))
    assert not stands(service(home, pid=me.pid, created=me.create_time() - 100))
    assert not is_alive(2**22 - 1, 0.0)


def test_only_processes_with_this_homes_mark_are_its_own(home: Home, tmp_path: Path) -> None:
    mine, other = marked(home), marked(home_at(tmp_path / "other"))
    try:
        assert [process.pid for process in own_processes(home)] == [mine.pid]
    finally:
        ended(mine)
        ended(other)


def test_a_retitled_process_with_a_file_of_the_runtime_folder_is_found(home: Home) -> None:
    home.prepare()
    home.prepare_start()
    held = home.runtime / "log"
    held.write_text("")
    code = "import os, sys, time; f = open(sys.argv[1]); print(1, flush=True); time.sleep(60)"
    unmarked = {key: value for key, value in os.environ.items() if key != MARK}

    def started(title: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [title, "-c", code, str(held)],
            executable=sys.executable,
            env=unmarked,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    worker, reader = started("ray::Worker"), started("less")
    try:
        for process in (worker, reader):
            assert process.stdout is not None
            process.stdout.readline()

        assert [process.pid for process in own_processes(home)] == [worker.pid]
    finally:
        ended(worker)
        ended(reader)
        cleared(home)


def test_orphans_in_the_session_of_a_marked_process_are_its_own(home: Home) -> None:
    code = (
        "import subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], env={}); "
        "print(child.pid, flush=True); time.sleep(60)"
    )
    parent = marked(home, [sys.executable, "-c", code])
    assert parent.stdout is not None
    child = int(parent.stdout.readline())

    assert {process.pid for process in own_processes(home)} == {parent.pid, child}
    assert end_processes(home) == 2
    assert own_processes(home) == []
    ended(parent)


def test_a_process_that_ignores_sigterm_is_ended_too(home: Home) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        "print(1, flush=True); time.sleep(60)"
    )
    stubborn = marked(home, [sys.executable, "-c", code])
    assert stubborn.stdout is not None
    stubborn.stdout.readline()

    assert end_processes(home, grace_s=0.2) == 1
    ended(stubborn)


def test_down_where_nothing_runs_ends_nothing_and_makes_no_folder(home: Home) -> None:
    assert down(home, say=print) == 0
    assert not home.path.exists()


def test_down_ends_the_processes_of_a_home_whose_folder_is_gone(home: Home) -> None:
    left = marked(home)

    assert down(home, say=print) == 1
    ended(left)


def test_down_ends_what_a_killed_service_left(home: Home) -> None:
    home.prepare()
    left = marked(home)
    record.write(service(home, pid=2**22 - 1, created=0.0), home.service_file)

    assert running(home) is None
    assert down(home, say=print) == 1
    assert not home.service_file.exists()
    ended(left)


def test_a_second_command_waits_for_the_first_and_says_so(home: Home) -> None:
    home.prepare()
    said: list[str] = []
    order: list[str] = []

    def second() -> None:
        with locked(home, say=said.append):
            order.append("second")

    with locked(home, say=said.append):
        thread = threading.Thread(target=second)
        thread.start()
        while not said:
            time.sleep(0.01)
        order.append("first")
    thread.join()

    assert order == ["first", "second"]
    assert "waiting" in said[0]


def test_nothing_of_another_ray_reaches_our_environment(home: Home) -> None:
    home.prepare()
    home.prepare_start()
    caller = {
        "PATH": "/bin",
        "RAY_ADDRESS": "10.0.0.1:6379",
        "RAY_AUTH_TOKEN": "theirs",
        "RAY_memory_usage_threshold": "0.9",
    }

    env = environment(home, choose(), caller)

    assert "RAY_ADDRESS" not in env
    assert "RAY_AUTH_TOKEN" not in env
    assert env["RAY_memory_usage_threshold"] == "0.9"
    assert env["RAY_AUTH_TOKEN_PATH"] == str(home.token_file)
    assert env[MARK] == home.id
    cleared(home)


def test_a_running_service_is_measured_with_its_own_settings(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="SLOWWAVE_URL") as refused:
        check_no_config(tmp_path / "c.yaml", "http://127.0.0.1:1")

    assert refused.value.field == "config"
    check_no_config(None, "http://127.0.0.1:1")
