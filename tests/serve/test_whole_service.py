"""The real service in a home of its own: what is acknowledged survives whatever is killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from pipeline.errors import SlowwaveError
from serve.client import Client
from serve.local.home import Home, home_at
from serve.local.processes import own_processes
from serve.local.service import down

pytestmark = [pytest.mark.ray, pytest.mark.models, pytest.mark.slow, pytest.mark.timeout(400)]

SUBJECTS = ("The kettle", "My bicycle", "Our garden", "The old radio", "我的相机", "Her notebook")


def start(home: Home) -> str:
    """The address of the home's service, started if it does not run."""
    command = [sys.executable, "-c", "from serve.cli import main; main()", "up", "--json"]
    environment = {**os.environ, "SLOWWAVE_HOME": str(home.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(json.loads(done.stdout)["url"])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, before: dict[str, float]) -> Iterator[Home]:
    found = home_at(tmp_path_factory.mktemp("home"))
    yield found
    down(found, say=lambda line: None)


@pytest.fixture(scope="module")
def before() -> dict[str, float]:
    """What lies in the user's Ray folder before anything runs."""
    return _ray_folder()


def _ray_folder() -> dict[str, float]:
    folder = Path.home() / ".ray"
    return {str(path): path.stat().st_mtime for path in folder.rglob("*")}


class Speaker(threading.Thread):
    """Says one thing after the other and keeps what was acknowledged."""

    def __init__(self, url: str, collection: str) -> None:
        super().__init__(daemon=True)
        self.acknowledged: list[str] = []
        self.stopped = threading.Event()
        self._url = url
        self._collection = collection

    def run(self) -> None:
        with Client(self._url, attempts=1) as client:
            self._speak(client)

    def _speak(self, client: Client) -> None:
        number = 0
        while not self.stopped.is_set():
            name = f"m{number}"
            text = f"{SUBJECTS[number % len(SUBJECTS)]} has number {number:05d}."
            message = {"role": "user", "speaker": "Mara", "content": text, "message_id": name}
            with contextlib.suppress(SlowwaveError):
                client.ingest(self._collection, [message])
                self.acknowledged.append(name)
                number += 1
                continue
            self.stopped.wait(0.2)


def kill_everything(home: Home) -> None:
    for process in own_processes(home):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def kill_the_head(home: Home) -> None:
    """The GCS, the raylet and the starter of them; replicas and proxies are orphaned."""
    for process in own_processes(home):
        with contextlib.suppress(psutil.NoSuchProcess):
            words = " ".join(process.cmdline())
            if any(part in words for part in ("gcs_server", "raylet/raylet", "ray.scripts")):
                os.kill(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_everything, kill_the_head])
def test_what_was_acknowledged_is_there_once_after_a_kill(
    home: Home, kill: Callable[[Home], None]
) -> None:
    collection = kill.__name__
    speaker = Speaker(start(home), collection)
    speaker.start()
    deadline = time.monotonic() + 60
    while len(speaker.acknowledged) < 60 and time.monotonic() < deadline:
        time.sleep(0.05)
    victims = {process.pid for process in own_processes(home)}

    kill(home)
    speaker.stopped.set()
    speaker.join()
    url = start(home)

    assert {process.pid for process in own_processes(home)}.isdisjoint(victims)
    with Client(url) as client:
        assert client.flush(collection, wait=True)["searchable"]
        messages = client.messages(collection, limit=1000)
        entries = list(client.all_entries(collection))
    names = [message["message_id"] for message in messages]
    assert len(names) == len(set(names))
    assert len(speaker.acknowledged) >= 60
    assert set(speaker.acknowledged) <= set(names)
    sources = [source["message_id"] for entry in entries for source in entry["sources"]]
    assert sorted(sources) == sorted(names)


def test_down_leaves_no_process_and_the_users_ray_is_untouched(
    home: Home, before: dict[str, float]
) -> None:
    start(home)

    down(home, say=lambda line: None)

    assert own_processes(home) == []
    assert _ray_folder() == before
