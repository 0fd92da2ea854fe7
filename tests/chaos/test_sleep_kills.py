"""A night after which memory is that of an undisturbed one, whatever is killed at any stage."""

import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import chaos_sleep
import psutil
import pytest
import ray
from chaos_sleep import CALLS, OPERATORS, Gate, closed_run, job, kept_replies, opened, taken_over
from chaos_told import SCOPES, exported, remember_all
from postgres_server import PostgresServer, fresh_database
from ray import cloudpickle
from ray._common.utils import get_default_ray_temp_dir
from ray.cluster_utils import Cluster

from actors.records import migrate, open_records
from pipeline.runs import SleepRun

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SHORT = {("worker", "decide"), ("job", "recorded"), ("node", "queue"), ("job", "tended")}
"""What the short suite kills, and where it is met."""

met: Counter[str] = Counter()
"""Kills that met their victim at work, by victim and place."""


class Land:
    """A cluster whose head computes nothing: all work is on one other node, which may die."""

    def __init__(self, folder: str) -> None:
        head = {"num_cpus": 0, "include_dashboard": False, "temp_dir": folder, **_MEMORY}
        # A cluster notes its address in Ray's own folder, which nobody may have made yet.
        Path(get_default_ray_temp_dir()).mkdir(parents=True, exist_ok=True)
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        # While there is no other node, so that this process belongs to the head.
        ray.init(address=self._cluster.address, log_to_driver=False)
        self._node = self._cluster.add_node(num_cpus=8, **_MEMORY)

    def lose_node(self) -> None:
        """The node dies at once with all its processes, and another takes its place."""
        fresh = self._cluster.add_node(num_cpus=8, **_MEMORY)
        raylet = psutil.Process(self._node.all_processes["raylet"][0].process.pid)
        workers = raylet.children(recursive=True)
        self._cluster.remove_node(self._node, allow_graceful=False)
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        psutil.wait_procs(workers, timeout=30)
        self._node = fresh

    def close(self) -> None:
        """Nothing of it runs afterwards."""
        ray.shutdown()
        self._cluster.shutdown()


_MEMORY = {"object_store_memory": 100 * 1024 * 1024}


@pytest.fixture(scope="module")
def land() -> Iterator[Land]:
    folder = tempfile.mkdtemp(prefix="sw-")  # Ray's sockets need a short path
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        cloudpickle.register_pickle_by_value(chaos_sleep)
        found = Land(folder)
        yield found
        print(f"\nkills that met their victim at work: {met.total()}, {dict(met)}", flush=True)
        found.close()
        cloudpickle.unregister_pickle_by_value(chaos_sleep)
    shutil.rmtree(folder, ignore_errors=True)


class Place:
    """A record store full of things to do, and the gate of its night."""

    def __init__(self, folder: Path, url: str, *, place: str, owner: str | None = None) -> None:
        folder.mkdir()
        self.url = url
        migrate(url, owner=owner)
        self.records = open_records(url)
        remember_all(self.records)
        self.gate = Gate(folder, place)
        self.victim = ""

    def job(self) -> int:
        """The process of the job."""
        return int((self.gate.folder / "job").read_text())

    def asked(self) -> Counter[str]:
        """How often the decider was asked what."""
        told = self.gate.folder / "asked"
        return Counter(told.read_text().split() if told.exists() else [])

    def kept(self) -> set[str]:
        """What replies are kept for."""
        return kept_replies(self.records, self.asked(), SCOPES)

    def settle(self) -> None:
        """Returns when the replies that were given before the gate are kept."""
        until = time.monotonic() + 60
        while len(set(self.asked()) - self.kept()) > CALLS:
            assert time.monotonic() < until
            time.sleep(0.05)

    def begin(self, run: SleepRun, *, here: bool = False) -> "Future[SleepRun]":
        """The job of the run: a Ray task as the service has it, or in a thread of this process."""
        if here:
            return ThreadPoolExecutor(1).submit(job, self.url, run, self.gate)
        task = ray.remote(num_cpus=0.1, max_retries=0)(job)
        future: Future[SleepRun] = task.remote(self.url, run, self.gate).future()
        return future


