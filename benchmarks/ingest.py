"""Ingestion: how fast messages are acknowledged, and what the framework costs beside its models.

Models are stand-ins: what is measured is HTTP, Serve, the record store, the walk and the index.
The load comes from this process, on the same machine.
"""

import argparse
import http.client
import json
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from benchmarks.stand_in import Running, service, settings
from pipeline.evaluate.report import Claim, Report, at_least, at_most
from serve.client import Client
from serve.evaluation.machine import machine
from serve.evaluation.screen import show
from serve.version import VERSION

BATCH = 50
CONNECTIONS = 4
COLLECTIONS = 40
NEVER_S = 100_000
SUBJECTS = ("The kettle", "My bicycle", "Our garden", "她的相机", "旧收音机", "Her notebook")


def main() -> None:
    """Measures, prints a table, and with ``--json`` ends with one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer messages")
    parser.add_argument("--json", action="store_true", help="end with one JSON line")
    args = parser.parse_args()
    accepted, walked, grown = (6_000, 4_000, 8_000) if args.quick else (30_000, 10_000, 100_000)
    claims = [*_accepting(accepted), *_walking(walked, grown)]
    report = Report(
        name="ingest",
        version=VERSION,
        config={"batch": BATCH, "connections": CONNECTIONS, "accepted": accepted, "walked": grown},
        machine=machine(),
        claims=tuple(claims),
    )
    show(report, as_json=args.json)


# Accepting ----------------------------------------------------------------------------------------


def _accepting(messages: int) -> list[Claim]:
    """The accept path alone: workers do not look for work meanwhile."""
    with service(settings(workers={"poll_s": NEVER_S})) as running:
        _post(running.url, _bodies(BATCH * CONNECTIONS, "warm"))
        began = time.monotonic()
        times = sorted(_post(running.url, _bodies(messages, "m")))
        rate = messages / (time.monotonic() - began)
    return [
        at_least("accepted over HTTP, SQLite", rate, 3_000, unit="messages/s"),
        Claim(claim="acknowledgement p50", value=_at(times, 0.5), unit="ms"),
        Claim(claim="acknowledgement p99", value=_at(times, 0.99), unit="ms"),
    ]


def _at(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(share * len(times)))] * 1_000


def _bodies(messages: int, name: str) -> list[tuple[str, bytes]]:
    """Requests of fifty messages each, spread over the collections, ready to be sent."""
    return [
        (f"{name}-{number}", json.dumps(_request(number, name)).encode())
        for number in range(messages // BATCH)
    ]


def _request(number: int, name: str) -> dict[str, object]:
    return {
        "conversation": f"talk-{number % 3}",
        "messages": [_message(f"{name}-{number}-{place}", place) for place in range(BATCH)],
    }


def _message(name: str, place: int) -> dict[str, object]:
    subject = SUBJECTS[place % len(SUBJECTS)]
    number = zlib.crc32(name.encode())
    return {
        "role": "user",
        "speaker": "Mara",
        "content": f"{subject} stands in the kitchen since we moved, its number is {number}.",
        "message_id": name,
        "said_at": f"2025-03-01T10:{place:02}:00Z",
    }


def _post(url: str, bodies: Sequence[tuple[str, bytes]]) -> list[float]:
    """Seconds until each acknowledgement, over a few kept connections."""
    parts = [bodies[start::CONNECTIONS] for start in range(CONNECTIONS)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return [
            took for part in pool.map(lambda part: _post_all(url, part), parts) for took in part
        ]


def _post_all(url: str, bodies: Sequence[tuple[str, bytes]]) -> list[float]:
    times: list[float] = []
    connection = http.client.HTTPConnection(str(urlsplit(url).netloc), timeout=60)
    for key, body in bodies:
        path = f"/v1/collections/c{int(key.rsplit('-', 1)[1]) % COLLECTIONS}/messages"
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


# The whole walk -----------------------------------------------------------------------------------


def _walking(first: int, last: int) -> list[Claim]:
    """CPU per message through the whole pipeline, and memory as the store grows."""
    with service(settings()) as running:
        _walk(running, BATCH * COLLECTIONS, "warm")
        idle = _idle_share(running)
        before, began = running.cpu_s(), time.monotonic()
        _walk(running, first, "first")
        took = time.monotonic() - began
        spent = running.cpu_s() - before - idle * took
        small = _memory(running)
        _walk(running, last - first, "more")
        large = _memory(running)
    growth = [
        at_most(f"memory of {name}: growth", large[name] / small[name], 1.1, unit="ratio")
        for name in small
    ]
    cost = at_most("CPU per message above idle", spent / first * 1_000, 1.0, unit="ms")
    rate = Claim(claim="whole pipeline", value=first / took, unit="messages/s")
    return [cost, rate, *growth]


def _idle_share(running: Running, seconds: float = 15.0) -> float:
    """CPU seconds a second of the service with nothing to do."""
    before = running.cpu_s()
    time.sleep(seconds)
    return (running.cpu_s() - before) / seconds


def _memory(running: Running) -> dict[str, int]:
    return {name: running.resident_bytes(name) for name in ("IngestWorkers", "Ingress")}


def _walk(running: Running, messages: int, name: str) -> None:
    """Returns when all of it is extracted and searchable."""
    _post(running.url, _bodies(messages, name))
    with Client(running.url) as client:
        names = [each["collection"] for each in client.collections()]
        for collection in names:
            client.flush(collection)
        for collection in names:
            if not client.flush(collection, wait=True)["searchable"]:
                raise RuntimeError(f"{collection} was not extracted in time")


if __name__ == "__main__":
    main()
