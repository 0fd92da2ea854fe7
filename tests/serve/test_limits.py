"""What comes in slowly, or not at all, keeps nobody else out."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pipeline.errors import AccessError
from pipeline.settings import LimitSettings
from serve.ingress.limits import BYTES_PER_S, Doorway, Room

PIECE = b'{"messages": "'


async def everybody(header: str | None) -> None:
    """Lets every caller in."""


async def nobody(header: str | None) -> None:
    raise AccessError("expected an API key in the Authorization header, got none")


class Echo:
    """Answers with the length of the body, once ``gate`` is open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.started = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.started += 1
        await self.gate.wait()
        length, more = 0, True
        while more:
            event = await receive()
            length += len(event.get("body", b""))
            more = event.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(length).encode()})


@dataclass
class Sent:
    """A request of which only these pieces ever come, one per ``every_s`` seconds."""

    pieces: Sequence[bytes] = ()
    is_whole: bool = False
    every_s: float = 0.0
    path: str = "/v1/collections/h/messages"
    events: list[dict[str, Any]] = field(default_factory=list)

    async def to(self, app: Callable[..., Awaitable[None]]) -> tuple[int, str]:
        """Status and body of the reply."""
        left = list(self.pieces)

        async def receive() -> dict[str, Any]:
            if not left and not (self.is_whole and not self.pieces):
                await asyncio.Event().wait()
            await asyncio.sleep(self.every_s)
            body = left.pop(0) if left else b""
            more = bool(left) or not self.is_whole
            return {"type": "http.request", "body": body, "more_body": more}

        async def send(event: dict[str, Any]) -> None:
            self.events.append(event)

        told = sum(map(len, self.pieces)) + (0 if self.is_whole else 400)
        headers = [(b"content-length", str(told).encode())] if self.pieces else []
        scope = {"type": "http", "method": "POST", "path": self.path, "headers": headers}
        await app(scope, receive, send)
        body = b"".join(event.get("body", b"") for event in self.events)
        return self.events[0]["status"], body.decode()

    def header(self, name: bytes) -> bytes:
        found: bytes = dict(self.events[0]["headers"])[name]
        return found


def doorway(app: Any, *, knock: Any = everybody, room: Room | None = None, **limits: Any) -> Any:
    return Doorway(
        app,
        limits=LimitSettings(**limits),
        room=room or Room(working=2, waiting=2),
        knock=knock,
        streamed="/import",
        always=frozenset(("/healthz",)),
    )


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():
            await asyncio.sleep(0.001)


def test_a_body_that_stops_coming_is_answered_with_408_in_the_shape_of_every_error() -> None:
    sent = Sent([PIECE])

    status, body = asyncio.run(sent.to(doorway(Echo(), body_s=0.05)))

    assert status == 408
    assert json.loads(body)["error"]["type"] == "TooSlow"
    assert json.loads(body)["error"]["field"] == "body"
    assert sent.header(b"connection") == b"close"


def test_half_sent_imports_take_no_place_at_work_and_end_with_408() -> None:
    async def ask() -> tuple[tuple[int, str], set[int], int]:
        door = doorway(Echo(), body_s=0.3)
        path = "/v1/collections/h/import"
        half = [asyncio.create_task(Sent([PIECE], path=path).to(door)) for _ in range(5)]
        await asyncio.sleep(0.01)
        other = await Sent([PIECE], is_whole=True).to(door)
        stopped = {(await each)[0] for each in half}
        return other, stopped, (await Sent([PIECE], is_whole=True, path=path).to(door))[0]

    other, stopped, whole = asyncio.run(ask())

    assert other == (200, str(len(PIECE)))
    assert (stopped, whole) == ({408}, 200)


def test_a_slow_body_that_keeps_coming_is_taken() -> None:
    pieces = [b"x" * BYTES_PER_S] * 4

    status, body = asyncio.run(
        Sent(pieces, is_whole=True, every_s=0.1).to(doorway(Echo(), body_s=0.2))
    )

    assert (status, body) == (200, str(4 * BYTES_PER_S))


def test_half_sent_requests_take_no_place_at_work() -> None:
    async def ask() -> list[tuple[int, str]]:
        app = Echo()
        door = doorway(app, arriving_bodies=200)
        half = [asyncio.create_task(Sent([PIECE]).to(door)) for _ in range(110)]
        await asyncio.sleep(0.01)
        answers = [
            await Sent(is_whole=True, path=path).to(door) for path in ("/healthz", "/v1/tenants")
        ]
        answers.append(await Sent([PIECE], is_whole=True).to(door))
        for each in half:
            each.cancel()
        assert app.started == 3
        return answers

    answers = asyncio.run(ask())

    assert answers == [(200, "0"), (200, "0"), (200, str(len(PIECE)))]


def test_more_requests_on_their_way_than_there_is_room_for_are_refused_until_one_ends() -> None:
    async def ask() -> list[int]:
        door = doorway(Echo(), arriving_bodies=1, body_s=0.1)
        half = asyncio.create_task(Sent([PIECE]).to(door))
        await asyncio.sleep(0.01)
        refused = Sent([PIECE], is_whole=True)
        found = [(await refused.to(door))[0], (await half)[0]]
        assert refused.header(b"retry-after") == b"1"
        return [*found, (await Sent([PIECE], is_whole=True).to(door))[0]]

    assert asyncio.run(ask()) == [429, 408, 200]


def test_whole_requests_wait_for_a_place_and_beyond_that_are_refused() -> None:
    async def ask() -> tuple[int, list[int]]:
        app = Echo()
        app.gate.clear()
        door = doorway(app, room=Room(working=1, waiting=1))
        asked = [Sent([PIECE], is_whole=True) for _ in range(3)]
        tasks = [asyncio.create_task(each.to(door)) for each in asked]
        await until(lambda: bool(asked[2].events))
        at_work = app.started
        app.gate.set()
        statuses = [(await task)[0] for task in tasks]
        assert asked[2].header(b"retry-after") == b"1"
        return at_work, statuses

    assert asyncio.run(ask()) == (1, [200, 200, 429])


def test_a_client_that_leaves_gives_its_place_in_the_line_back() -> None:
    async def ask() -> int:
        app = Echo()
        app.gate.clear()
        door = doorway(app, room=Room(working=1, waiting=1))
        first, second = (
            asyncio.create_task(Sent([PIECE], is_whole=True).to(door)) for _ in range(2)
        )
        await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.sleep(0.01)
        third = asyncio.create_task(Sent([PIECE], is_whole=True).to(door))
        await asyncio.sleep(0.01)
        app.gate.set()
        await first
        return (await third)[0]

    assert asyncio.run(ask()) == 200


def test_whoever_has_no_key_is_refused_before_the_body_has_come() -> None:
    sent = Sent([PIECE])

    status, body = asyncio.run(sent.to(doorway(Echo(), knock=nobody, body_s=60)))

    assert (status, json.loads(body)["error"]["type"]) == (401, "AccessError")
    assert sent.header(b"connection") == b"close"


def test_after_the_whole_body_the_wait_for_the_client_to_leave_has_no_end() -> None:
    async def watching(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(receive(), 0.1)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    sent = Sent([PIECE], is_whole=True)

    assert asyncio.run(sent.to(doorway(watching, body_s=0.01)))[0] == 200
