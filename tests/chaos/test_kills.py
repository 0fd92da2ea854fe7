"""What is acknowledged is stored once and in order, whatever is killed while it walks in."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from chaos_driver import COLLECTION, Driver, Said, script
from chaos_killer import STAGES, Killer

from actors.records import Records, open_records
from pipeline.messages import TenantId
from pipeline.tenancy import KeyScope
from serve.client import Client
from serve.local.home import Home, home_at
from serve.local.service import Plan, down, up

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(3000)]

SEED = 20


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is said and killed."""

    tenants: int
    messages: int
    kills: int
    workers: int = 1


SHORT = Size(tenants=20, messages=300, kills=5)
FULL = Size(tenants=200, messages=5_000, kills=20)

Remembered = tuple[str, str, str, str, tuple[str, ...]]


class Place:
    """One service with its home, its stores and its tenants."""

    def __init__(self, folder: Path, size: Size, *, url: str | None = None) -> None:
        self.size = size
        self.marks = folder / "calls"
        self.marks.mkdir(parents=True)
        self.home: Home = home_at(folder / "home")
        self.home.prepare()
        self.records_url = url or f"sqlite:///{self.home.path / 'records.sqlite'}"
        self.config = folder / "chaos.yaml"
        self.config.write_text(yaml.safe_dump(self._settings(url)))

    def _settings(self, url: str | None) -> dict[str, object]:
        fake = f"fake:delay_s=0.03,calls={self.marks}"
        models = {"embedder": fake, "compressor": fake, "extractor": "fake:delay_s=0.03"}
        args = {
            "models": {**models, "tokenizer": "fake"},
            "stores": {"records": url} if url else {},
            "segmentation": {"max_similarity": 0.5},
            "consolidation": {"min_similarity": 0.5},
            "window": {"capacity_tokens": 40, "idle_s": 100_000},
            "short_term": {"capacity_tokens": 40},
            "workers": {"lease_s": 4, "messages": 64},
            "deployments": {
                "Ingress": {"num_cpus": 0.5, "max_ongoing_requests": 64},
                "Embedder": {"num_cpus": 0.5},
                "Compressor": {"num_cpus": 0.5},
                "Segmenter": {"num_cpus": 0.5},
                "IngestWorkers": {"num_cpus": 0.5, "num_replicas": self.size.workers},
            },
        }
        application = {"name": "slowwave", "import_path": "serve.app:build", "args": args}
        return {"applications": [application]}

    def up(self) -> str:
        """The address of the service, started if need be."""
        plan = Plan(config=self.config, models_dir=self.home.path)
        return up(self.home, plan, say=lambda line: None).service.url

    def down(self) -> None:
        down(self.home, say=lambda line: None)


@contextmanager
def service(folder: Path, size: Size, *, url: str | None = None) -> Iterator[Place]:
    place = Place(folder, size, url=url)
    try:
        yield place
    finally:
        place.down()


def admit(records: Records, tenants: Sequence[str]) -> dict[str, str]:
    """A key per tenant."""
    now = datetime.now(UTC)
    for tenant in tenants:
        records.tenants.ensure_tenant(TenantId(tenant), now)
        scopes = (KeyScope.INGEST, KeyScope.READ)
        records.keys.add(TenantId(tenant), f"key-of-{tenant}", scopes=scopes, now=now)
    return {tenant: f"key-of-{tenant}" for tenant in tenants}


def drive(place: Place, *, kills: int) -> tuple[Driver, Killer]:
    """All of the script is said and extracted while ``kills`` victims fall."""
    said = script(tenants=place.size.tenants, messages=place.size.messages, seed=SEED)
    url = place.up()
    records = open_records(place.records_url)
    driver = Driver(url, admit(records, list(said)), pause_s=0.2 if kills else 0.0)

    def restart() -> None:
        driver.url = place.up()

    killer = Killer(place.home, records, driver, place.marks, restart, seed=SEED)
    speaking = threading.Thread(target=driver.run, args=(said,), kwargs={"threads": 16})
    speaking.start()
    while sum(killer.counted.values()) < kills and sum(killer.missed.values()) < 3 * kills:
        killer.kill(STAGES[sum((killer.counted + killer.missed).values()) % len(STAGES)])
        time.sleep(2)
    speaking.join()
    flush(driver)
    records.close()
    return driver, killer


def flush(driver: Driver) -> None:
    for key in driver.keys.values():
        with Client(driver.url, key, attempts=20) as client:
            client.flush(COLLECTION)
    for key in driver.keys.values():
        with Client(driver.url, key, attempts=20) as client:
            assert client.flush(COLLECTION, wait=True)["searchable"]


def stored(driver: Driver) -> Counter[Remembered]:
    """What every tenant's memory holds, apart from ids and times of writing."""
    found: Counter[Remembered] = Counter()
    for tenant, key in driver.keys.items():
        with Client(driver.url, key) as client:
            for entry in client.all_entries(COLLECTION):
                sources = sorted(str(source["message_id"]) for source in entry["sources"])
                kept = (entry["text"], str(entry["kind"]), str(entry["said_at"]))
                found[(tenant, *kept, tuple(sources))] += 1
    return found


def check_acknowledged(driver: Driver) -> None:
    """Every acknowledged message is there once, under its sequence, in the order it was said."""
    by_tenant: dict[str, list[tuple[Said, int]]] = {}
    for said, sequence in driver.acknowledged:
        by_tenant.setdefault(said.tenant, []).append((said, sequence))
    for tenant, acknowledged in by_tenant.items():
        with Client(driver.url, driver.keys[tenant]) as client:
            messages = client.messages(COLLECTION, limit=1_000)
        there = [(str(each["message_id"]), int(each["sequence"])) for each in messages]
        assert sorted(there) == sorted((said.message_id, at) for said, at in acknowledged)
        assert [at for _, at in there] == list(range(1, len(there) + 1))
        assert there == [(said.message_id, at) for said, at in acknowledged]
        assert {str(each["state"]) for each in messages} == {"extracted"}


def compared(tmp_path: Path, size: Size, *, urls: tuple[str | None, str | None]) -> Killer:
    """The run with kills leaves the same memory as the one without; says who fell."""
    with service(tmp_path / "calm", size, url=urls[0]) as place:
        calm, _ = drive(place, kills=0)
        expected = stored(calm)
        check_acknowledged(calm)
    with service(tmp_path / "storm", size, url=urls[1]) as place:
        driver, killer = drive(place, kills=size.kills)
        check_acknowledged(driver)
        found = stored(driver)
    print(f"\nkills that met work: {dict(killer.counted)}, that met none: {dict(killer.missed)}")
    print(f"messages: {len(driver.acknowledged)}, failed requests: {driver.errors}")
    lost, more = expected - found, found - expected
    assert not lost, list(lost)[:5]
    assert not more, list(more)[:5]
    assert len(driver.acknowledged) == len(calm.acknowledged)
    assert sum(killer.counted.values()) >= size.kills
    return killer


def test_kills_lose_nothing_and_double_nothing_on_sqlite(tmp_path: Path, is_full: bool) -> None:
    killer = compared(tmp_path, FULL if is_full else SHORT, urls=(None, None))

    assert set(killer.counted) == set(STAGES)
