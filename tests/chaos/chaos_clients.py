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
Script = dict[str, list[list["Said"]]]
"""Per tenant its requests."""

SUBJECTS = ("The kettle", "My bicycle", "Our garden", "她的相机", "旧收音机", "Her notebook")
CONVERSATIONS = ("morning", "evening")
COLLECTION = "life"
PASSING = (429, 502, 503, 504, 507)
"""Statuses after which a client sends the same request again."""


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


def script(*, tenants: int, messages: int, seed: int, prefix: str) -> Script:
    """Requests of one to four messages, the same for the same seed whatever the tenants' prefix.

    Every tenth message repeats an earlier one of its tenant word for word.
    """
    draw = random.Random(seed)
    found: Script = {}
    for number in range(tenants):
        tenant = f"{prefix}-{number}"
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
    script: Script
    pause_s: float = 0.3
    acknowledged: list[tuple[Said, int]] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    in_flight: int = 0
    _begun: int = 0
    _allowed: int = 0
    _is_over: bool = False
    _turn: threading.Condition = field(default_factory=threading.Condition)

    @property
    def requests(self) -> int:
        """How many the script has."""
        return sum(len(requests) for requests in self.script.values())

    def allow(self, share: float) -> None:
        """Lets requests begin until ``share`` of all, in 0..1, have begun."""
        with self._turn:
            self._allowed = max(self._allowed, round(share * self.requests))
            self._turn.notify_all()

    def give_up(self) -> None:
        """Ends what is under way: nobody will answer any more."""
        with self._turn:
            self._is_over = True
            self._allowed = self.requests
            self._turn.notify_all()

    def run(self, *, threads: int = 16) -> None:
        """Returns when all is acknowledged. Raises AssertionError on a reply of no use."""
        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(self._tenant, t, r) for t, r in self.script.items()]:
                done.result()

    def _tenant(self, tenant: str, requests: list[list[Said]]) -> None:
        headers = {"Authorization": f"Bearer {self.keys[tenant]}"}
        with httpx.Client(headers=headers, timeout=30, trust_env=False) as http:
            for number, request in enumerate(requests):
                self._wait_for_turn()
                sequences = self._until_acknowledged(http, f"{tenant}-{number}", request)
                with self._turn:
                    self.acknowledged += zip(request, sequences, strict=True)

    def _wait_for_turn(self) -> None:
        with self._turn:
            self._turn.wait_for(lambda: self._begun < self._allowed)
            self._begun += 1

    def _until_acknowledged(self, http: httpx.Client, key: str, request: list[Said]) -> list[int]:
        body = {
            "conversation": request[0].conversation,
            "messages": [said.body for said in request],
        }
        while True:
            reply = self._post(http, key, body)
            if isinstance(reply, list):
                return reply
            assert not self._is_over, f"given up at {key}: {reply}"
            with self._turn:
                self.refused[reply] = self.refused.get(reply, 0) + 1
            time.sleep(self.pause_s)

    def _post(self, http: httpx.Client, key: str, body: Body) -> list[int] | str:
        """The sequences, or why there are none."""
        with self._turn:
            self.in_flight += 1
        try:
            reply = http.post(
                f"{self.url}/v1/collections/{COLLECTION}/messages",
                json=body,
                headers={"Idempotency-Key": key},
            )
        except httpx.HTTPError as error:
            return type(error).__name__
        finally:
            with self._turn:
                self.in_flight -= 1
        if reply.status_code == 202:
            return [message["sequence"] for message in reply.json()["messages"]]
        assert reply.status_code in PASSING, f"{reply.status_code} {reply.text}"
        return str(reply.status_code)
