"""Starting, finding and ending the local service of one home."""

import fcntl
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import httpx
import psutil

from pipeline.errors import ConfigError, SlowwaveError
from serve.local import record
from serve.local.head import ADMIN_KEY, environment, spawn, start_head, tail
from serve.local.home import Home
from serve.local.ports import Ports, choose
from serve.local.processes import end_processes, is_alive, own_processes
from serve.local.record import Service

Say = Callable[[str], None]

DEPLOYER = "serve.deploy"
READY_S = 300.0
ENGINE_READY_S = 1_800.0
"""How long a language model may take to load, and to be fetched the first time."""

_RECOVERY_S = 60.0
_PROBE_S = 5.0
# Ray gives its node 30 s to start. A port that was free can be taken before it is bound.
_ANOTHER_TRY = ("timed out during startup", "cannot bind socket", "Address already in use")


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The service, and whether this call started it or found it running."""

    service: Service
    is_new: bool
    ended_remains: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to start: the settings file, the prepared models, the API's port, the deployer.

    ``ready_s`` is how long it may take until everything answers, ``notes`` what whoever starts it
    should know. The deployer is a module run as ``python -m MODULE CONFIG --home HOME --models-dir
    DIR --port PORT``, which ends when it has deployed.
    """

    config: Path
    models_dir: Path
    port: int | None = None
    deployer: str = DEPLOYER
    ready_s: float = READY_S
    notes: tuple[str, ...] = ()


def up(home: Home, plan: Plan, *, say: Say) -> Started:
    """The ready service of this home; what a killed one left is ended first.

    Raises:
        ConfigError: the home or the port cannot be used.
        SlowwaveError: it did not start; no process is left, the message ends with a log.
    """
    home.prepare()
    with locked(home, say=say):
        if (service := running(home)) is not None:
            return Started(service=service, is_new=False, ended_remains=0)
        remains = _clean(home, say=say)
        try:
            service = _started(home, plan, say=say)
        except BaseException:
            _clean(home, say=say)
            raise
        return Started(service=service, is_new=True, ended_remains=remains)


def down(home: Home, *, say: Say) -> int:
    """How many processes were ended; 0 where nothing ran. Nothing is left afterwards."""
    if not home.path.exists() and not own_processes(home):
        return 0
    home.prepare()
    with locked(home, say=say):
        return _clean(home, say=say)


def running(home: Home) -> Service | None:
    """The service of this home, if it answers or comes back by itself within seconds."""
    service = recorded(home)
    deadline = time.monotonic() + _RECOVERY_S
    while service is not None and stands(service) and time.monotonic() < deadline:
        # Looked at again after the answer: a process killed a moment ago still counts as alive.
        if is_ready(service.url) and stands(service):
            return service
        time.sleep(0.5)
    return None


def recorded(home: Home) -> Service | None:
    """What the record says; None where it is missing or unreadable (both mean: start anew)."""
    try:
        return record.read(home.service_file)
    except ConfigError:
        return None


def is_ready(url: str) -> bool:
    """Whether the service says that its stores and models are ready."""
    try:
        return httpx.get(f"{url}/readyz", timeout=_PROBE_S, trust_env=False).is_success
    except httpx.HTTPError:
        return False


@contextmanager
def locked(home: Home, *, say: Say) -> Iterator[None]:
    """Hold the home against another start or end; waits for the one that holds it."""
    descriptor = os.open(home.lock_file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another slowwave command on {home.path}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def stands(service: Service) -> bool:
    """Whether the processes that make up the service still run; the same ones, not their pids."""
    return all(is_alive(process.pid, process.created) for process in service.processes)


def _clean(home: Home, *, say: Say) -> int:
    if left := own_processes(home):
        say(f"ending {len(left)} processes of {home.path}")
    ended = end_processes(home)
    home.service_file.unlink(missing_ok=True)
    shutil.rmtree(home.runtime, ignore_errors=True)
    return ended


def _started(home: Home, plan: Plan, *, say: Say) -> Service:
    """The service; tried twice where the machine was too busy, or another was quicker at a port."""
    try:
        return _start(home, plan, say=say)
    except SlowwaveError as error:
        if not any(sign in error.message for sign in _ANOTHER_TRY):
            raise
        say("the machine was busy; once more")
        _clean(home, say=say)
        return _start(home, plan, say=say)


def _start(home: Home, plan: Plan, *, say: Say) -> Service:
    home.prepare_start()
    ports = choose(_wanted_port(home, plan))
    env = environment(home, ports, os.environ)
    say("starting Ray")
    address = start_head(home, ports, env)
    say("starting the models and the API")
    url = f"http://127.0.0.1:{ports.http}"
    secret = {name: value for name, value in os.environ.items() if name == ADMIN_KEY}
    _deploy(home, plan, url=url, port=ports.http, env={**env, **secret, "RAY_ADDRESS": address})
    service = _describe(home, plan, ports, address=address, url=url)
    record.write(service, home.service_file)
    return service


def _wanted_port(home: Home, plan: Plan) -> int | None:
    named = os.environ.get("SLOWWAVE_PORT")
    if plan.port is not None or not named:
        return plan.port
    if not named.isascii() or not named.isdigit() or not 0 < int(named) < 65_536:
        raise ConfigError(f"expected a port of 1 to 65535, got {named!r}", field="SLOWWAVE_PORT")
    return int(named)


def _deploy(home: Home, plan: Plan, *, url: str, port: int, env: dict[str, str]) -> None:
    log = home.logs / "deploy.log"
    deployer = spawn(_deploy_command(home, plan, port), env=env, log=log, cwd=home.path)
    deadline = time.monotonic() + plan.ready_s
    while not (deployer.poll() == 0 and is_ready(url)):
        if deployer.poll() not in (None, 0):
            raise SlowwaveError(f"the service did not start. Last lines of {log}:\n{tail(log)}")
        if time.monotonic() > deadline:
            raise SlowwaveError(
                f"the service was not ready after {plan.ready_s:.0f} s ({log}):\n{tail(log)}"
            )
        time.sleep(0.3)


def _deploy_command(home: Home, plan: Plan, port: int) -> list[str]:
    options = {"--home": home.path, "--models-dir": plan.models_dir, "--port": port}
    flat = [str(word) for pair in options.items() for word in pair]
    return [sys.executable, "-m", plan.deployer, str(plan.config), *flat]


def _describe(home: Home, plan: Plan, ports: Ports, *, address: str, url: str) -> Service:
    return Service(
        id=home.id,
        version=version("slowwave"),
        url=url,
        dashboard=f"http://127.0.0.1:{ports.dashboard}",
        ray_address=address,
        token_file=str(home.token_file),
        config=str(plan.config),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        ports={"http": ports.http, "gcs": ports.gcs, "dashboard": ports.dashboard},
        processes=tuple(_essential(home)),
    )


def _essential(home: Home) -> Iterator[record.Process]:
    """The processes without which the service is not itself: the head, the GCS, the raylet."""
    for process in own_processes(home):
        try:
            words = process.cmdline()
            name = _essential_name(words)
            if name is not None:
                yield record.Process(name=name, pid=process.pid, created=process.create_time())
        except psutil.NoSuchProcess:
            continue


def _essential_name(words: list[str]) -> str | None:
    program = Path(words[0]).name if words else ""
    if program in ("gcs_server", "raylet"):
        return program
    return "head" if "ray.scripts.scripts" in words else None
