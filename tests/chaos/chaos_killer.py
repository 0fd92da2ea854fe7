"""A seeded killer: SIGKILL to one part of the service at a time, when it has work in hand."""

import contextlib
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psutil
from chaos_driver import Driver
from sqlalchemy import func, select

from actors.records import Records
from actors.records.engine import EVERY_TENANT, reading
from actors.records.tables import index_ops, leases
from serve.local.home import Home
from serve.local.processes import own_processes

STAGES = ("worker", "model", "index", "proxy", "service")


@dataclass
class Killer:
    """Counts a kill only where its victim held a lease, a call, a request or pending changes."""

    home: Home
    records: Records
    driver: Driver
    marks: Path
    restart: Callable[[], None]
    seed: int
    counted: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)

    def kill(self, stage: str) -> bool:
        """Waits a moment for a victim with work in hand; whether one was killed."""
        rule = getattr(self, f"_{stage}")
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if rule():
                self.counted[stage] += 1
                return True
            time.sleep(0.005)
        self.missed[stage] += 1
        return False

    def _worker(self) -> bool:
        """A process that holds a lease now."""
        now = datetime.now(UTC)
        with reading(self.records.engine, EVERY_TENANT) as connection:
            held = select(leases.c.worker).where(leases.c.expires_at > now)
            names = [name for name in connection.execute(held).scalars() if name]
        found = [int(m[1]) for name in names if (m := re.search(r"-(\d+)-\d+$", name))]
        living = [pid for pid in found if psutil.pid_exists(pid)]
        return bool(living) and _killed(self._draw.choice(living))

    def _model(self) -> bool:
        """A replica in the middle of a call: its mark stays, since the call never ends."""
        for mark in self.marks.iterdir():
            pid = int(mark.name)
            if psutil.pid_exists(pid) and _killed(pid):
                was_in_call = mark.exists()
                mark.unlink(missing_ok=True)
                return was_in_call
        return False

    def _index(self) -> bool:
        """The index actor while changes wait for it."""
        with reading(self.records.engine, EVERY_TENANT) as connection:
            waiting = connection.execute(select(func.count()).select_from(index_ops)).scalar()
        pids = self._titled("ray::IndexActor")
        return bool(waiting and pids) and _killed(pids[0])

    def _proxy(self) -> bool:
        """The process in front of the API while a request is in flight."""
        pids = self._titled("haproxy") or self._titled("ray::ProxyActor")
        return bool(pids and self.driver.in_flight) and _killed(pids[0])

    def _service(self) -> bool:
        """Everything, while a lease is held; then it is started again."""
        now = datetime.now(UTC)
        with reading(self.records.engine, EVERY_TENANT) as connection:
            held = select(leases.c.worker).where(leases.c.expires_at > now)
            if connection.execute(held).first() is None:
                return False
        for process in own_processes(self.home):
            _killed(process.pid)
        self.restart()
        return True

    def _titled(self, part: str) -> list[int]:
        return [each.pid for each in own_processes(self.home) if part in _title(each.pid)]


def _title(pid: int) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(psutil.Process(pid).cmdline()[:1])
    return ""


def _killed(pid: int) -> bool:
    try:
        process = psutil.Process(pid)
        process.kill()
        psutil.wait_procs([process], timeout=10)
    except psutil.NoSuchProcess:
        return False
    return True
