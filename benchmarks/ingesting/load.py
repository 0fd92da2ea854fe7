"""The load: made-up messages over kept connections, and the wait until they are searchable."""

import http.client
import json
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from pydantic import JsonValue

from serve.client import Client

BATCH = 50
CONNECTIONS = 4
COLLECTIONS = 40
SUBJECTS = ("The kettle", "My bicycle", "Our garden", "她的相机", "旧收音机", "Her notebook")

Body = tuple[str, bytes]
"""An idempotency key, which ends in the request's number, and the request."""


def bodies(messages: int, name: str) -> list[Body]:
    """Requests of fifty messages each, ready to be sent."""
    return [
        (f"{name}-{number}", json.dumps(_request(number, name)).encode())
        for number in range(messages // BATCH)
    ]


def _request(number: int, name: str) -> dict[str, object]:
    return {"conversation": f"talk-{number % 3}", "messages": made_up(f"{name}-{number}", BATCH)}


def made_up(name: str, count: int) -> list[dict[str, JsonValue]]:
    """Messages with ids that begin with the name; no text comes twice."""
    return [_message(f"{name}-{place}", place) for place in range(count)]


def _message(name: str, place: int) -> dict[str, JsonValue]:
    subject = SUBJECTS[place % len(SUBJECTS)]
    number = zlib.crc32(name.encode())
    return {
        "role": "user",
        "speaker": "Mara",
        "content": f"{subject} stands in the kitchen since we moved, its number is {number}.",
        "message_id": name,
        "said_at": f"2025-03-01T10:{place % 60:02}:00Z",
    }


def post(url: str, wanted: Sequence[Body], *, collections: int = COLLECTIONS) -> list[float]:
    """Seconds until each acknowledgement, over a few kept connections."""
    parts = [wanted[start::CONNECTIONS] for start in range(CONNECTIONS)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        each = pool.map(lambda part: _post_all(url, part, collections), parts)
        return [took for part in each for took in part]


def _post_all(url: str, wanted: Sequence[Body], collections: int) -> list[float]:
    times: list[float] = []
    connection = http.client.HTTPConnection(str(urlsplit(url).netloc), timeout=60)
    for key, body in wanted:
        path = f"/v1/collections/c{int(key.rsplit('-', 1)[1]) % collections}/messages"
        headers = {"content-type": "application/json", "idempotency-key": key}
        began = time.monotonic()
        connection.request("POST", path, body, headers)
        reply = connection.getresponse()
        text = reply.read()
        times.append(time.monotonic() - began)
        if reply.status != 202:
            raise RuntimeError(f"expected 202, got {reply.status}: {text[:200]!r}")
    connection.close()
    return times


def settle(url: str) -> None:
    """Returns when all that was accepted is extracted and searchable."""
    with Client(url) as client:
        names = [str(each["collection"]) for each in client.collections()]
        for name in names:
            client.flush(name)
        for name in names:
            if not client.flush(name, wait=True)["searchable"]:
                raise RuntimeError(f"{name} was not extracted in time")


def walk(url: str, messages: int, name: str) -> None:
    """So many messages in, extracted and searchable."""
    post(url, bodies(messages, name))
    settle(url)


def at(times: Sequence[float], share: float) -> float:
    """The value that ``share`` of the times lie below."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
