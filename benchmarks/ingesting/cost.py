"""CPU per message through the whole pipeline, and memory as the store grows."""

import time

from benchmarks.ingesting.load import BATCH, COLLECTIONS, walk
from benchmarks.stand_in import EMBEDDED, Running, service, settings
from pipeline.evaluate.report import Claim, at_most

PARTS = ("Ingress", "IngestWorkers", "IndexActor", "Embedder", "Compressor", "Segmenter")


def walking(first: int, last: int) -> list[Claim]:
    """What stand-in models leave of the cost, and what ``last`` messages do to memory."""
    with service(settings(EMBEDDED)) as running:
        walk(running.url, BATCH * COLLECTIONS, "warm")
        idle = _idle_share(running)
        before, began = running.cpu_s(), time.monotonic()
        walk(running.url, first, "first")
        took = time.monotonic() - began
        after = running.cpu_s()
        small, index = _memory(running), running.resident_bytes("IndexActor")
        walk(running.url, last - first, "more")
        large = _memory(running)
        per_entry = (running.resident_bytes("IndexActor") - index) / (last - first)
    spent = sum(after.values()) - sum(before.values()) - sum(idle.values()) * took
    return [
        at_most("CPU per message above idle", spent / first * 1_000, 1.0, unit="ms"),
        *(_share(part, before, after, first) for part in PARTS),
        Claim(claim="whole pipeline", value=first / took, unit="messages/s"),
        *(
            at_most(f"memory of {part}: growth", large[part] / small[part], 1.1, unit="ratio")
            for part in small
        ),
        Claim(claim="memory of IndexActor for each more entry", value=per_entry, unit="bytes"),
    ]


def _share(part: str, before: dict[str, float], after: dict[str, float], messages: int) -> Claim:
    spent = sum(after[name] - before.get(name, 0.0) for name in after if part in name)
    return Claim(claim=f"of it {part}, idle included", value=spent / messages * 1_000, unit="ms")


def _idle_share(running: Running, seconds: float = 15.0) -> dict[str, float]:
    """CPU seconds a second of every process with nothing to do."""
    before = running.cpu_s()
    time.sleep(seconds)
    after = running.cpu_s()
    return {name: (after[name] - before.get(name, 0.0)) / seconds for name in after}


def _memory(running: Running) -> dict[str, int]:
    return {name: running.resident_bytes(name) for name in ("IngestWorkers", "Ingress")}
