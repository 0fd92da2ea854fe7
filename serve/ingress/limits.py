"""What a request must keep to on its way in: size, time, a key and room; not what is in it.

A body is read whole before its request takes a place among those at work, so one that never comes
keeps nobody out.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.exceptions import HTTPException

from pipeline.errors import LimitError, SlowwaveError
from pipeline.settings import LimitSettings
from serve.ingress.errors import on_http_error, on_slowwave_error

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Event, Receive, Send], Awaitable[None]]
Knock = Callable[[str | None], Awaitable[object]]
"""Raises for an Authorization header that lets nobody in."""

BYTES_PER_S = 64 * 1024
"""So many bytes of a body buy it one more second."""

_RETRY_S = 1.0
_CLOSE = {"Connection": "close"}
"""What is left of a refused body is not worth reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many whole requests are at work at once, and how many more may wait for that."""

    working: int = 64
    waiting: int = 1_000


class Doorway:
    """Lets a request in when its body is there and others have left a place at work.

    A path that ends as ``streamed`` is read piece by piece and may be of any size.
    One that is in ``always`` has no body and is answered whatever else is going on.
    """

    def __init__(
        self,
        app: App,
        *,
        limits: LimitSettings,
        room: Room,
        knock: Knock,
        streamed: str,
        always: frozenset[str],
    ) -> None:
        self._app = app
        self._limits = limits
        self._room = room
        self._knock = knock
        self._streamed = streamed
        self._always = always
        self._places = asyncio.Semaphore(room.working)
        self._waiting = 0
        self._arriving = 0

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """One request; a refusal is answered here, in the shape of every error."""
        if scope["type"] != "http" or scope["path"] in self._always:
            await self._app(scope, receive, send)
            return
        is_streamed = scope["path"].endswith(self._streamed) and _has_body(scope)
        let_in = self._let_stream_in if is_streamed else self._let_in
        try:
            await let_in(scope, receive, send)
        except (HTTPException, SlowwaveError) as error:
            await _refuse(error, scope, receive, send)
        except _Gone:
            return

    async def _let_in(self, scope: Event, receive: Receive, send: Send) -> None:
        """The application gets the whole body at once."""
        body = _Body(receive, self._limits, is_limited=True)
        inside: Receive = body.receive
        if _has_body(scope):
            body.check(_told_length(scope))
            async with self._arrival():
                await self._knock(_header(scope, b"authorization"))
                inside = await body.whole()
        await self._take_place()
        try:
            await self._app(scope, inside, send)
        finally:
            self._places.release()

    async def _let_stream_in(self, scope: Event, receive: Receive, send: Send) -> None:
        """The application gets the pieces as they come, and after the last one a place at work."""
        body = _Body(receive, self._limits, is_limited=False)
        is_at_work = False

        async def inside() -> Event:
            nonlocal is_at_work
            event = await body.receive()
            if body.is_whole and not is_at_work:
                await self._take_place()
                is_at_work = True
            return event

        try:
            async with self._arrival():
                await self._knock(_header(scope, b"authorization"))
                await self._app(scope, inside, send)
        finally:
            if is_at_work:
                self._places.release()

    @asynccontextmanager
    async def _arrival(self) -> AsyncIterator[None]:
        """A place among the requests whose body is still coming. Raises LimitError."""
        most = self._limits.arriving_bodies
        if self._arriving >= most:
            raise LimitError(
                f"{most} requests are still being sent, more are not taken",
                retry_after_s=_RETRY_S,
                field="body",
                limit=most,
                current=self._arriving,
            )
        self._arriving += 1
        try:
            yield
        finally:
            self._arriving -= 1

    async def _take_place(self) -> None:
        """Waits for a place at work, first come, first served. Raises LimitError."""
        if self._places.locked() and self._waiting >= self._room.waiting:
            raise LimitError(
                "the service has more requests than it may keep waiting",
                retry_after_s=_RETRY_S,
                limit=self._room.waiting,
                current=self._waiting,
            )
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1


class _Gone(Exception):
    """The client left before its request was whole."""


class _Body:
    """One request's body: its size and the time it may take to come."""

    def __init__(self, receive: Receive, limits: LimitSettings, *, is_limited: bool) -> None:
        self._receive = receive
        self._limits = limits
        self._is_limited = is_limited
        self._seen = 0
        self._waited_s = 0.0
        self.is_whole = False

    def check(self, length: int) -> None:
        """Raises HTTPException with status 413 for a body of more bytes than one may have."""
        most = self._limits.body_bytes
        if self._is_limited and length > most:
            detail = f"expected at most {most} bytes, got {length}"
            raise HTTPException(413, detail, headers=_CLOSE)

    async def receive(self) -> Event:
        """The next piece; after the last one whatever comes, however long that takes.

        Raises:
            HTTPException: 408 where it does not come in time, 413 where it is too much.
        """
        event = await (self._receive() if self.is_whole else self._in_time())
        self.is_whole = self.is_whole or not event.get("more_body", False)
        self._seen += len(event.get("body", b""))
        self.check(self._seen)
        return event

    async def _in_time(self) -> Event:
        """Only waiting counts: what the service does between two pieces is not the client's."""
        may_take_s = self._limits.body_s + self._seen / BYTES_PER_S
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(may_take_s - self._waited_s):
                return await self._receive()
        except TimeoutError as exc:
            detail = f"expected the body within {may_take_s:.0f} s, got {self._seen} bytes of it"
            raise HTTPException(408, detail, headers=_CLOSE) from exc
        finally:
            self._waited_s += clock() - began

    async def whole(self) -> Receive:
        """Reads to the end; what the application then receives from. Raises _Gone."""
        pieces: list[bytes] = []
        while not self.is_whole:
            event = await self.receive()
            if event["type"] == "http.disconnect":
                raise _Gone
            pieces.append(event.get("body", b""))
        unread = [{"type": "http.request", "body": b"".join(pieces), "more_body": False}]

        async def receive() -> Event:
            return unread.pop() if unread else await self._receive()

        return receive


async def _refuse(
    error: HTTPException | SlowwaveError, scope: Event, receive: Receive, send: Send
) -> None:
    request = Request(scope)
    if isinstance(error, SlowwaveError):
        reply = await on_slowwave_error(request, error)
        reply.headers.update(_CLOSE)
    else:
        reply = await on_http_error(request, error)
    await reply(scope, receive, send)


def _has_body(scope: Event) -> bool:
    return _told_length(scope) > 0 or _header(scope, b"transfer-encoding") is not None


def _told_length(scope: Event) -> int:
    value = _header(scope, b"content-length") or ""
    return int(value) if value.isdecimal() else 0


def _header(scope: Event, name: bytes) -> str | None:
    found: bytes | None = dict(scope["headers"]).get(name)
    return None if found is None else found.decode("latin-1")
