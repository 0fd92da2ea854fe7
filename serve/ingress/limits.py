"""The size of request bodies, counted as they arrive; knows nothing of what is in them."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Event, Receive, Send], Awaitable[None]]


class BodyLimit:
    """Refuses a body over the limit, whether its length is told before or not at all.

    A path that ends as ``streamed`` is read piece by piece and needs no limit.
    """

    def __init__(self, app: App, *, body_bytes: int, streamed: str) -> None:
        self._app = app
        self._body_bytes = body_bytes
        self._streamed = streamed

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """One request. A body that is too large ends in an HTTPException with status 413."""
        if scope["type"] != "http" or scope["path"].endswith(self._streamed):
            await self._app(scope, receive, send)
            return
        seen = 0
        told = _told_length(scope)

        async def counted() -> Event:
            nonlocal seen
            if told > self._body_bytes:
                raise self._too_large(told)
            event = await receive()
            seen += len(event.get("body", b""))
            if seen > self._body_bytes:
                raise self._too_large(seen)
            return event

        await self._app(scope, counted, send)

    def _too_large(self, length: int) -> HTTPException:
        return HTTPException(413, f"expected at most {self._body_bytes} bytes, got {length}")


def _told_length(scope: Event) -> int:
    value = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0
