"""How fast messages are acknowledged over HTTP."""

import time

from benchmarks.ingesting.load import BATCH, CONNECTIONS, at, bodies, post
from benchmarks.stand_in import Stores, service, settings
from pipeline.evaluate.report import Claim, at_least

NEVER_S = 100_000


def accepting(messages: int, stores: Stores) -> list[Claim]:
    """The accept path alone: workers do not look for work meanwhile."""
    name = stores.name
    with service(settings(stores, workers={"poll_s": NEVER_S})) as running:
        post(running.url, bodies(BATCH * CONNECTIONS * 10, "warm"))
        began = time.monotonic()
        times = post(running.url, bodies(messages, "m"))
        rate = messages / (time.monotonic() - began)
    return [
        at_least(f"accepted over HTTP, {name}", rate, 3_000, unit="messages/s"),
        Claim(claim=f"acknowledgement p50, {name}", value=at(times, 0.5) * 1_000, unit="ms"),
        Claim(claim=f"acknowledgement p99, {name}", value=at(times, 0.99) * 1_000, unit="ms"),
    ]
