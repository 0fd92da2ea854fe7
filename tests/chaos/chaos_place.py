"""A service in a home of its own, with its stores and its tenants."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from postgres_server import Database

from actors.records import Records, open_records
from pipeline.messages import TenantId
from pipeline.tenancy import KeyScope
from serve.local.home import Home, home_at, models_dir
from serve.local.service import Plan, down, up
from serve.local.shipped import shipped

NEVER_S = 100_000
_SIZES = {"num_cpus": 0.5, "max_ongoing_requests": 64}


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is said and killed."""

    tenants: int
    messages: int
    kills: int


class Place:
    """One service; nothing runs before ``up``."""

    def __init__(
        self,
        folder: Path,
        args: Mapping[str, Any],
        *,
        database: Database | None = None,
        home: Path | None = None,
        marks: Path | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.marks = marks
        self.home: Home = home_at(home or folder / "home")
        self.home.prepare()
        found = Database(url=f"sqlite:///{self.home.path / 'records.sqlite'}")
        self.database = database or found
        stores = {"records": database.url, "records_owner": database.owner} if database else {}
        application = {
            "name": "slowwave",
            "import_path": "serve.app:build",
            "args": {**args, "stores": stores},
        }
        self._config = folder / "chaos.yaml"
        self._config.write_text(yaml.safe_dump({"applications": [application]}))

    def up(self) -> str:
        """The address of the service, started if need be."""
        plan = Plan(config=self._config, models_dir=models_dir())
        return up(self.home, plan, say=lambda line: None).service.url

    def down(self) -> None:
        """Nothing of it runs afterwards."""
        down(self.home, say=lambda line: None)

    def records(self) -> Records:
        """Its record store, seen from outside."""
        return open_records(self.database.url, owner=self.database.owner)


@contextmanager
def standing(place: Place) -> Iterator[str]:
    """The address of the place's service, which ends with the block."""
    try:
        yield place.up()
    finally:
        place.down()


def stand_ins(*, workers: int = 1, marks: Path | None = None) -> dict[str, Any]:
    """Deterministic models that take a moment per call and mark each one in ``marks``."""
    if marks is not None:
        marks.mkdir(parents=True)
    fake = "fake:delay_s=0.03" + (f",calls={marks}" if marks else "")
    names = ("Ingress", "Embedder", "Compressor", "Segmenter", "IngestWorkers")
    deployments: dict[str, dict[str, float]] = {name: dict(_SIZES) for name in names}
    deployments["IngestWorkers"]["num_replicas"] = workers
    return {
        "access": {"keys_required": False},
        "models": {
            "embedder": fake,
            "compressor": fake,
            "extractor": "fake:delay_s=0.03",
            "tokenizer": "fake",
        },
        "segmentation": {"max_similarity": 0.5},
        "consolidation": {"min_similarity": 0.5},
        "window": {"capacity_tokens": 10, "idle_s": NEVER_S},
        "short_term": {"capacity_tokens": 10},
        "workers": {"lease_s": 4, "messages": 64},
        "deployments": deployments,
    }


def asking_chat(url: str) -> dict[str, Any]:
    """Stand-ins, but for statements a chat model at an endpoint that is given up on soon.

    Nothing is compressed: a statement is what was said, word for word.
    """
    args = stand_ins(workers=2)
    return {
        **args,
        "models": {**args["models"], "compressor": None, "extractor": "chat"},
        "chat": {
            "endpoint": url,
            "model": "scripted",
            "timeout_s": 2,
            "attempts": 3,
            "patience_s": 3,
            "in_flight": 16,
        },
        # It comes back within a minute, and must be asked again until then.
        "extraction": {"attempts": 2, "failures": 100, "retry_s": 0.5},
        "deployments": {**args["deployments"], "Chat": dict(_SIZES)},
    }


def real_models() -> dict[str, Any]:
    """The local profile, but nothing happens by idleness."""
    document = yaml.safe_load(shipped("configs/local.yaml").read_text(encoding="utf-8"))
    args: dict[str, Any] = document["applications"][0]["args"]
    workers = {**args["workers"], "lease_s": 20, "step_s": 2}
    return {**args, "window": {"idle_s": NEVER_S}, "workers": workers}


def admit(records: Records, tenants: Sequence[str]) -> dict[str, str]:
    """A key per tenant."""
    now = datetime.now(UTC)
    for tenant in tenants:
        records.tenants.ensure_tenant(TenantId(tenant), now)
        scopes = (KeyScope.INGEST, KeyScope.READ)
        records.keys.add(TenantId(tenant), f"key-of-{tenant}", scopes=scopes, now=now)
    return {tenant: f"key-of-{tenant}" for tenant in tenants}
