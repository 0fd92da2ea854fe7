"""The sleep job by hand: ``python -m serve.sleep_job --window NAME`` on the service's cluster.

Also as ``ray job submit --working-dir . -- python -m serve.sleep_job --window nightly``. Its
settings are those of the running service. Ends with 1 where a run failed.
"""

import argparse
import json
from collections.abc import Sequence
from datetime import timedelta

import ray
from ray import serve as ray_serve

from actors.clock import SystemClock
from actors.records import open_records
from pipeline.messages import TenantId
from pipeline.ports import Clock
from pipeline.runs import SleepRun, Trigger
from pipeline.sleep.windows import NIGHTLY, Window
from serve.runner import run_to_end
from serve.scheduler import Begun, Windows
from serve.settings import AppSettings
from serve.sleep_stages import RunPlan

_NOBODY = "no tenant that was asked for has an open window of this name that had no run yet"


def main(words: Sequence[str] | None = None) -> int:
    """The exit code; prints one JSON line per run."""
    asked = _arguments(words)
    ray.init(ignore_reinit_error=True, log_to_driver=False)
    settings = service_settings()
    runs = open_runs(settings, window=asked.window, tenant=asked.tenant, is_now=asked.now)
    if not runs:
        print(json.dumps({"window": asked.window, "runs": [], "why": _NOBODY}))
        return 0
    ended = run_to_end([RunPlan(run=run) for run in runs], settings)
    for run in ended.values():
        print(json.dumps(_line(run), ensure_ascii=False))
    return int(any(run.status == "failed" for run in ended.values()))


def service_settings() -> AppSettings:
    """The settings of the service that runs on this cluster."""
    ingress = ray_serve.get_deployment_handle("Ingress", app_name="slowwave")
    settings: AppSettings = ingress.settings.remote().result()
    return settings


def open_runs(
    settings: AppSettings, *, window: str, tenant: str | None, is_now: bool
) -> list[SleepRun]:
    """The new runs of the window of this name, each the one of its tenant and its start.

    Args:
        tenant: only this one's.
        is_now: open a window now, whatever the cron says.
    """
    records, clock = open_records(settings.records_url), SystemClock()
    windows = Windows(
        store=records.sleep,
        schedules=records.schedules,
        clock=clock,
        default=settings.default_schedule,
    )
    begun = _now(windows, clock) if is_now else windows.begun()
    mine = [
        one
        for one in begun
        if one.schedule.name == window and tenant in (None, one.tenant) and windows.is_free(one)
    ]
    runs = [run for one in mine if (run := windows.opened(one)) is not None]
    records.close()
    return runs


def _now(windows: Windows, clock: Clock) -> list[Begun]:
    now = clock.now()
    return [
        Begun(
            tenant=TenantId(tenant),
            schedule=schedule,
            window=Window(start=now, end=now + timedelta(seconds=schedule.max_s)),
            trigger=Trigger.ASKED,
        )
        for tenant, schedule in windows.schedules().items()
    ]


def _line(run: SleepRun) -> dict[str, object]:
    return {
        "run": run.id,
        "tenant": run.tenant,
        "status": run.status,
        "stop": run.stop,
        "totals": dict(run.totals),
        "error": run.error,
    }


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m serve.sleep_job",
        description="Consolidate for every tenant whose window of this name is open.",
    )
    parser.add_argument("--window", default=NIGHTLY, help="the name of the window")
    parser.add_argument("--tenant", help="only this tenant")
    parser.add_argument("--now", action="store_true", help="open a window now")
    return parser.parse_args(words)
