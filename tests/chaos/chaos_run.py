"""A run from the first request to the last entry, and what must be true after it."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from chaos_clients import COLLECTION, Driver, Said, script
from chaos_killer import Killer
from chaos_place import Place, Size, admit

from serve.client import Client

SEED = 20
VICTIM_S = 60.0
"""How long a kill waits for a victim with work: a part that died before must come back first."""

PART_S = 2.0
"""Over how long the requests between two kills are spread."""

Remembered = tuple[str, str, str, str, tuple[str, ...]]
"""Tenant, text, kind, time and sources of an entry."""


@dataclass(kw_only=True)
class Run:
    """What was said, who fell and what is remembered."""

    driver: Driver
    entries: Counter[Remembered]
    counted: Counter[str] = field(default_factory=Counter)
    telling_s: float
    flushing_s: float

    def __str__(self) -> str:
        return (
            f"kills that met work: {self.counted.total()}, by stage {dict(self.counted)}\n"
            f"messages acknowledged: {len(self.driver.acknowledged)}, entries: "
            f"{self.entries.total()}, requests to repeat: {dict(self.driver.refused)}; "
            f"{self.telling_s:.0f} s to tell, {self.flushing_s:.0f} s to flush"
        )


def calm(place: Place, size: Size) -> Run:
    """All is said and extracted, and nobody falls."""
    driver = driver_of(place, size, prefix="calm")
    driver.allow(1.0)
    began = time.monotonic()
    driver.run()
    run = ended(driver, began)
    print(f"without kills: {run}", flush=True)
    return run


def storm(place: Place, size: Size, *, restart_postgres: Callable[[], None] | None = None) -> Run:
    """All is said and extracted while victims fall: between any two of them some more is said."""
    driver = driver_of(place, size, prefix="storm")
    records = place.records()

    def restart() -> None:
        driver.url = place.up()

    killer = Killer(
        home=place.home,
        records=records,
        driver=driver,
        marks=place.marks,
        restart=restart,
        restart_postgres=restart_postgres,
        seed=SEED,
    )
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        speaking = pool.submit(driver.run)
        try:
            _fell(killer, size.kills)
        except BaseException:  # an interrupt too: nobody would restart what the clients wait for
            driver.give_up()
            raise
        driver.allow(1.0)
        speaking.result()
    records.close()
    run = ended(driver, began)
    run.counted = killer.counted
    print(f"with kills: {run}", flush=True)
    return run


def _fell(killer: Killer, kills: int) -> None:
    """Returns when ``kills`` victims with work fell, or the script is told out."""
    parts = kills + max(2, kills // 4)
    for part in range(parts):
        stage = killer.stages[killer.counted.total() % len(killer.stages)]
        began = time.monotonic()
        is_counted = False
        killer.look_up(stage)
        while not is_counted and (passed := time.monotonic() - began) < VICTIM_S:
            killer.driver.allow((part + min(1.0, passed / PART_S)) / parts)
            is_counted = killer.kill(stage, within_s=0.05)
        print(f"  {stage} {'fell' if is_counted else 'had no work'}, {_seconds(began)}", flush=True)
        if killer.counted.total() == kills:
            return


def _seconds(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"


def driver_of(place: Place, size: Size, *, prefix: str) -> Driver:
    """Clients that have keys and have said nothing yet."""
    said = script(tenants=size.tenants, messages=size.messages, seed=SEED, prefix=prefix)
    url = place.up()
    records = place.records()
    keys = admit(records, list(said))
    records.close()
    return Driver(url, keys, said)


def ended(driver: Driver, began: float) -> Run:
    """The run after everything is extracted and found to be there once and in order."""
    told = time.monotonic()
    flush(driver)
    flushed = time.monotonic()
    check_acknowledged(driver)
    entries = remembered(driver)
    check_once(entries)
    return Run(driver=driver, entries=entries, telling_s=told - began, flushing_s=flushed - told)


def flush(driver: Driver) -> None:
    """Returns when all that was accepted is extracted and searchable."""
    for wait in (False, True):
        for key in driver.keys.values():
            with Client(driver.url, key, attempts=20) as client:
                done = client.flush(COLLECTION, wait=wait)
            assert done["searchable"] is (True if wait else None)


def remembered(driver: Driver) -> Counter[Remembered]:
    """What every tenant's memory holds, apart from ids and times of writing."""
    found: Counter[Remembered] = Counter()
    for tenant, key in driver.keys.items():
        with Client(driver.url, key) as client:
            for entry in client.all_entries(COLLECTION):
                sources = sorted(str(source["message_id"]) for source in entry["sources"])
                kept = (entry["text"], str(entry["kind"]), str(entry["said_at"]))
                found[(tenant, *kept, tuple(sources))] += 1
    return found


def check_once(entries: Counter[Remembered]) -> None:
    """No statement of a tenant is stored twice: a repetition adds its source to the first."""
    statements = Counter((tenant, text, kind) for tenant, text, kind, _, _ in entries.elements())
    assert [found for found, count in statements.items() if count > 1] == []


def check_acknowledged(driver: Driver) -> None:
    """Every acknowledged message is there once, under its sequence, in the order it was said."""
    by_tenant: dict[str, list[tuple[Said, int]]] = {}
    for said, sequence in driver.acknowledged:
        by_tenant.setdefault(said.tenant, []).append((said, sequence))
    assert {tenant: len(said) for tenant, said in by_tenant.items()} == {
        tenant: sum(map(len, requests)) for tenant, requests in driver.script.items()
    }
    for tenant, acknowledged in by_tenant.items():
        with Client(driver.url, driver.keys[tenant]) as client:
            messages = client.messages(COLLECTION, limit=1_000)
            segments = client.segments(COLLECTION)
        there = [(str(each["message_id"]), int(each["sequence"])) for each in messages]
        assert there == [(said.message_id, at) for said, at in acknowledged]
        assert [at for _, at in there] == list(range(1, len(there) + 1))
        assert {str(each["state"]) for each in messages} == {"extracted"}
        assert sum(int(segment["messages"]) for segment in segments) == len(messages)


def check_same(run: Run, without_kills: Run) -> None:
    """Neither an entry less nor one more than in the run that nothing befell."""
    expected, found = _by_number(without_kills.entries), _by_number(run.entries)
    lost, more = expected - found, found - expected
    print(f"entries lost: {lost.total()}, entries twice or made up: {more.total()}", flush=True)
    assert (list(lost)[:5], list(more)[:5]) == ([], [])


def _by_number(entries: Counter[Remembered]) -> Counter[Remembered]:
    """The entries with the number of their tenant in the place of its name."""
    return Counter((tenant.rpartition("-")[2], *rest) for tenant, *rest in entries.elements())  # type: ignore[misc]  # mypy forgets the length of the rest
