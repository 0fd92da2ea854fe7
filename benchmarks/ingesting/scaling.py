"""Weak scaling: so much work for each worker, whose chat model takes its time."""

import json
import tempfile
from pathlib import Path

from benchmarks.ingesting.load import Body, post, settle
from benchmarks.stand_in import EMBEDDED, service, settings
from pipeline.evaluate.report import Claim, at_least

LATENCY_S = 0.3
CALLS = 4
"""Model calls of one worker in flight."""
_COLLECTIONS = 4
_WORDS_EACH = 150
"""Words of a message; the buffers hold fewer, so that each message is a call of its own and the
calls, not the processors of a small machine, are what the workers wait for."""
_WORDS = " ".join(f"word{number}" for number in range(_WORDS_EACH))


def scaling(workers: list[int], *, messages: int) -> list[Claim]:
    """Replies a second, first to last, for so many messages a collection, four to a worker."""
    rates = {count: _rate(count, messages) for count in workers}
    first, last = workers[0], workers[-1]
    efficiency = rates[last] / rates[first] * first / last
    return [
        at_least(f"weak scaling from {first} to {last} workers", efficiency, 0.9, unit="ratio"),
        *(
            Claim(claim=f"model replies, {count} workers", value=rates[count], unit="replies/s")
            for count in workers
        ),
    ]


def _rate(workers: int, messages: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "replies"
        with service(_settings(workers, log)) as running:
            collections = workers * _COLLECTIONS
            post(running.url, _bodies(collections, 10, "warm"), collections=collections)
            settle(running.url)
            running.rest()
            log.write_text("", encoding="utf-8")
            post(running.url, _bodies(collections, messages, "timed"), collections=collections)
            settle(running.url)
        times = sorted(map(float, log.read_text(encoding="utf-8").split()))
    return (len(times) - 1) / (times[-1] - times[0])


def _settings(workers: int, log: Path) -> dict[str, object]:
    args = settings(
        EMBEDDED,
        workers={"lanes": 1, "leases": _COLLECTIONS, "poll_s": 0.1},
        extraction={"calls": CALLS},
        window={"capacity_tokens": _WORDS_EACH // 2},
        short_term={"capacity_tokens": _WORDS_EACH // 2},
    )
    args["models"]["extractor"] = f"fake:delay_s={LATENCY_S},log={log}"
    args["deployments"]["IngestWorkers"] |= {"num_replicas": workers, "num_cpus": 0.1}
    return args


def _bodies(collections: int, messages: int, name: str) -> list[Body]:
    """One request to each collection, of long messages: each makes up a call."""
    return [
        (
            f"{name}-{number}",
            json.dumps(
                {"messages": [_message(f"{name}-{number}-{i}") for i in range(messages)]}
            ).encode(),
        )
        for number in range(collections)
    ]


def _message(name: str) -> dict[str, str]:
    return {"role": "user", "content": f"{name} {_WORDS}", "message_id": name}
