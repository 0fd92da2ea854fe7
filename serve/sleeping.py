"""Sleep runs as the service starts, watches, takes back and repeats them."""

import asyncio
import uuid
from collections.abc import Sequence
from typing import Protocol

from pipeline.ids import RunId
from pipeline.messages import TenantId
from pipeline.ports import Clock, SleepStore
from pipeline.state import LedgerRow, SleepRun, UndoItem
from serve.index import AsyncIndex


class Runner(Protocol):
    """Where the consolidation job runs."""

    async def run(self, run: SleepRun, *, collection: str | None) -> None:
        """Returns when the run is closed, whether it completed or failed."""
        ...


class Sleep:
    """Starts one run at a time per call and keeps the index behind it."""

    def __init__(
        self, *, store: SleepStore, runner: Runner, index: AsyncIndex, clock: Clock
    ) -> None:
        self._store = store
        self._runner = runner
        self._index = index
        self._clock = clock
        self._running: set[asyncio.Task[None]] = set()

    async def start(
        self, tenant: TenantId, *, dry_run: bool, collection: str | None, wait: bool
    ) -> SleepRun:
        """The new run; ended when ``wait`` is asked for."""
        now = self._clock.now()
        run = await asyncio.to_thread(
            self._store.open_run,
            SleepRun(
                id=RunId(str(uuid.uuid4())),
                tenant=tenant,
                window_start=now,
                dry_run=dry_run,
                status="running",
                started_at=now,
            ),
        )
        task = asyncio.create_task(self._finish(run, collection))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        if wait:
            await asyncio.shield(task)
        return await self.run(tenant, run.id)

    async def _finish(self, run: SleepRun, collection: str | None) -> None:
        await self._runner.run(run, collection=collection)
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
