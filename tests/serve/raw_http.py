"""One HTTP request into an ASGI application, byte for byte as a server would hand it over.

Clients of HTTP tidy paths and headers up before they send them; nothing is tidied here.
"""

import asyncio
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

Header = tuple[bytes, bytes]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What goes over the wire; ``target`` is path and query, percent-encoded ASCII."""

    method: str
    target: str
    headers: tuple[Header, ...] = ()
    body: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What comes back; ``error`` is the traceback of what the application did not catch."""

    status: int
    headers: tuple[Header, ...]
    body: bytes
    error: str | None = None

    @property
    def is_success(self) -> bool:
        """Whether the request was granted."""
        return 200 <= self.status < 300


async def ask(app: Any, request: Request) -> Reply:
    """The application's reply."""
    exchange = _Exchange(request.body)
    error = None
    try:
        await app(_scope(request), exchange.receive, exchange.send)
    except Exception:  # a server would answer 500 with it, and so does a test
        error = traceback.format_exc()
    return Reply(
        status=500 if error else exchange.status,
        headers=tuple(exchange.headers),
        body=bytes(exchange.body),
        error=error,
    )


def _scope(request: Request) -> dict[str, Any]:
    path, _, query = request.target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }


class _Exchange:
    def __init__(self, body: bytes) -> None:
        self.status = 0
        self.headers: Sequence[Header] = ()
        self.body = bytearray()
        self._unsent: list[bytes] = [body]

    async def receive(self) -> dict[str, Any]:
        if self._unsent:
            return {"type": "http.request", "body": self._unsent.pop(), "more_body": False}
        await asyncio.Event().wait()  # the client stays until it has its answer
        raise AssertionError("nobody sets the event")

    async def send(self, event: dict[str, Any]) -> None:
        if event["type"] == "http.response.start":
            self.status, self.headers = event["status"], event["headers"]
        else:
            self.body += event.get("body", b"")
