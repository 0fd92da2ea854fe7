"""All stores over one database."""

from dataclasses import dataclass

from sqlalchemy import Engine

from actors.records.awake_store import SqlAwakeStore
from actors.records.backlog import SqlBacklog
from actors.records.engine import open_engine
from actors.records.entry_store import SqlEntryStore
from actors.records.erasure import SqlErasure
from actors.records.export import SqlExport
from actors.records.failures import retried
from actors.records.fsck import SqlFsck
from actors.records.imports import SqlImport
from actors.records.index_source import SqlIndexSource
from actors.records.keys import SqlKeys
from actors.records.message_log import SqlMessageLog
from actors.records.migrate import upgrade
from actors.records.outbox import SqlOutbox
from actors.records.quarantine_store import SqlQuarantine
from actors.records.recall_store import SqlRecalls
from actors.records.retention import SqlRetention
from actors.records.scratchpad_store import SqlScratchpad
from actors.records.sleep import SqlSleepStore
from actors.records.sleep_schedule import SqlSchedules
from actors.records.tenants import SqlTenants
from actors.records.tending_store import SqlTending
from actors.records.usage import SqlUsage
from pipeline.errors import SlowwaveError


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The record store, port by port, over one engine."""

    engine: Engine
    tenants: SqlTenants
    keys: SqlKeys
    messages: SqlMessageLog
    awake: SqlAwakeStore
    entries: SqlEntryStore
    outbox: SqlOutbox
    sleep: SqlSleepStore
    schedules: SqlSchedules
    backlog: SqlBacklog
    quarantine: SqlQuarantine
    index_source: SqlIndexSource
    erasure: SqlErasure
    exports: SqlExport
    imports: SqlImport
    retention: SqlRetention
    fsck: SqlFsck
    usage: SqlUsage
    scratchpad: SqlScratchpad
    tending: SqlTending
    recalls: SqlRecalls

    def close(self) -> None:
        """Gives the connections back; the stores must not be used afterwards."""
        self.engine.dispose()


def open_records(url: str, *, owner: str | None = None) -> Records:
    """The stores over a SQLite file or PostgreSQL, its schema created or upgraded first.

    Args:
        owner: as of ``migrate``; PostgreSQL is only checked without it.

    Raises:
        ConfigError: the URL names neither, or ``migrate`` refuses.
        StoreError: the database cannot be reached.
    """
    engine = open_engine(url)
    try:
        # A worker that comes while the database restarts waits for it as its calls do.
        retried(upgrade)(engine, owner=owner)
    except SlowwaveError:
        engine.dispose()
        raise
    return Records(
        engine=engine,
        tenants=SqlTenants(engine),
        keys=SqlKeys(engine),
        messages=SqlMessageLog(engine),
        awake=SqlAwakeStore(engine),
        entries=SqlEntryStore(engine),
        outbox=SqlOutbox(engine),
        sleep=SqlSleepStore(engine),
        schedules=SqlSchedules(engine),
        backlog=SqlBacklog(engine),
        quarantine=SqlQuarantine(engine),
        index_source=SqlIndexSource(engine),
        erasure=SqlErasure(engine),
        exports=SqlExport(engine),
        imports=SqlImport(engine),
        retention=SqlRetention(engine),
        fsck=SqlFsck(engine),
        usage=SqlUsage(engine),
        scratchpad=SqlScratchpad(engine),
        tending=SqlTending(engine),
        recalls=SqlRecalls(engine),
    )
