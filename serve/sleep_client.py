"""The client's part for sleep beside starting a run: how, when, and what it decided as a file."""

from collections.abc import Iterator, Mapping
from typing import TypedDict, cast

import httpx
from pydantic import JsonValue

from pipeline.errors import StoreError
from serve import replies
from serve.client import Client, quoted
from serve.client_errors import refused

_SCHEDULE = "/v1/sleep/schedule"
_NO_TIMEOUT = httpx.Timeout(30.0, read=None)


class Schedule(TypedDict):
    """When a tenant sleeps; ``is_own`` says that it is the tenant's, not the service's."""

    name: str
    cron: str | None
    zone: str
    max_s: float
    max_tokens: int | None
    idle_s: float | None
    is_own: bool


class Window(TypedDict):
    """From when to when."""

    start: str
    end: str


class Nights(TypedDict):
    """The schedule in force, if there is one, and the next window of its cron."""

    schedule: Schedule | None
    next: Window | None


class SleepClient:
    """More calls of one Client; each raises the SlowwaveError that the service raised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def start(self, asked: Mapping[str, JsonValue]) -> replies.Run:
        """A started run; ``asked`` is the request's body, as the user guide has it."""
        reply = self._client.call("POST", "/v1/sleep/runs", body=asked)
        return cast(replies.Run, reply)

    def ledger(self, run: str) -> Iterator[bytes]:
        """The ledger of a run as a Parquet file, piece by piece as it comes."""
        path = f"/v1/sleep/runs/{quoted(run, field='run')}/ledger"
        try:
            with self._client.http.stream("GET", path, timeout=_NO_TIMEOUT) as reply:
                if not reply.is_success:
                    reply.read()
                    raise refused(reply)
                yield from reply.iter_bytes()
        except httpx.HTTPError as exc:
            raise StoreError(f"the ledger broke off: {exc}") from exc

    def schedule(self) -> Nights:
        """When the tenant sleeps."""
        return cast(Nights, self._client.call("GET", _SCHEDULE))

    def set_schedule(self, schedule: Mapping[str, JsonValue]) -> Nights:
        """Gives the tenant a schedule of its own."""
        reply = self._client.call("PUT", _SCHEDULE, body=schedule, repeatable=True)
        return cast(Nights, reply)

    def drop_schedule(self) -> Nights:
        """Takes the tenant's own schedule away; the service's, if it has one, is in force then."""
        return cast(Nights, self._client.call("DELETE", _SCHEDULE, repeatable=True))