@pytest.fixture(scope="module")
def calm(land: Land, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A night that nothing befell."""
    folder = tmp_path_factory.mktemp("calm")
    place = Place(folder / "night", f"sqlite:///{folder}/records.db", place="nowhere")
    ended = place.begin(opened(place.records)).result(timeout=500)
    print("\nwithout kills:", ended.totals)
    assert ended.status == "completed"
    done = ("update", "delete", "ignore", "absorbed", "archived", "merged", "items", "shortened")
    assert all(ended.totals[name] for name in done)
    assert set(place.asked().values()) == {1}
    yield place
    place.records.close()


def cases(victim: str) -> Any:
    """Every place where that victim is met."""
    named = [pytest.param(victim, place, id=place) for place in OPERATORS]
    return pytest.mark.parametrize(("victim", "where"), named)


@pytest.fixture
def place(
    is_full: bool, victim: str, where: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Place]:
    """A record store with its gate; skips what only the full suite kills."""
    if not is_full and (victim, where) not in SHORT:
        pytest.skip("only in the full suite")
    request.getfixturevalue("land")
    found = Place(tmp_path / "night", f"sqlite:///{tmp_path}/records.db", place=where)
    found.victim = victim
    yield found
    found.records.close()


def strike(place: Place, kill: Callable[[int], None]) -> set[str]:
    """Kills what is at work at the gate, or what that belongs to; what may be asked once more."""
    at_work = place.gate.met()
    place.settle()
    kill(at_work)
    kept = place.kept()
    in_flight = set(place.asked()) - kept
    place.gate.open()
    met[f"{place.victim} at {place.gate.place}"] += 1
    return in_flight


def check(place: Place, ended: SleepRun, calm: Place, *, in_flight: set[str]) -> None:
    """The night is that of the calm one, and only what was in flight was asked again."""
    (undisturbed,) = calm.records.sleep.runs(ended.tenant)
    again = place.asked() - Counter(set(place.asked()))
    print(f"{place.victim} at {place.gate.place}: asked again {again.total()}", flush=True)
    assert exported(place.records) == exported(calm.records)
    assert closed_run(ended) == closed_run(undisturbed)
    assert set(place.asked()) == set(calm.asked())
    assert set(again) <= in_flight
    assert again.total() <= CALLS


def kill(pid: int) -> None:
    """At once, as a power cut would."""
    os.kill(pid, signal.SIGKILL)


@cases("worker")
def test_a_worker_may_die_at_any_stage(place: Place, calm: Place) -> None:
    night = place.begin(opened(place.records))
    in_flight = strike(place, kill)

    check(place, night.result(timeout=500), calm, in_flight=in_flight)


@cases("job")
def test_the_job_may_die_at_any_stage_and_another_goes_on(place: Place, calm: Place) -> None:
    night = place.begin(opened(place.records))
    in_flight = strike(place, lambda _: kill(place.job()))
    with pytest.raises(ray.exceptions.RayError):
        night.result(timeout=60)

    ended = place.begin(taken_over(place.records)).result(timeout=500)

    check(place, ended, calm, in_flight=in_flight)


@cases("node")
def test_a_node_may_die_at_any_stage(place: Place, calm: Place, land: Land) -> None:
    night = place.begin(opened(place.records), here=True)
    in_flight = strike(place, lambda _: land.lose_node())

    check(place, night.result(timeout=500), calm, in_flight=in_flight)


# PostgreSQL ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("only_in_full")
@cases("PostgreSQL")
def test_postgresql_may_die_at_any_stage(
    victim: str, where: str, land: Land, calm: Place, server: PostgresServer, tmp_path: Path
) -> None:
    with fresh_database(server.url) as base:
        place = Place(tmp_path / "night", base.url, place=where, owner=base.owner)
        place.victim = victim
        night = place.begin(opened(place.records))
        in_flight = strike(place, lambda _: server.restart(kill=True))
        ended = night.result(timeout=500)
        if ended.status != "completed":
            print(f"{where}: the night failed: {ended.error}")
            ended = place.begin(opened(place.records, night=1)).result(timeout=500)

        again = place.asked() - Counter(set(place.asked()))
        assert ended.status == "completed"
        assert exported(place.records) == exported(calm.records)
        assert set(again) <= in_flight
        place.records.close()
