"""The processes of one home: finding exactly those, and ending them.

A process is ours when its environment carries our mark, when it gave up its environment for a
title (Ray's workers do) and holds a file of our runtime folder open, or when it belongs to the
session or the descendants of one that is. A reader of our logs is none of these.
"""

import os
import signal
import time
from collections.abc import Iterable, Iterator

import psutil

from serve.local.home import Home

MARK = "SLOWWAVE_SERVICE"
_TITLES = ("ray::", "ray-dashboard-")
_GONE = (psutil.NoSuchProcess, psutil.ZombieProcess)


def own_processes(home: Home) -> list[psutil.Process]:
    """The living processes of this home, whoever their parent is now; never the caller's own."""
    candidates = list(_candidates())
    found = {process.pid: process for process in candidates if _is_marked(process, home)}
    sessions = {_session(process) for process in found.values()} - {None, os.getsid(0)}
    for process in candidates:
        if _session(process) in sessions:
            found[process.pid] = process
    return list(_with_descendants(found.values(), exclude=_caller()))


def end_processes(home: Home, *, grace_s: float = 5.0, limit_s: float = 60.0) -> int:
    """How many processes of this home were ended; none is left afterwards.

    Args:
        grace_s: what a process has between SIGTERM and SIGKILL.
        limit_s: when to give up; only a process stuck in the kernel outlives SIGKILL.

    Raises:
        TimeoutError: some process is still there after ``limit_s``.
    """
    ended: set[int] = set()
    start = time.monotonic()
    while left := own_processes(home):
        if time.monotonic() - start > limit_s:
            raise TimeoutError(f"processes that do not end: {[p.pid for p in left]}")
        ended |= {process.pid for process in left}
        hard = time.monotonic() - start > grace_s
        _signal(left, signal.SIGKILL if hard else signal.SIGTERM)
        psutil.wait_procs(left, timeout=2.0 if hard else min(grace_s, 5.0))
    return len(ended)


def is_alive(pid: int, created: float) -> bool:
    """Whether the process that had ``pid`` at ``created`` (seconds since the epoch) still runs."""
    try:
        process = psutil.Process(pid)
        return bool(
            abs(process.create_time() - created) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
        )
    except psutil.NoSuchProcess:
        return False


def _caller() -> set[int]:
    me = psutil.Process()
    return {me.pid, *(parent.pid for parent in me.parents())}


def _candidates() -> Iterator[psutil.Process]:
    skip = _caller()
    for process in psutil.process_iter():
        try:
            is_mine = process.uids().real == os.getuid()
            if process.pid not in skip and is_mine and process.status() != psutil.STATUS_ZOMBIE:
                yield process
        except psutil.Error:
            continue


def _is_marked(process: psutil.Process, home: Home) -> bool:
    try:
        if process.environ().get(MARK) == home.id:
            return True
        title = " ".join(process.cmdline()[:1])
        return title.startswith(_TITLES) and _holds_open(process, str(home.runtime) + os.sep)
    except (*_GONE, psutil.AccessDenied):
        return False


def _holds_open(process: psutil.Process, folder: str) -> bool:
    return any(file.path.startswith(folder) for file in process.open_files())


def _session(process: psutil.Process) -> int | None:
    try:
        return os.getsid(process.pid)
    except (ProcessLookupError, PermissionError):
        return None


def _with_descendants(
    processes: Iterable[psutil.Process], *, exclude: set[int]
) -> Iterator[psutil.Process]:
    seen = set(exclude)
    for process in processes:
        try:
            family = [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
        for member in family:
            if member.pid not in seen:
                seen.add(member.pid)
                yield member


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue
