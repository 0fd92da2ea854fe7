"""A seeded killer: SIGKILL to one part of the service at a time, when it has work in hand."""

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil
from chaos_clients import Driver
from sqlalchemy import func, select

from actors.records import Records
from actors.records.engine import EVERY_TENANT, reading
from actors.records.tables import index_ops, leases
from serve.local.home import Home
from serve.local.processes import own_processes

STAGES = ("worker", "model", "index", "proxy", "service")
POSTGRES = "postgres"
INDEX, PROXY = "ray::IndexActor", "haproxy"
MODELS = ("slowwave:Embedder", "slowwave:Compressor")
_LOOK_S = 0.05


@dataclass
class Killer:
    """Counts a kill only where its victim held a lease, a call, a request or pending changes.

    A victim is stopped, looked at and killed, or let go on: what it held cannot slip away between.
    """

    home: Home
    records: Records
    driver: Driver
    marks: Path | None
    restart: Callable[[], None]
    restart_postgres: Callable[[], None] | None
    seed: int
    counted: Counter[str] = field(default_factory=Counter)
    _pids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)

    @property
    def stages(self) -> tuple[str, ...]:
        """What it kills, in turns."""
        return STAGES if self.restart_postgres is None else (*STAGES, POSTGRES)

    def kill(self, stage: str, *, within_s: float) -> bool:
        """Waits for a victim with work in hand; whether one was killed."""
        rule = getattr(self, f"_{stage}")
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            if rule():
                self.counted[stage] += 1
                return True
            time.sleep(0.005)
        return False

    def look_up(self, stage: str) -> None:
        """Finds the process of a stage beforehand: that takes longer than many a request."""
        titles = {"index": INDEX, "proxy": PROXY}
        if stage in titles:
            self._titled(titles[stage])

    def _worker(self) -> bool:
        """A process that holds a lease."""
        found = {pid for name in self._holders() if psutil.pid_exists(pid := _pid_of(name))}
        if not found:
            return False
        chosen = self._draw.choice(sorted(found))
        return _killed_if(chosen, lambda: any(_pid_of(name) == chosen for name in self._holders()))

    def _holders(self) -> list[str]:
        """The workers whose leases have not run out."""
        now = datetime.now(UTC)
        held = select(leases.c.worker).where(
            leases.c.worker.is_not(None), leases.c.expires_at > now
        )
        with reading(self.records.engine, EVERY_TENANT) as connection:
            return list(connection.execute(held.distinct()).scalars())

    def _model(self) -> bool:
        """A replica in the middle of a call: its mark stays, since the call never ends."""
        if self.marks is None:
            return self._computing(self._draw.choice(MODELS))
        marks = sorted(mark for mark in self.marks.iterdir() if psutil.pid_exists(int(mark.name)))
        if not marks:
            return False
        mark = self._draw.choice(marks)
        if not _killed_if(int(mark.name), mark.exists):
            return False
        mark.unlink()
        return True

    def _computing(self, title: str) -> bool:
        """A replica of the title that computes without a pause just before it is stopped."""
        pid = self._titled(title)
        with contextlib.suppress(psutil.NoSuchProcess):
            if pid is not None and _used_s(pid) > 0.5 * _LOOK_S:
                return _killed_if(pid, lambda: True)
        return False

    def _index(self) -> bool:
        """The index actor while changes wait for it."""
        pid = self._titled(INDEX)
        return pid is not None and _killed_if(pid, self._has_changes)

    def _has_changes(self) -> bool:
        with reading(self.records.engine, EVERY_TENANT) as connection:
            return bool(connection.execute(select(func.count()).select_from(index_ops)).scalar())

    def _proxy(self) -> bool:
        """The process in front of the API while a request is in flight."""
        pid = self._titled(PROXY)
        return pid is not None and _killed_if(pid, lambda: self.driver.in_flight > 0)

    def _service(self) -> bool:
        """Everything at once; it counts where a lease outlived its holder."""
        if not self._holders():
            return False
        victims = own_processes(self.home)
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim.pid, signal.SIGKILL)
        psutil.wait_procs(victims, timeout=30)
        was_held = bool(self._holders())
        self.restart()
        return was_held

    def _postgres(self) -> bool:
        """The database server while a lease is held; it is started again."""
        if self.restart_postgres is None or not self._holders():
            return False
        self.restart_postgres()
        return True

    def _titled(self, part: str) -> int | None:
        """The process of this home whose title holds ``part``; looked up once while it lives."""
        known = self._pids.get(part)
        if known is not None and part in _title(known):
            return known
        found = [each.pid for each in own_processes(self.home) if part in _title(each.pid)]
        if found:
            self._pids[part] = found[-1]
        return found[-1] if found else None


def _pid_of(worker: str) -> int:
    """Workers are called host, process, lane."""
    return int(worker.rsplit("-", 2)[1])


def _title(pid: int) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(psutil.Process(pid).cmdline()[:1])
    return ""


def _used_s(pid: int) -> float:
    """Seconds of CPU that the process uses while it is looked at."""
    process = psutil.Process(pid)
    before = sum(process.cpu_times()[:2])
    time.sleep(_LOOK_S)
    return float(sum(process.cpu_times()[:2]) - before)


def _killed_if(pid: int, has_work: Callable[[], bool]) -> bool:
    """Whether the process had work when it stood still, and is dead now; else it goes on."""
    try:
        process = psutil.Process(pid)
        process.suspend()
        try:
            if not has_work():
                return False
            process.kill()
        finally:
            process.resume()
        psutil.wait_procs([process], timeout=10)
    except psutil.NoSuchProcess:
        return False
    return True
