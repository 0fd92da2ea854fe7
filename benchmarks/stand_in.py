"""A whole service on stand-in models, in a temporary home: what the framework itself costs."""

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import yaml

from actors.records import open_records
from pipeline.messages import TenantId
from pipeline.tenancy import KeyScope
from serve.local.head import ADMIN_KEY
from serve.local.home import Home, home_at
from serve.local.processes import own_processes
from serve.local.service import Plan, down, up

_LOOK_S = 3.0
"""Over how long the use of the processors is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A started service."""

    home: Home
    url: str

    @property
    def records_url(self) -> str:
        """Where the embedded record store lies."""
        return f"sqlite:///{self.home.path / 'records.sqlite'}"

    def cpu_s(self) -> dict[str, float]:
        """Seconds of CPU that each of its living processes has used so far, by title and pid."""
        found: dict[str, float] = {}
        for process in own_processes(self.home):
            try:
                name = f"{' '.join(process.cmdline()[:1])} {process.pid}"
                found[name] = sum(process.cpu_times()[:2])
            except psutil.NoSuchProcess:
                continue
        return found

    def rest(self, *, within_s: float = 120.0) -> None:
        """Returns when its start is over: it uses less than half of the machine's processors.

        Raises:
            TimeoutError: it still uses more after ``within_s``.
        """
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            before = sum(self.cpu_s().values())
            time.sleep(_LOOK_S)
            if sum(self.cpu_s().values()) - before < _LOOK_S * (os.cpu_count() or 1) / 2:
                return
        raise TimeoutError(f"the service did not come to rest within {within_s:.0f} s")

    def resident_bytes(self, title: str) -> int:
        """Resident memory of its processes whose title holds ``title``."""
        return sum(
            process.memory_info().rss
            for process in own_processes(self.home)
            if title in " ".join(process.cmdline()[:1])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Where the records lie; None for those embedded in the service."""

    name: str
    records: str | None = None
    owner: str | None = None

    @property
    def args(self) -> dict[str, str]:
        """The section of the settings."""
        named = {"records": self.records, "records_owner": self.owner}
        return {key: url for key, url in named.items() if url is not None}


EMBEDDED = Stores(name="SQLite")


def settings(stores: Stores, **args: Any) -> dict[str, Any]:
    """The arguments of the application with stand-ins for every model."""
    models = {"embedder": "fake", "tokenizer": "fake", "compressor": "fake", "extractor": "fake"}
    sizes = {"num_cpus": 0.5, "max_ongoing_requests": 64}
    names = ("Ingress", "Embedder", "Compressor", "Segmenter", "IngestWorkers")
    return {
        "access": {"keys_required": False},
        "models": models,
        "stores": stores.args,
        "segmentation": {"max_similarity": 0.5},
        "consolidation": {"min_similarity": 0.5},
        "deployments": {name: dict(sizes) for name in names},
        **args,
    }


def keys_of(running: Running, tenants: list[str]) -> dict[str, str]:
    """A key for each of the tenants, to ingest and to read with; they are made where missing."""
    now, records = datetime.now(UTC), open_records(running.records_url)
    for tenant in map(TenantId, tenants):
        records.tenants.ensure_tenant(tenant, now)
        scopes = (KeyScope.INGEST, KeyScope.READ)
        records.keys.add(tenant, f"key-of-{tenant}", scopes=scopes, now=now)
    records.close()
    return {tenant: f"key-of-{tenant}" for tenant in tenants}


@contextmanager
def service(
    args: Mapping[str, Any],
    *,
    models_dir: Path | None = None,
    prepare: Callable[[Home], None] = lambda home: None,
) -> Iterator[Running]:
    """The service of these arguments; nothing of it is left afterwards.

    Args:
        prepare: what is done to its home before it starts.
    """
    if args["access"]["keys_required"]:
        os.environ.setdefault(ADMIN_KEY, secrets.token_urlsafe())  # such a service asks for it
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    config, home = folder / "bench.yaml", home_at(folder / "home")
    application = {"name": "slowwave", "import_path": "serve.app:build", "args": dict(args)}
    config.write_text(yaml.safe_dump({"applications": [application]}), encoding="utf-8")
    try:
        home.prepare()
        prepare(home)
        started = up(
            home, Plan(config=config, models_dir=models_dir or folder), say=lambda line: None
        )
        yield Running(home=home, url=started.service.url)
    finally:
        down(home, say=lambda line: None)
        shutil.rmtree(folder)
