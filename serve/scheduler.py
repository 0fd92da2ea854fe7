"""Who sleeps now: opens the runs of windows that began, and goes on with runs whose job died.

Any number of schedulers may look at once: a run is a unique row of its tenant and window, and of
several that see a dead job one takes the run over.
"""

import asyncio
import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pipeline.errors import Conflict
from pipeline.ids import RunId
from pipeline.messages import TenantId
from pipeline.ports import Clock, Schedules, SleepStore
from pipeline.runs import SleepRun, Stop, Trigger
from pipeline.sleep.windows import Schedule, Window, idle_window, open_window
from serve.index import AsyncIndex
from serve.sleep_stages import RunPlan
from serve.sleeping import Runner

log = logging.getLogger("slowwave.sleep")

LOOK_S = 10.0
"""How often a scheduler looks."""

SILENT_S = 60.0
"""After how long a silent job counts as dead."""

MOST_ATTEMPTS = 4
"""Jobs that one run gets: one that dies again and again would do so every night."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A window that a tenant is to sleep in, and what opened it."""

    tenant: TenantId
    schedule: Schedule
    window: Window
    trigger: Trigger


class Windows:
    """Which windows are open, by the tenants' schedules and the service's for those without."""

    def __init__(
        self,
        *,
        store: SleepStore,
        schedules: Schedules,
        clock: Clock,
        default: Schedule | None = None,
    ) -> None:
        self._store = store
        self._schedules = schedules
        self._clock = clock
        self._default = default

    def begun(self) -> list[Begun]:
        """The open windows of all tenants, by tenant; of two of one tenant that of its cron."""
        found = (self._of(tenant, one) for tenant, one in self.schedules().items())
        return [one for one in found if one is not None]

    def schedules(self) -> dict[TenantId, Schedule]:
        """The schedule in force of every tenant that has one."""
        return dict(self._schedules.schedules(default=self._default))

    def _of(self, tenant: TenantId, schedule: Schedule) -> Begun | None:
        now = self._clock.now()
        window, trigger = open_window(schedule, now), Trigger.WINDOW
        if window is None:
            window, trigger = self._silence(tenant, schedule), Trigger.IDLE
        if window is None:
            return None
        return Begun(tenant=tenant, schedule=schedule, window=window, trigger=trigger)

    def _silence(self, tenant: TenantId, schedule: Schedule) -> Window | None:
        """The window that a silence opened, where it left something to do."""
        if schedule.idle_s is None:
            return None
        last = self._schedules.last_message_at(tenant)
        if last is None:
            return None
        window = idle_window(schedule, last_message_at=last, now=self._clock.now())
        return window if window is not None and self._store.due(tenant) else None

    def is_free(self, begun: Begun) -> bool:
        """Whether no run of the tenant is under way, previews apart."""
        return not self._schedules.is_busy(begun.tenant)

    def opened(self, begun: Begun) -> SleepRun | None:
        """The window's run; None where it has had one."""
        now = self._clock.now()
        run = SleepRun(
            id=RunId(str(uuid.uuid4())),
            tenant=begun.tenant,
            window_start=begun.window.start,
            dry_run=False,
            status="running",
            started_at=now,
            seen_at=now,
            trigger=begun.trigger,
            deadline=begun.window.end,
            max_tokens=begun.schedule.max_tokens,
        )
        try:
            return self._store.open_run(run)
        except Conflict:
            return None


class Scheduler:
    """The loop: takes over, opens, runs, and lets the index follow."""

    def __init__(
        self,
        *,
        windows: Windows,
        store: SleepStore,
        runner: Runner,
        index: AsyncIndex,
        clock: Clock,
        silent_s: float = SILENT_S,
    ) -> None:
        self._windows = windows
        self._store = store
        self._runner = runner
        self._index = index
        self._clock = clock
        self._silent = timedelta(seconds=silent_s)
        self._seen: dict[TenantId, Window] = {}
        self._jobs: set[asyncio.Task[None]] = set()

    async def run(self, *, every_s: float = LOOK_S) -> None:
        """Looks until cancelled; a failing look is logged and tried again."""
        while True:
            try:
                await self.look()
            except Exception as error:  # a record store out of reach must not end the nights
                log.error("looking for open windows failed: %s", type(error).__name__)
            await asyncio.sleep(every_s)

    async def look(self) -> list[SleepRun]:
        """The runs that began or go on with this look; their job is under way."""
        runs = await asyncio.to_thread(lambda: [*self._resumed(), *self._opened()])
        for together in _one_each(runs):
            task = asyncio.create_task(self._job([RunPlan(run=run) for run in together]))
            self._jobs.add(task)
            task.add_done_callback(self._jobs.discard)
        return runs

    async def idle(self) -> None:
        """Returns when no job that this scheduler began is under way."""
        while self._jobs:
            await asyncio.gather(*self._jobs)

    async def _job(self, plans: list[RunPlan]) -> None:
        await self._runner.run(plans)
        await self._index.follow()

    def _resumed(self) -> Iterator[SleepRun]:
        now = self._clock.now()
        for run in self._store.take_over(silent_since=now - self._silent, now=now):
            log.warning("the job of sleep run %s fell silent", run.id)
            if self._may_go_on(run):
                yield run

    def _may_go_on(self, run: SleepRun) -> bool:
        """Whether a dead job is followed by another; the run is closed where it is not."""
        if run.deadline is not None and self._clock.now() >= run.deadline:
            self._close(run, status="stopped", stop=Stop.WINDOW)
        elif run.options.is_filtered:
            self._close(run, status="failed", error="its job died")
        elif run.attempt > MOST_ATTEMPTS:
            self._close(run, status="failed", error=f"its job died {run.attempt - 1} times")
        else:
            return True
        return False

    def _close(
        self, run: SleepRun, *, status: str, error: str | None = None, stop: Stop | None = None
    ) -> None:
        self._store.close_run(
            run.tenant,
            run.id,
            status=status,
            totals=run.totals,
            error=error,
            stop=stop,
            attempt=run.attempt,
            now=self._clock.now(),
        )

    def _opened(self) -> Iterator[SleepRun]:
        for begun in self._windows.begun():
            # Asking the record store for what it refused before would only be noise.
            if _is_known(self._seen, begun) or not self._windows.is_free(begun):
                continue
            run = self._windows.opened(begun)
            self._seen[begun.tenant] = begun.window
            if run is not None:
                yield run


def _one_each(runs: Sequence[SleepRun]) -> list[list[SleepRun]]:
    """The runs in as few jobs as there are runs of one tenant: a job has one of each."""
    jobs: list[dict[TenantId, SleepRun]] = []
    for run in runs:
        job = next((one for one in jobs if run.tenant not in one), None)
        if job is None:
            jobs.append(job := {})
        job[run.tenant] = run
    return [list(job.values()) for job in jobs]


def _is_known(seen: Mapping[TenantId, Window], begun: Begun) -> bool:
    known = seen.get(begun.tenant)
    return known is not None and known.start == begun.window.start
