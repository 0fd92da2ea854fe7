"""Sleep runs as a caller starts, watches, takes back and repeats them."""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from actors.records.sleep_schedule import SqlSchedules
from pipeline.ids import RunId
from pipeline.messages import TenantId
from pipeline.ports import Clock, SleepStore
from pipeline.runs import EntryFilter, LedgerRow, RunOptions, SleepRun, UndoItem
from pipeline.sleep.windows import Schedule, Window, next_window
from serve.index import AsyncIndex
from serve.sleep_stages import EVERYTHING, RunPlan


class Runner(Protocol):
    """Where the consolidation job runs."""

    async def run(self, plans: Sequence[RunPlan]) -> None:
        """Returns when the runs are closed, whether they completed or failed, or their job died."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a caller asks of a run: how, over which entries, and for how long and how much."""

    dry_run: bool = False
    options: RunOptions = RunOptions()  # noqa: RUF009  (frozen)
    only: EntryFilter = EVERYTHING
    max_s: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The schedule in force, whether it is the tenant's own, and the next window of its cron."""

    schedule: Schedule | None
    is_own: bool
    next: Window | None


class Sleep:
    """Starts one run at a time per call and keeps the index behind it."""

    def __init__(
        self,
        *,
        store: SleepStore,
        schedules: SqlSchedules,
        runner: Runner,
        index: AsyncIndex,
        clock: Clock,
        default: Schedule | None = None,
    ) -> None:
        """
        Args:
            default: when tenants sleep that do not say it themselves.
        """
        self._store = store
        self._schedules = schedules
        self._default = default
        self._runner = runner
        self._index = index
        self._clock = clock
        self._running: set[asyncio.Task[None]] = set()

    async def start(self, tenant: TenantId, asked: Asked, *, wait: bool) -> SleepRun:
        """The new run; ended when ``wait`` is asked for."""
        now = self._clock.now()
        limit = None if asked.max_s is None else timedelta(seconds=asked.max_s)
        run = await asyncio.to_thread(
            self._store.open_run,
            SleepRun(
                id=RunId(str(uuid.uuid4())),
                tenant=tenant,
                window_start=now,
                dry_run=asked.dry_run,
                status="running",
                started_at=now,
                seen_at=now,
                options=replace(asked.options, is_filtered=not asked.only.is_open),
                deadline=None if limit is None else now + limit,
                max_tokens=asked.max_tokens,
            ),
        )
        task = asyncio.create_task(self._finish(RunPlan(run=run, only=asked.only)))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        if wait:
            await asyncio.shield(task)
        return await self.run(tenant, run.id)

    async def _finish(self, plan: RunPlan) -> None:
        await self._runner.run([plan])
        await self._index.follow()

    async def run(self, tenant: TenantId, run: RunId) -> SleepRun:
        """One run of the tenant. Raises NotFound."""
        return await asyncio.to_thread(self._store.run, tenant, run)

    async def runs(self, tenant: TenantId, *, limit: int) -> list[SleepRun]:
        """Runs of the tenant, newest first."""
        return await asyncio.to_thread(self._store.runs, tenant, limit=limit)

    async def decisions(self, tenant: TenantId, run: RunId) -> list[LedgerRow]:
        """The ledger of a run. Raises NotFound."""
        await self.run(tenant, run)
        return await asyncio.to_thread(self._store.ledger, tenant, run)

    async def undo(self, tenant: TenantId, run: RunId) -> Sequence[UndoItem]:
        """Takes the run back, item by item. Raises NotFound."""
        await self.run(tenant, run)
        items = await asyncio.to_thread(self._store.undo, tenant, run, now=self._clock.now())
        await self._index.follow()
        return items

    async def redo(self, tenant: TenantId, run: RunId) -> Sequence[UndoItem]:
        """Applies an undone run again, without asking a model. Raises NotFound."""
        await self.run(tenant, run)
        items = await asyncio.to_thread(self._store.redo, tenant, run, now=self._clock.now())
        await self._index.follow()
        return items

    # When ----------------------------------------------------------------------------------

    async def schedule(self, tenant: TenantId) -> Told:
        """When the tenant sleeps. Raises NotFound."""

        def read() -> Told:
            own = self._schedules.schedule(tenant)
            found = own or self._schedules.in_force(tenant, default=self._default)
            after = None if found is None else next_window(found, self._clock.now())
            return Told(schedule=found, is_own=own is not None, next=after)

        return await asyncio.to_thread(read)

    async def zone(self, tenant: TenantId) -> str:
        """The tenant's time zone. Raises NotFound."""
        return await asyncio.to_thread(self._schedules.zone, tenant)

    async def set_schedule(self, tenant: TenantId, schedule: Schedule | None) -> Told:
        """Gives the tenant a schedule of its own, or takes it away. Raises NotFound."""
        await asyncio.to_thread(self._schedules.set_schedule, tenant, schedule)
        return await self.schedule(tenant)
