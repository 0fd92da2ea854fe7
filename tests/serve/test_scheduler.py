"""Who sleeps when: real records, a clock that is moved by hand, and a runner that only notes."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from actors.fakes import FixedClock
from actors.records import Records, open_records
from pipeline.ids import RunId
from pipeline.messages import NewMessage, Role, Scope, TenantId
from pipeline.runs import RunOptions, SleepRun, Stop, Trigger
from pipeline.sleep.windows import Schedule
from serve.scheduler import MOST_ATTEMPTS, Scheduler, Windows
from serve.sleep_stages import RunPlan

EVENING = datetime(2025, 6, 1, 20, tzinfo=UTC)
OSLO = Schedule(cron="0 3 * * *", zone="Europe/Oslo", max_s=7200, max_tokens=500)
ACME, GLOBEX = TenantId("acme"), TenantId("globex")


class Noting:
    """Notes the jobs it is given; ends their runs unless they are to die."""

    def __init__(self, records: Records, clock: FixedClock, *, dies: bool = False) -> None:
        self.jobs: list[list[SleepRun]] = []
        self._records = records
        self._clock = clock
        self._dies = dies

    async def run(self, plans: Sequence[RunPlan]) -> None:
        self.jobs.append([plan.run for plan in plans])
        for run in () if self._dies else self.jobs[-1]:
            self._records.sleep.close_run(
                run.tenant, run.id, status="completed", totals={}, error=None, now=self._clock.now()
            )


class NoIndex:
    """An index that has nothing to follow."""

    def __getattr__(self, name: str) -> object:
        async def nothing(*_args: object, **_more: object) -> None:
            return None

        return nothing


class Town:
    """Two tenants in one record store, and schedulers over it."""

    def __init__(self, url: str) -> None:
        self.records = open_records(url)
        self.clock = FixedClock(EVENING)
        for tenant in (ACME, GLOBEX):
            self.records.tenants.ensure_tenant(tenant, now=EVENING)

    def scheduler(
        self, *, dies: bool = False, default: Schedule | None = None
    ) -> tuple[Scheduler, Noting]:
        """A scheduler as one replica has it, with its runner."""
        runner = Noting(self.records, self.clock, dies=dies)
        windows = Windows(
            store=self.records.sleep,
            schedules=self.records.schedules,
            clock=self.clock,
            default=default,
        )
        scheduler = Scheduler(
            windows=windows,
            store=self.records.sleep,
            runner=runner,
            index=NoIndex(),  # type: ignore[arg-type]  # it is only told to follow
            clock=self.clock,
        )
        return scheduler, runner

    def look(self, *schedulers: Scheduler) -> list[SleepRun]:
        """What the schedulers begin, one after the other; their jobs have ended."""

        async def looks() -> list[SleepRun]:
            runs = []
            for one in schedulers:
                runs += await one.look()
                await one.idle()
            return runs

        return asyncio.run(looks())

    def say(self, tenant: TenantId, text: str) -> None:
        """A message now."""
        said = NewMessage(
            conversation="main",
            external_id=None,
            role=Role.USER,
            speaker="Ida",
            content=text,
            said_at=self.clock.now(),
            zone="UTC",
        )
        self.records.messages.accept(
            Scope(tenant=tenant, collection="ida"), [said], now=self.clock.now()
        )


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    place = Town(f"sqlite:///{tmp_path / 'records.sqlite'}")
    yield place
    place.records.close()


def test_a_window_has_one_run_however_many_schedulers_look(town: Town) -> None:
    town.records.schedules.set_schedule(ACME, OSLO)
    first, second = town.scheduler()[0], town.scheduler()[0]

    before = town.look(first, second)
    town.clock.advance(timedelta(hours=5, minutes=30))
    begun = town.look(first, second, first, second)

    (run,) = begun
    start = datetime(2025, 6, 2, 1, tzinfo=UTC)
    assert before == []
    assert (run.tenant, run.window_start, run.deadline) == (ACME, start, start + timedelta(hours=2))
    assert (run.trigger, run.max_tokens) == (Trigger.WINDOW, 500)
    assert len(town.records.sleep.runs(ACME)) == 1


def test_windows_that_begin_together_share_a_job_and_the_next_night_has_its_own_run(
    town: Town,
) -> None:
    scheduler, runner = town.scheduler(default=Schedule(cron="0 3 * * *", max_s=3600))
    town.clock.advance(timedelta(hours=7))

    town.look(scheduler)
    town.clock.advance(timedelta(days=1))
    town.look(scheduler)

    assert [[run.tenant for run in job] for job in runner.jobs] == [[ACME, GLOBEX]] * 2
    assert len(town.records.sleep.runs(ACME)) == 2


def test_the_services_schedule_is_read_in_the_tenants_zone(town: Town) -> None:
    town.records.schedules.set_schedule(ACME, OSLO)
    town.records.schedules.set_schedule(ACME, None)
    default = Schedule(cron="0 3 * * *")

    assert town.records.schedules.schedule(ACME) is None
    zones = {
        tenant: one.zone
        for tenant, one in town.records.schedules.schedules(default=default).items()
    }
    assert zones == {ACME: "Europe/Oslo", GLOBEX: "UTC"}


def test_a_tenant_that_is_asleep_or_switched_off_begins_no_other_run(town: Town) -> None:
    scheduler, runner = town.scheduler(default=Schedule(cron="* * * * *", max_s=3600))
    town.records.tenants.disable(GLOBEX, now=EVENING)
    town.records.sleep.open_run(
        SleepRun(
            id=_id("by hand"),
            tenant=ACME,
            window_start=EVENING,
            dry_run=False,
            status="running",
            started_at=EVENING,
            seen_at=EVENING,
        )
    )

    town.look(scheduler)

    assert runner.jobs == []


def test_a_silence_begins_a_run_once_where_something_is_due(town: Town) -> None:
    town.records.schedules.set_schedule(ACME, Schedule(idle_s=1800, max_s=600))
    scheduler, _ = town.scheduler()
    town.say(ACME, "I grow peas.")

    town.clock.advance(timedelta(minutes=40))
    nothing_due = town.look(scheduler)

    assert nothing_due == []


def test_a_dead_job_is_followed_by_another_until_it_died_too_often(town: Town) -> None:
    town.records.schedules.set_schedule(ACME, OSLO)
    scheduler, runner = town.scheduler(dies=True)
    town.clock.advance(timedelta(hours=5))

    for _ in range(MOST_ATTEMPTS + 3):
        town.look(scheduler)
        town.clock.advance(timedelta(minutes=2))

    (run,) = town.records.sleep.runs(ACME)
    assert [job[0].attempt for job in runner.jobs] == list(range(1, MOST_ATTEMPTS + 1))
    assert (run.status, run.error) == ("failed", f"its job died {MOST_ATTEMPTS} times")


def test_a_dead_job_is_not_followed_after_its_window(town: Town) -> None:
    town.records.schedules.set_schedule(ACME, OSLO)
    scheduler, runner = town.scheduler(dies=True)
    town.clock.advance(timedelta(hours=6, minutes=59, seconds=30))

    town.look(scheduler)
    town.clock.advance(timedelta(minutes=5))
    town.look(scheduler)

    (run,) = town.records.sleep.runs(ACME)
    assert len(runner.jobs) == 1
    assert (run.status, run.stop) == ("stopped", Stop.WINDOW)


def test_a_dead_run_over_some_entries_is_not_gone_on_with(town: Town) -> None:
    scheduler, runner = town.scheduler()
    town.records.sleep.open_run(
        SleepRun(
            id=_id("some"),
            tenant=ACME,
            window_start=EVENING,
            dry_run=False,
            status="running",
            started_at=EVENING,
            seen_at=EVENING,
            options=RunOptions(is_filtered=True),
        )
    )
    town.clock.advance(timedelta(minutes=2))

    town.look(scheduler)

    (run,) = town.records.sleep.runs(ACME)
    assert runner.jobs == []
    assert (run.status, run.error) == ("failed", "its job died")


def _id(name: str) -> RunId:
    return RunId(name)
