"""A Ray head of our own: its environment, its command, and waiting until it stands.

Nothing of another Ray is picked up or left behind: every ``RAY_*`` variable of the caller is
dropped (the lower-case ones only tune), the token lies in our home, and everything listens on
loopback.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from pipeline.errors import SlowwaveError
from serve.local.home import Home
from serve.local.ports import Ports
from serve.local.processes import MARK
from serve.local.proxy import proxy_variables

LOGICAL_CPUS = 12
ADMIN_KEY = "SLOWWAVE_ADMIN_KEY"
SECRETS = (ADMIN_KEY, "SLOWWAVE_API_KEY")
_HEAD_TIMEOUT_S = 90.0
_OBJECT_STORE_BYTES = 512 * 1024 * 1024
_TAIL_LINES = 15
_PACKAGES = Path(__file__).resolve().parent.parent.parent


def environment(home: Home, ports: Ports, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of every process of this home."""
    kept = {name: value for name, value in base.items() if not _is_foreign(name)}
    path = [str(_PACKAGES), *filter(None, [base.get("PYTHONPATH")])]
    return {
        **kept,
        **ray_variables(home),
        **proxy_variables(home.runtime, ports),
        MARK: home.id,
        "SLOWWAVE_HOME": str(home.path),
        "TMPDIR": str(home.temp_dir),
        "PYTHONPATH": os.pathsep.join(path),
        # So that "python" in a job that is submitted to this Ray is the one with everything in it.
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), base.get("PATH", os.defpath)]),
        "PYTHONUNBUFFERED": "1",
    }


def start_head(home: Home, ports: Ports, env: Mapping[str, str]) -> str:
    """Start the head in the background; its address (``host:port``) once it accepts drivers.

    Raises:
        SlowwaveError: it ended or did not stand in time; the message ends with its log.
    """
    log = home.logs / "head.log"
    head = spawn(_command(home, ports), env=env, log=log, cwd=home.path)
    address_file = home.ray_dir / "ray_current_cluster"
    deadline = time.monotonic() + _HEAD_TIMEOUT_S
    while time.monotonic() < deadline:
        if head.poll() is not None:
            raise SlowwaveError(f"Ray did not start. Last lines of {log}:\n{tail(log)}")
        if address_file.exists() and (address := address_file.read_text().strip()):
            return address
        time.sleep(0.1)
    raise SlowwaveError(f"Ray did not start in {_HEAD_TIMEOUT_S:.0f} s ({log}):\n{tail(log)}")


def spawn(
    command: list[str], *, env: Mapping[str, str], log: Path, cwd: Path
) -> subprocess.Popen[bytes]:
    """A background process in a session of its own, writing to ``log``."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        return subprocess.Popen(
            command,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def tail(log: Path) -> str:
    """The last lines of a log, or a word that there are none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return "\n".join(lines[-_TAIL_LINES:]) or "(empty)"


def _is_foreign(name: str) -> bool:
    """Whether a variable of the caller would tie us to another Ray, or is a secret of the caller's.

    Every process of Ray could read it; only the deployer is given the operator's key.
    """
    return (name.startswith("RAY_") and name[4:5].isupper()) or name in SECRETS


def ray_variables(home: Home) -> dict[str, str]:
    """What a process needs that joins the home's cluster."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(home.token_file),
        "RAY_USAGE_STATS_ENABLED": "0",
        # Makes Ray keep to 127.0.0.1, on Linux too.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        # Serve's defaults of a tenth of a second keep a small machine busy while nothing happens.
        "RAY_SERVE_CONTROL_LOOP_INTERVAL_S": "0.5",
        "RAY_SERVE_METRICS_EXPORT_INTERVAL_MS": "1000",
    }


def _command(home: Home, ports: Ports) -> list[str]:
    options = {
        "--node-ip-address": "127.0.0.1",
        "--port": ports.gcs,
        "--num-cpus": LOGICAL_CPUS,
        "--object-store-memory": min(_OBJECT_STORE_BYTES, psutil.virtual_memory().total // 10),
        "--temp-dir": home.ray_dir,
        "--dashboard-host": "127.0.0.1",
        "--dashboard-port": ports.dashboard,
        "--dashboard-agent-listen-port": ports.agent,
        "--dashboard-agent-grpc-port": ports.agent_grpc,
        "--runtime-env-agent-port": ports.runtime_env,
        "--metrics-export-port": ports.metrics,
        "--ray-client-server-port": ports.client,
        "--min-worker-port": ports.workers[0],
        "--max-worker-port": ports.workers[1],
    }
    flat = [str(word) for pair in options.items() for word in pair]
    start = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    return [*start, "--disable-usage-stats", "--log-color", "false", *flat]
