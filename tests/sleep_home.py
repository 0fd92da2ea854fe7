"""A collection that tests write to and sleep over, straight on the record store."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, insert, select, update

from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.rows import entry_of, entry_values
from actors.records.sleep import SqlSleepStore
from actors.records.tables import (
    collections,
    entries,
    entry_vectors,
    entry_versions,
    index_ops,
    tenants,
)
from pipeline.entries import Decision, Delete, Entry, Kind, OrderKey, Status, Update, Writer
from pipeline.ids import EntryId, MessageId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import (
    LedgerItem,
    LedgerRow,
    RunOptions,
    SleepRun,
    Weighed,
)

MODEL = "tiny"
NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
NIGHT = datetime(2024, 4, 1, 2, tzinfo=UTC)
EAST = np.array([1.0, 0.0], dtype=np.float32)
NORTH = np.array([0.0, 1.0], dtype=np.float32)


class SleepHome:
    """A tenant with one collection, written to as ingestion and users do."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.store = SqlSleepStore(engine)
        self.tenant = TenantId(f"t-{uuid.uuid4()}")
        self.scope = Scope(tenant=self.tenant, collection="garden")
        self._runs = 0
        with writing(engine, EVERY_TENANT) as connection:
            connection.execute(
                insert(tenants).values(name=self.tenant, created_at=NOON, settings={})
            )
            connection.execute(
                insert(collections).values(
                    tenant=self.tenant, name="garden", created_at=NOON, settings={}
                )
            )

    def say(self, name: str, text: str, *, day: int, vector: NDArray[np.float32] = EAST) -> EntryId:
        """A new entry written by ingestion."""
        said_at = NOON + timedelta(days=day)
        entry = Entry(
            id=EntryId(f"{self.tenant}/{name}"),
            version=1,
            text=text,
            kind=Kind.FACT,
            status=Status.ACTIVE,
            speaker="Ola",
            said_at=said_at,
            zone="UTC",
            language="en",
            order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
            valid_from=said_at,
            sources=(MessageId(f"m{day}"),),
            written_by=Writer.INGEST,
            written_at=said_at,
        )
        self._put(entry, vector, is_first=True)
        return entry.id

    def correct(self, entry: EntryId, text: str) -> None:
        """A user's correction of an entry."""
        old = self.entry(entry)
        self._put(
            replace(old, text=text, version=old.version + 1, written_by=Writer.USER),
            EAST,
            is_first=False,
        )

    def _put(self, entry: Entry, vector: NDArray[np.float32], *, is_first: bool) -> None:
        place = {"tenant": self.tenant, "collection": "garden"}
        values = entry_values(entry)
        with writing(self.engine, EVERY_TENANT) as connection:
            where = (collections.c.tenant == self.tenant, collections.c.name == "garden")
            connection.execute(
                update(collections).where(*where).values(writes=collections.c.writes + 1)
            )
            new_at = connection.execute(select(collections.c.writes).where(*where)).scalar_one()
            values_now = {"version": entry.version, "new_at": new_at, **values}
            connection.execute(
                insert(entries).values(**place, id=entry.id, **values_now)
                if is_first
                else update(entries).where(entries.c.id == entry.id).values(**values_now)
            )
            connection.execute(
                insert(entry_versions).values(
                    **place, entry=entry.id, version=entry.version, why="said", **values
                )
            )
            connection.execute(
                insert(entry_vectors).values(
                    **place, entry=entry.id, version=entry.version, model=MODEL, vector=vector
                )
            )

    def entry(self, entry: EntryId) -> Entry:
        """The entry in its present version."""
        with reading(self.engine, self.tenant) as connection:
            return entry_of(connection.execute(select(entries).where(entries.c.id == entry)).one())

    def versions(self, entry: EntryId) -> list[tuple[int, str, str | None]]:
        """Number, writer and run of every version."""
        columns = entry_versions.c
        query = select(columns.version, columns.written_by, columns.run)
        with reading(self.engine, self.tenant) as connection:
            rows = connection.execute(query.where(columns.entry == entry).order_by(columns.version))
            return [(row.version, row.written_by, row.run) for row in rows]

    def vector(self, entry: EntryId) -> list[float]:
        """The vector of the entry's present version."""
        columns = entry_vectors.c
        with reading(self.engine, self.tenant) as connection:
            found: NDArray[np.float32] = connection.execute(
                select(columns.vector).where(
                    columns.entry == entry, columns.version == self.entry(entry).version
                )
            ).scalar_one()
        return found.tolist()

    def outbox(self) -> list[str]:
        """The entries that the index has still to follow."""
        query = select(index_ops.c.entry).where(index_ops.c.tenant == self.tenant)
        with reading(self.engine, self.tenant) as connection:
            return [row.entry for row in connection.execute(query.order_by(index_ops.c.id))]

    def open(self, *, dry_run: bool = False, is_filtered: bool = False) -> RunId:
        """A new run of its own window."""
        self._runs += 1
        start = NIGHT + timedelta(days=self._runs)
        run = a_run(self.tenant, start, dry_run=dry_run)
        options = RunOptions(is_filtered=is_filtered)
        return self.store.open_run(replace(run, options=options)).id

    def mine(self, runs: Sequence[SleepRun]) -> list[SleepRun]:
        """Those of this tenant."""
        return [run for run in runs if run.tenant == self.tenant]

    def close(self, run: RunId) -> None:
        """Ends the run."""
        self.store.close_run(self.tenant, run, status="completed", totals={}, error=None, now=NIGHT)

    def record(
        self, run: RunId, *items: LedgerItem, through: int | None = None, dry_run: bool = False
    ) -> list[LedgerRow]:
        """Records items as of the present snapshot."""
        seen = self.store.snapshot(self.scope, model=MODEL).through
        return self.store.record(
            run,
            self.scope,
            items,
            through=seen if through is None else through,
            model=MODEL,
            dry_run=dry_run,
            now=NIGHT,
        )

    def item(
        self, target: EntryId, candidates: Sequence[EntryId], decision: Decision | None
    ) -> LedgerItem:
        """A decision on the present versions."""
        weighed = [
            Weighed(entry=one, version=self.entry(one).version, similarity=0.9)
            for one in candidates
        ]
        return LedgerItem(
            target=target,
            target_version=self.entry(target).version,
            candidates=tuple(weighed),
            decision=decision,
            vector=NORTH if isinstance(decision, Update) else None,
            failure=None if decision else "the decider timed out",
            decider="rules",
        )

    def night(self, *items: LedgerItem) -> RunId:
        """A completed run with these decisions."""
        run = self.open()
        self.record(run, *items)
        self.close(run)
        return run


def one_later(item: LedgerItem) -> LedgerItem:
    """The item as it rests on candidates that the run itself has changed before."""
    later = tuple(replace(one, version=one.version + 1) for one in item.candidates)
    return replace(item, candidates=later)


def a_run(tenant: TenantId, start: datetime, *, dry_run: bool = False) -> SleepRun:
    return SleepRun(
        id=RunId(str(uuid.uuid4())),
        tenant=tenant,
        window_start=start,
        dry_run=dry_run,
        status="running",
        started_at=start,
    )


def merging(used: EntryId, text: str = "Ola grows beans and peas.") -> Update:
    return Update(text=text, used=(used,), reason="adds")


def dropping(newer: EntryId) -> Delete:
    return Delete(superseded_by=newer, reason="replaced")


def garden(home: SleepHome) -> tuple[EntryId, EntryId, EntryId, RunId]:
    """Beans, peas and corn after a night that merged the first and outdated the last."""
    """Beans merged with peas, corn replaced by rice."""
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn.", day=3)
    rice = home.say("rice", "Ola grows rice instead of corn.", day=4)
    run = home.night(
        home.item(corn, [rice], dropping(rice)), home.item(beans, [peas], merging(peas))
    )
    return beans, peas, corn, run
