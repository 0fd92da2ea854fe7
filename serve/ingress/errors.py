"""Errors as replies: the tree of ``pipeline.errors`` in one JSON shape, nothing echoed.

{"error": {"type": "NotFound", "message": "...", "field": "collection"}}
"""

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from pipeline.errors import LimitError, SlowwaveError, StoreError
from pipeline.refusals import place_of, reason

log = logging.getLogger("slowwave.ingress")


class ErrorOut(BaseModel):
    """What went wrong; ``limit`` and ``current`` only where a limit was reached."""

    type: str
    message: str
    field: str | None
    limit: int | None = None
    current: int | None = None


class RefusedOut(BaseModel):
    """The one shape of every error."""

    error: ErrorOut


RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": RefusedOut, "description": description}
    for status, description in {
        401: "No key, or none of ours",
        403: "The key may not do this",
        404: "There is no such thing, or it is another tenant's",
        408: "The body did not come in time",
        409: "It came before with other content, or changed meanwhile",
        413: "The request or a part of it is too large",
        422: "A field is not as it must be",
        429: "A quota or a limit is reached; Retry-After says when to come again",
        502: "A model failed",
        503: "A store cannot be used; Retry-After says when to come again",
    }.items()
}
"""What every route may answer besides its result, for the API's own description."""


def _reply(
    status: int,
    kind: str,
    message: str,
    *,
    field: str | None = None,
    headers: dict[str, str] | None = None,
    more: Mapping[str, int] | None = None,
) -> JSONResponse:
    printable = message.encode("utf-8", errors="backslashreplace").decode()
    body = {"error": {"type": kind, "message": printable, "field": field, **(more or {})}}
    return JSONResponse(body, status_code=status, headers=headers)


_PLACES = (("body",), ("query",), ("path",), ("header",))
"""Where a validator found a value; a field of that name may follow."""


def _field(location: Sequence[int | str]) -> str:
    """``messages[3].role`` from a validator's path."""
    inside = location[1:] if location[:1] in _PLACES else location
    text = ""
    for part in inside:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text.encode("utf-8", errors="backslashreplace").decode()


async def on_slowwave_error(request: Request, error: Exception) -> JSONResponse:
    """A typed error as its status."""
    assert isinstance(error, SlowwaveError)
    if error.status >= 500:
        log.error("%s %s: %s", request.method, request.url.path, error.message)
    return _reply(
        error.status,
        type(error).__name__,
        error.message,
        field=error.field,
        headers=_headers(error),
        more=_numbers(error),
    )


_STORE_RETRY_S = 5
"""When to come again after a store could not be used: it restarts, or somebody makes room."""


def _headers(error: SlowwaveError) -> dict[str, str] | None:
    if isinstance(error, LimitError):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after_s)))}
    if isinstance(error, StoreError):
        return {"Retry-After": str(_STORE_RETRY_S)}
    return {"WWW-Authenticate": "Bearer"} if error.status == 401 else None


def _numbers(error: SlowwaveError) -> dict[str, int]:
    """The limit and what came up against it, where an error knows them."""
    if not isinstance(error, LimitError):
        return {}
    found = {"limit": error.limit, "current": error.current}
    return {name: value for name, value in found.items() if value is not None}


async def on_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """A request of the wrong shape as 422, naming the first wrong field."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = _field(first["loc"])
    if first["type"] == "json_invalid":
        told = f"the body is not JSON: {first['ctx']['error']}"
        return _reply(422, "InputError", told, field="body")
    told = reason(first, _body_of(request), of=place_of(first)[1:])
    return _reply(422, "InputError", f"{field or 'body'}: {told}", field=field or "body")


def _body_of(request: Request) -> object:
    """What the route reads its body as; None where it reads none."""
    field = getattr(request.scope.get("route"), "body_field", None)
    return None if field is None else field.field_info.annotation


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """An unknown path or method, or a body that cannot be read, in the same shape."""
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        return _reply(422, "InputError", "the body cannot be read as JSON in UTF-8", field="body")
    kinds = {404: "NotFound", 405: "MethodNotAllowed", 408: "TooSlow", 413: "TooLarge"}
    kind = kinds.get(error.status_code, "InputError")
    field = "body" if error.status_code in (408, 413) else None
    headers = dict(error.headers or {})
    return _reply(error.status_code, kind, str(error.detail), field=field, headers=headers)


def install(api: FastAPI) -> None:
    """Every error of the application leaves in one shape."""
    api.add_exception_handler(SlowwaveError, on_slowwave_error)
    api.add_exception_handler(RequestValidationError, on_invalid_request)
    api.add_exception_handler(HTTPException, on_http_error)
