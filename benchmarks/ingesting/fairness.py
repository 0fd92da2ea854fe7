"""Whether one tenant with a hundred times the load of the others keeps them waiting."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from benchmarks.ingesting.load import at, made_up
from benchmarks.stand_in import EMBEDDED, Running, keys_of, service, settings
from pipeline.evaluate.report import Claim, at_most
from serve.client import Client

OTHERS = 50
TIMES = 100
HEAVY = "heavy"
_PAUSE_S = 5.0
"""Between two messages of one of the others."""


def fairness(rounds: int) -> list[Claim]:
    """Seconds from a message to its being searchable for fifty tenants, without and with it."""
    slow = "fake:delay_s=0.02"
    args = settings(EMBEDDED, access={"keys_required": True})
    args["models"] |= {"embedder": slow, "compressor": slow}
    with service(args) as running:
        keys = keys_of(running, [HEAVY, *(f"other-{number}" for number in range(OTHERS))])
        _others(running, keys, "warm", 1)
        alone = at(_others(running, keys, "alone", rounds), 0.95)
        with _loaded(running, keys[HEAVY]) as sent:
            beside = at(_others(running, keys, "beside", rounds), 0.95)
    said = OTHERS * rounds
    return [
        at_most("p95 time to searchable beside a heavy tenant", beside / alone, 2.0, unit="ratio"),
        Claim(claim="p95 time to searchable, alone", value=alone, unit="s"),
        Claim(claim="p95 time to searchable, beside it", value=beside, unit="s"),
        Claim(claim="its messages for each of one other", value=len(sent) * OTHERS / said, unit=""),
    ]


def _others(running: Running, keys: dict[str, str], name: str, rounds: int) -> list[float]:
    tenants = [tenant for tenant in keys if tenant != HEAVY]
    with ThreadPoolExecutor(len(tenants)) as pool:
        each = pool.map(lambda one: _waits(running.url, keys[one], name, one, rounds), tenants)
        return [took for times in each for took in times]


def _waits(url: str, key: str, name: str, tenant: str, rounds: int) -> list[float]:
    times = []
    time.sleep(_PAUSE_S * int(tenant.rsplit("-", 1)[1]) / OTHERS)
    with Client(url, key) as client:
        for number in range(rounds):
            began = time.monotonic()
            said = made_up(f"{name}-{tenant}-{number}", 1)
            if not client.ingest("life", said, wait=True)["searchable"]:
                raise RuntimeError("expected a searchable message, got a timeout")
            times.append(time.monotonic() - began)
            time.sleep(max(0.0, _PAUSE_S - times[-1]))
    return times


@contextmanager
def _loaded(running: Running, key: str) -> Iterator[list[int]]:
    """Meanwhile one tenant sends a hundred times what one of the others does, in many
    collections; the list has one number for each of its messages."""
    sent: list[int] = []
    ended = threading.Event()

    def send() -> None:
        batch = int(TIMES / _PAUSE_S)
        number = 0
        with Client(running.url, key, attempts=100) as client:
            while not ended.is_set():
                began = time.monotonic()
                said = made_up(f"heavy-{number}", batch)
                client.ingest(f"life-{number % 20}", said)
                sent.extend(range(batch))
                number += 1
                ended.wait(max(0.0, 1.0 - (time.monotonic() - began)))

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield sent
    finally:
        ended.set()
        sender.join()
