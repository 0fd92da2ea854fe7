"""The HTTP application: every route over one Memory and one Sleep. Knows nothing of Ray."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from pipeline.settings import LimitSettings
from serve.ingress import errors
from serve.ingress.access import Caller
from serve.ingress.collections import message_routes, recall_routes
from serve.ingress.entries import entry_routes
from serve.ingress.lifecycle import lifecycle_routes
from serve.ingress.sleep import sleep_routes
from serve.ingress.views import HealthOut
from serve.lifecycle import Lifecycle
from serve.service import Memory
from serve.sleeping import Sleep
from serve.version import VERSION

Next = Callable[[Request], Awaitable[Response]]


def build_api(
    memory: Memory, sleep: Sleep, lifecycle: Lifecycle, *, limits: LimitSettings
) -> FastAPI:
    """The application's routes, errors and limits."""
    api = FastAPI(title="Slowwave", version=VERSION, description=__doc__)
    errors.install(api)
    caller = Caller(memory)
    api.include_router(message_routes(memory, limits, caller))
    api.include_router(recall_routes(memory, caller))
    api.include_router(entry_routes(memory, caller))
    api.include_router(sleep_routes(memory, sleep, caller))
    api.include_router(lifecycle_routes(lifecycle, caller))
    _health(api, memory)
    _limit_body(api, limits.body_bytes)
    return api


def _health(api: FastAPI, memory: Memory) -> None:
    @api.get("/healthz", tags=["health"])
    async def healthz() -> HealthOut:
        return HealthOut(status="ok", version=VERSION)

    @api.get("/readyz", tags=["health"])
    async def readyz() -> HealthOut:
        await memory.ready()
        return HealthOut(status="ready", version=VERSION)


def _limit_body(api: FastAPI, body_bytes: int) -> None:
    @api.middleware("http")
    async def refuse_large(request: Request, call_next: Next) -> Response:
        length = request.headers.get("content-length", "0")
        if length.isdigit() and int(length) > body_bytes:
            message = f"expected at most {body_bytes} bytes, got {length}"
            body = {"error": {"type": "TooLarge", "message": message, "field": "body"}}
            return JSONResponse(body, status_code=413)
        return await call_next(request)
