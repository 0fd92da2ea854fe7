"""Who works on a run: jobs say that they live, and one that fell silent is followed by another.

A run has one job at a time, known by the run's ``attempt``; what an overtaken one still writes is
written once, since ledger rows are unique and changes compare-and-set.
"""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, select, update

from actors.records.sleep_rows import run_of
from actors.records.tables import sleep_runs
from pipeline.errors import Conflict, NotFound
from pipeline.ids import RunId
from pipeline.messages import TenantId
from pipeline.runs import SleepRun, Stop

RUNNING = "running"


def find_run(connection: Connection, tenant: TenantId, run: RunId) -> SleepRun:
    """The tenant's run. Raises NotFound."""
    query = select(sleep_runs).where(sleep_runs.c.tenant == tenant, sleep_runs.c.id == run)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(f"no sleep run {run}", field="run")
    return run_of(row)


def close(
    connection: Connection,
    tenant: TenantId,
    run: RunId,
    *,
    status: str,
    totals: Mapping[str, int],
    error: str | None,
    stop: Stop | None,
    attempt: int | None,
    now: datetime,
) -> SleepRun:
    """Writes how the run ended, once; a job that was overtaken changes nothing."""
    mine = [sleep_runs.c.tenant == tenant, sleep_runs.c.id == run, sleep_runs.c.status == RUNNING]
    if attempt is not None:
        mine.append(sleep_runs.c.attempt == attempt)
    ended = {
        "status": status,
        "totals": dict(totals),
        "error": error,
        "stop": None if stop is None else stop.value,
        "finished_at": now,
    }
    connection.execute(update(sleep_runs).where(*mine).values(**ended))
    return find_run(connection, tenant, run)


def beat(
    connection: Connection, tenant: TenantId, run: RunId, *, attempt: int, now: datetime
) -> None:
    """That the run's job lives. Raises Conflict when another has taken its place."""
    mine = (sleep_runs.c.tenant == tenant, sleep_runs.c.id == run)
    lives = (sleep_runs.c.status == RUNNING, sleep_runs.c.attempt == attempt)
    changed = connection.execute(update(sleep_runs).where(*mine, *lives).values(seen_at=now))
    if changed.rowcount != 1:
        raise Conflict(f"sleep run {run} is no longer that of job {attempt}", field="attempt")


def spend(connection: Connection, tenant: TenantId, run: RunId, tokens: int) -> int:
    """Adds tokens to what the run has used; the sum. Raises NotFound."""
    mine = (sleep_runs.c.tenant == tenant, sleep_runs.c.id == run)
    used = sleep_runs.c.tokens
    changed = update(sleep_runs).where(*mine).values(tokens=used + tokens).returning(used)
    total = connection.execute(changed).scalar()
    if total is None:
        raise NotFound(f"no sleep run {run}", field="run")
    return int(total)


def take_over(connection: Connection, *, silent_since: datetime, now: datetime) -> list[SleepRun]:
    """Running runs whose job fell silent, each the caller's from now on as its next attempt."""
    silent = (sleep_runs.c.status == RUNNING, sleep_runs.c.seen_at < silent_since)
    query = select(sleep_runs).where(*silent).order_by(sleep_runs.c.started_at, sleep_runs.c.id)
    taken = []
    for row in connection.execute(query.with_for_update(skip_locked=True)).all():
        mine = (sleep_runs.c.tenant == row.tenant, sleep_runs.c.id == row.id)
        same = (sleep_runs.c.attempt == row.attempt, *silent)
        values = {"attempt": row.attempt + 1, "seen_at": now}
        changed = update(sleep_runs).where(*mine, *same).values(**values).returning(sleep_runs)
        now_ours = connection.execute(changed).first()
        if now_ours is not None:
            taken.append(run_of(now_ours))
    return taken


def is_busy(connection: Connection, tenant: TenantId) -> bool:
    """Whether a run of the tenant is under way, previews apart."""
    mine = (sleep_runs.c.tenant == tenant, sleep_runs.c.status == RUNNING)
    query = select(sleep_runs.c.id).where(*mine, sleep_runs.c.dry_run.is_(False)).limit(1)
    return connection.execute(query).first() is not None
