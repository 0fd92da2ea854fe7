"""The HTTP application: every route over one Memory and one Sleep. Knows nothing of Ray."""

from fastapi import FastAPI

from pipeline.settings import LimitSettings
from serve.ingress import errors
from serve.ingress.access import Caller, bearer
from serve.ingress.answers import answer_routes
from serve.ingress.collection_settings import settings_routes
from serve.ingress.collections import collection_routes, message_routes, recall_routes
from serve.ingress.contexts import context_routes
from serve.ingress.entries import entry_routes
from serve.ingress.lifecycle import lifecycle_routes
from serve.ingress.limits import Doorway, Room
from serve.ingress.operations import ingest_routes, quarantine_routes, tenant_routes
from serve.ingress.recalls import recalls_routes
from serve.ingress.scratchpad import forgetting_routes, scratchpad_routes
from serve.ingress.search import search_routes
from serve.ingress.sleep import sleep_routes
from serve.ingress.sleep_schedule import schedule_routes
from serve.ingress.usage import usage_routes
from serve.ingress.views import HealthOut
from serve.lifecycle import Lifecycle
from serve.service import Memory
from serve.sleeping import Sleep
from serve.version import VERSION


def build_api(
    memory: Memory,
    sleep: Sleep,
    lifecycle: Lifecycle,
    *,
    limits: LimitSettings,
    room: Room = Room(),  # noqa: B008  (frozen)
) -> FastAPI:
    """The application's routes, errors and limits."""
    # A redirect would turn the path of one thing into that of another, and DELETE follows it.
    api = FastAPI(
        title="Slowwave",
        version=VERSION,
        description=__doc__,
        redirect_slashes=False,
        responses=errors.RESPONSES,
    )
    errors.install(api)
    caller = Caller(memory.gate)
    api.include_router(collection_routes(memory, caller))
    api.include_router(settings_routes(memory.settings, caller))
    api.include_router(message_routes(memory, limits, caller))
    api.include_router(search_routes(memory, caller))
    api.include_router(recall_routes(memory, caller))
    api.include_router(context_routes(memory, caller))
    api.include_router(recalls_routes(memory.recalls, caller))
    api.include_router(answer_routes(memory, caller))
    api.include_router(entry_routes(memory, caller))
    api.include_router(scratchpad_routes(memory, memory.scratchpads, caller))
    api.include_router(forgetting_routes(memory, memory.scratchpads, caller))
    api.include_router(sleep_routes(memory, sleep, caller))
    api.include_router(schedule_routes(sleep, caller))
    api.include_router(ingest_routes(memory.operations, caller))
    api.include_router(quarantine_routes(memory.operations, caller))
    api.include_router(usage_routes(memory.operations, caller))
    api.include_router(tenant_routes(memory.operations, caller))
    api.include_router(lifecycle_routes(lifecycle, caller))
    _health(api, memory)
    _door(api, memory, limits=limits, room=room)
    return api


def _door(api: FastAPI, memory: Memory, *, limits: LimitSettings, room: Room) -> None:
    async def knock(header: str | None) -> None:
        await memory.gate.identity(bearer(header))

    api.add_middleware(
        Doorway,
        limits=limits,
        room=room,
        knock=knock,
        streamed="/import",
        always=frozenset(("/healthz",)),
    )


def _health(api: FastAPI, memory: Memory) -> None:
    @api.get("/healthz", tags=["health"])
    async def healthz() -> HealthOut:
        return HealthOut(status="ok", version=VERSION)

    @api.get("/readyz", tags=["health"])
    async def readyz() -> HealthOut:
        await memory.ready()
        return HealthOut(status="ready", version=VERSION)
