"""Routes of when a tenant sleeps."""

from typing import Annotated, Self

from fastapi import APIRouter, Depends

from pipeline.sleep.windows import Schedule
from serve.ingress.access import Caller
from serve.ingress.sleep_bodies import ScheduleIn
from serve.ingress.views import Instant, View
from serve.sleeping import Sleep, Told


class ScheduleOut(View):
    """A schedule; ``is_own`` says that it is the tenant's, not the service's."""

    name: str
    cron: str | None
    zone: str
    max_s: float
    max_tokens: int | None
    idle_s: float | None
    is_own: bool

    @classmethod
    def of(cls, schedule: Schedule, *, is_own: bool) -> Self:
        """The schedule's view."""
        return cls(
            name=schedule.name,
            cron=schedule.cron,
            zone=schedule.zone,
            max_s=schedule.max_s,
            max_tokens=schedule.max_tokens,
            idle_s=schedule.idle_s,
            is_own=is_own,
        )


class WindowOut(View):
    """From when to when."""

    start: Instant
    end: Instant


class NightsOut(View):
    """The schedule in force, if there is one, and the next window of its cron."""

    schedule: ScheduleOut | None
    next: WindowOut | None

    @classmethod
    def of(cls, told: Told) -> Self:
        """The view of what the service tells."""
        window = told.next
        return cls(
            schedule=None
            if told.schedule is None
            else ScheduleOut.of(told.schedule, is_own=told.is_own),
            next=None if window is None else WindowOut(start=window.start, end=window.end),
        )


def schedule_routes(sleep: Sleep, caller: Caller) -> APIRouter:
    """When the caller's tenant sleeps."""
    routes = APIRouter(prefix="/v1/sleep/schedule", tags=["sleep"])

    @routes.get("")
    async def get_schedule(tenant: Annotated[str, Depends(caller.tenant)]) -> NightsOut:
        return NightsOut.of(await sleep.schedule(caller.known(tenant)))

    @routes.put("")
    async def set_schedule(
        tenant: Annotated[str, Depends(caller.tenant)], body: ScheduleIn
    ) -> NightsOut:
        known = caller.known(tenant)
        zone = body.zone or await sleep.zone(known)
        return NightsOut.of(await sleep.set_schedule(known, body.schedule(zone)))

    @routes.delete("")
    async def drop_schedule(tenant: Annotated[str, Depends(caller.tenant)]) -> NightsOut:
        return NightsOut.of(await sleep.set_schedule(caller.known(tenant), None))

    return routes
