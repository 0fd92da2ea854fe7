"""A record store with entries for the sleep job, and a Ray cluster of logical processors."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import ray
from numpy.typing import NDArray
from ray.data import DataContext
from sqlalchemy import insert, update

from actors.records import Records, open_records
from actors.records.engine import EVERY_TENANT, writing
from actors.records.rows import entry_values
from actors.records.sql import is_collection
from actors.records.tables import collections, entries, entry_vectors, entry_versions
from pipeline.entries import Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, MessageId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import SleepRun

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
MODEL = "bench"
TENANT = TenantId("bench")
CPUS = 16
WARM_S = 300


@dataclass(slots=True)
class Place:
    """An embedded record store in a temporary folder, with one tenant."""

    url: str
    records: Records
    written: int = 0
    model: str = MODEL

    def fill(
        self, collection: str, vectors: NDArray[np.float32], texts: Sequence[str] = ()
    ) -> None:
        """Adds one entry per vector, each a minute newer than the one before it.

        Args:
            texts: what they say, one per vector; made up if empty.
        """
        scope = Scope(tenant=TENANT, collection=collection)
        first = self.written
        made = [_entry(first + i) for i in range(len(vectors))]
        if texts:
            made = [replace(one, text=text) for one, text in zip(made, texts, strict=True)]
        self.written += len(vectors)
        place = {"tenant": TENANT, "collection": collection}
        with writing(self.records.engine, EVERY_TENANT) as connection:
            new = {"name": collection, "tenant": TENANT, "created_at": NOON, "settings": {}}
            exists = connection.execute(collections.select().where(is_collection(scope))).first()
            if exists is None:
                connection.execute(insert(collections).values(**new))
            connection.execute(
                update(collections).where(is_collection(scope)).values(writes=self.written)
            )
            rows = [(entry, entry_values(entry)) for entry in made]
            connection.execute(
                insert(entries),
                [
                    {**place, "id": entry.id, "version": 1, "new_at": self.written, **values}
                    for entry, values in rows
                ],
            )
            connection.execute(
                insert(entry_versions),
                [
                    {**place, "entry": entry.id, "version": 1, "why": "said", **values}
                    for entry, values in rows
                ],
            )
            connection.execute(
                insert(entry_vectors),
                [
                    {
                        **place,
                        "entry": entry.id,
                        "version": 1,
                        "model": self.model,
                        "vector": vector,
                    }
                    for entry, vector in zip(made, vectors, strict=True)
                ],
            )

    def open(self) -> SleepRun:
        """A new run."""
        start = NOON + timedelta(days=1_000 + len(self.records.sleep.runs(TENANT)))
        return self.records.sleep.open_run(
            SleepRun(
                id=RunId(str(uuid.uuid4())),
                tenant=TENANT,
                window_start=start,
                dry_run=False,
                status="running",
                started_at=start,
            )
        )


def _entry(number: int) -> Entry:
    said_at = NOON + timedelta(minutes=number)
    return Entry(
        id=EntryId(f"e{number}"),
        version=1,
        text=f"This is statement {number} of the benchmark.",
        kind=Kind.FACT,
        status=Status.ACTIVE,
        speaker="Ida",
        said_at=said_at,
        zone="UTC",
        language="en",
        order=OrderKey(said_at=said_at, sequence=number + 1, ordinal=0),
        valid_from=said_at,
        sources=(MessageId(f"m{number}"),),
        written_by=Writer.INGEST,
        written_at=said_at,
    )


@contextmanager
def place() -> Iterator[Place]:
    """The store; nothing of it is left afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    url = f"sqlite:///{folder / 'records.sqlite'}"
    records = open_records(url)
    records.tenants.ensure_tenant(TENANT, now=NOON)
    try:
        yield Place(url=url, records=records)
    finally:
        records.close()
        shutil.rmtree(folder)


@contextmanager
def cluster() -> Iterator[None]:
    """Ray on this machine, with more logical processors than it has: what waits needs none."""
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    folder = tempfile.mkdtemp(prefix="sw-")  # Ray's sockets need a short path
    ray.init(
        address="local",
        num_cpus=CPUS,
        include_dashboard=False,
        _temp_dir=folder,
        log_to_driver=False,
    )
    # Workers are warm before the first item comes: what they cost to start is not asked here.
    DataContext.get_current().wait_for_min_actors_s = WARM_S
    try:
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def groups(sizes: Sequence[int], *, dim: int) -> NDArray[np.float32]:
    """Groups of vectors alike among themselves (cosine about 0.98) and to no other group."""
    rng = np.random.default_rng(len(sizes))
    parts = []
    for place, size in enumerate(sizes):
        centre = np.zeros(dim, dtype=np.float32)
        centre[place % dim] = 1.0
        parts.append(centre + 0.1 * rng.normal(size=(size, dim)) / np.sqrt(dim))
    vectors = np.concatenate(parts).astype(np.float32)
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
