"""A worker that kills its own process in the middle of a step, as a program of its own.

``python kill_at.py URL PLACE``: PLACE names the call that it does not survive, or is ``said``: then
it takes in what is said to it one by one, with room for a few words only, and dies after the 7th.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from actors.extractive import ExtractiveSummariser
from actors.extractor_threads import ThreadedExtractor
from actors.fakes import FakeAttention, FakeCompressor, FakeEmbedder, FakeTokenizer, FixedClock
from actors.records import Records, open_records
from pipeline.awake.segment import Rule
from pipeline.messages import NewMessage, Role, Scope, TenantId
from serve.ingest import IngestWorker
from serve.inline import InlineModels
from serve.walk import Walk, WalkSettings

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
MARA = Scope(tenant=TenantId("acme"), collection="mara")
PLACES = ("lease", "load", "compress", "profiles", "extract", "embed", "commit", "release")
"""The calls of a step, in their order."""


class Deadly:
    """Passes everything on; the call of one name kills the process, before or after its work."""

    def __init__(self, inner: Any, place: str, *, is_after: bool = False) -> None:
        self._inner = inner
        self._place = place
        self._is_after = is_after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._deadly(found) if name == self._place else found

    def _deadly(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def killing(*args: Any, **more: Any) -> None:
            if self._is_after:
                call(*args, **more)
            os.kill(os.getpid(), signal.SIGKILL)

        return killing


class NoIndex:
    """No index follows."""

    async def follow(self) -> None:
        """Nothing to do."""


def worker(records: Records, place: str = "", *, now: datetime = NOON) -> IngestWorker:
    """A worker with room for a few words; the call of the place is its last one."""
    tokenizer = FakeTokenizer()
    models = InlineModels(
        embedder=Deadly(FakeEmbedder(), place),
        compressor=Deadly(FakeCompressor(), place),
        attention=Deadly(FakeAttention(), place),
        rule=Rule.COMBINED,
        max_similarity=0.5,
    )
    settings = WalkSettings(
        compress=True, rate=0.6, window_tokens=30, shortterm_tokens=30, model="fake-embedder"
    )
    summariser = Deadly(ExtractiveSummariser(tokenizer=tokenizer), place)
    extractor = ThreadedExtractor(summariser, threads=4)
    return IngestWorker(
        name="w",
        store=Deadly(records.awake, place, is_after=True),
        walk=Walk(models=models, extractor=extractor, tokenizer=tokenizer, settings=settings),
        clock=FixedClock(now),
        follow_index=NoIndex(),
        leases=8,
        messages=100,
        step_s=10,
        ttl_s=60,
        idle_s=3600,
        poll_s=0.01,
        attempts=3,
    )


def said(number: int) -> NewMessage:
    """A fact of its own."""
    texts = (f"Boat {number} lies in dock {number}.", f"第{number}号船停在第{number}号码头。")
    return NewMessage(
        conversation="c",
        role=Role.USER,
        speaker="Mara",
        content=texts[number % 2],
        said_at=NOON,
    )


def _say_until_killed(records: Records) -> None:
    for number in range(12):
        records.messages.accept(MARA, [said(number)], now=NOON)
        print(number + 1, flush=True)
        if number == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        asyncio.run(worker(records).round())


def main(url: str, place: str) -> None:
    """Dies on the way."""
    records = open_records(url)
    if place == "said":
        _say_until_killed(records)
    asyncio.run(worker(records, place).round())


if __name__ == "__main__":
    main(*sys.argv[1:])
