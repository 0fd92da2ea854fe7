"""A service that holds made-up entries, with the packaged embedder and stand-ins for the rest."""

import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from actors.records import migrate, open_records
from benchmarks.sleeping.neighbours import clustered
from benchmarks.sleeping.place import NOON, TENANT, Place
from benchmarks.stand_in import EMBEDDED, Running, keys_of, service, settings
from serve.local.home import Home, models_dir
from serve.local.service import recorded

EMBEDDER = "multilingual-e5-small"
EACH = 100
"""Entries of a collection."""

OTHER = "other"
THREADS = 2

_SUBJECTS = ("The kettle", "My bicycle", "Our garden", "她的相机", "旧收音机", "Her notebook")
_SETTLE_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where the entries can be asked for, as plain values for another process."""

    url: str
    key: str
    other_key: str
    records_url: str
    home: str
    address: str
    collections: int

    @property
    def names(self) -> list[str]:
        """The collections."""
        return [name(number) for number in range(self.collections)]


def name(collection: int) -> str:
    """The name of a collection."""
    return f"c{collection}"


def said(number: int) -> str:
    """What an entry says; no two say the same."""
    code = zlib.crc32(str(number).encode())
    return f"{_SUBJECTS[number % len(_SUBJECTS)]} stands in the kitchen, its number is {code}."


def asked(number: int) -> str:
    """A question about an entry; no two are the same."""
    return f"What is the number of {_SUBJECTS[number % len(_SUBJECTS)]}, asked {number} times?"


@contextmanager
def filled(entries: int) -> Iterator[tuple[Running, Spot]]:
    """The service at rest with so many entries in its index, a hundred a collection."""
    args = settings(EMBEDDED, access={"keys_required": True})
    args["models"] |= {"embedder": EMBEDDER, "threads": THREADS}
    with service(
        args, models_dir=models_dir(), prepare=lambda home: _fill(home, entries)
    ) as running:
        keys = keys_of(running, [TENANT, OTHER])
        _settle(running)
        running.rest()
        yield running, _spot(running, keys, entries // EACH)


def _fill(home: Home, entries: int) -> None:
    url = f"sqlite:///{home.path / 'records.sqlite'}"
    migrate(url)
    records = open_records(url)
    records.tenants.ensure_tenant(TENANT, now=NOON)
    place = Place(url=url, records=records, model=EMBEDDER)
    vectors = clustered(entries)
    for start in range(0, entries, EACH):
        texts = [said(number) for number in range(start, start + EACH)]
        place.fill(name(start // EACH), np.asarray(vectors[start : start + EACH]), texts)
    records.close()


def _settle(running: Running) -> None:
    """Returns when the index has taken everything. Raises TimeoutError."""
    records, until = open_records(running.records_url), time.monotonic() + _SETTLE_S
    try:
        while records.outbox.pending(limit=1):
            if time.monotonic() > until:
                raise TimeoutError(f"the index did not take all entries in {_SETTLE_S:.0f} s")
            time.sleep(0.5)
    finally:
        records.close()


def _spot(running: Running, keys: dict[str, str], collections: int) -> Spot:
    home, found = running.home, recorded(running.home)
    if found is None:
        raise TimeoutError(f"the service of {home.path} is no longer there")
    return Spot(
        url=running.url,
        key=keys[TENANT],
        other_key=keys[OTHER],
        records_url=running.records_url,
        home=str(home.path),
        address=found.ray_address,
        collections=collections,
    )
