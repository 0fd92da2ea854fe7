"""Clients of many tenants that keep their own record of what was acknowledged."""

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx

Body = dict[str, Any]

SUBJECTS = ("The kettle", "My bicycle", "Our garden", "她的相机", "旧收音机", "Her notebook")
CONVERSATIONS = ("morning", "evening")
COLLECTION = "life"


@dataclass(frozen=True, slots=True)
class Said:
    """One message as its client knows it."""

    tenant: str
    conversation: str
    message_id: str
    text: str
    minute: int

    @property
    def body(self) -> Body:
        """As it is posted."""
        return {
            "role": "user",
            "speaker": "Mara",
            "content": self.text,
            "message_id": self.message_id,
            "said_at": f"2025-03-{1 + self.minute // 1440:02}T{self.minute // 60 % 24:02}:"
            f"{self.minute % 60:02}:00Z",
        }


def script(*, tenants: int, messages: int, seed: int) -> dict[str, list[list[Said]]]:
    """Per tenant its requests of one to four messages, the same for the same seed.

    Every tenth message repeats an earlier one of its tenant word for word.
    """
    draw = random.Random(seed)
    found: dict[str, list[list[Said]]] = {}
    for number in range(tenants):
        tenant = f"tenant-{number}"
        said: list[Said] = []
        for minute in range(messages // tenants):
            text = f"{draw.choice(SUBJECTS)} has number {draw.randrange(10**9):09}."
            if minute % 10 == 9:
                text = draw.choice(said).text
            conversation = draw.choice(CONVERSATIONS)
            said.append(Said(tenant, conversation, f"m{minute}", text, minute))
        found[tenant] = list(_requests(said, draw))
    return found


def _requests(said: list[Said], draw: random.Random) -> Iterator[list[Said]]:
    """Runs of one conversation: a request has one."""
    run: list[Said] = []
    most = draw.randint(1, 4)
    for each in said:
        if run and (each.conversation != run[0].conversation or len(run) >= most):
            yield run
            run, most = [], draw.randint(1, 4)
        run.append(each)
    if run:
        yield run


@dataclass
class Driver:
    """Posts every request until it is acknowledged; a request keeps its key over all tries."""

    url: str
    keys: dict[str, str]
    pause_s: float = 0.0
    acknowledged: list[tuple[Said, int]] = field(default_factory=list)
    errors: int = 0
    in_flight: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, requests: dict[str, list[list[Said]]], *, threads: int = 16) -> None:
        """Returns when all is acknowledged."""
        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(self._tenant, t, r) for t, r in requests.items()]:
                done.result()

    def _tenant(self, tenant: str, requests: list[list[Said]]) -> None:
        headers = {"Authorization": f"Bearer {self.keys[tenant]}"}
        with httpx.Client(headers=headers, timeout=30, trust_env=False) as http:
            for number, request in enumerate(requests):
                sequences = self._until_acknowledged(http, f"{tenant}-{number}", request)
                with self._lock:
                    self.acknowledged += zip(request, sequences, strict=True)
                time.sleep(self.pause_s)

    def _until_acknowledged(self, http: httpx.Client, key: str, request: list[Said]) -> list[int]:
        body = {
            "conversation": request[0].conversation,
            "messages": [said.body for said in request],
        }
        while True:
            with self._lock:
                self.in_flight += 1
            try:
                reply = http.post(
                    f"{self.url}/v1/collections/{COLLECTION}/messages",
                    json=body,
                    headers={"Idempotency-Key": key},
                )
                if reply.status_code == 202:
                    return [message["sequence"] for message in reply.json()["messages"]]
                assert reply.status_code in (429, 502, 503, 504), reply.text
            except httpx.HTTPError:
                pass
            finally:
                with self._lock:
                    self.in_flight -= 1
            with self._lock:
                self.errors += 1
            time.sleep(0.3)
