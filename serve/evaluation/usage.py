"""What a service says that model calls took, and what came to it meanwhile."""

from collections.abc import Mapping
from typing import cast

from serve.client import Client
from serve.operator_client import UsageRow

COUNTED = ("calls", "repairs", "tokens_in", "tokens_out")
Usage = Mapping[str, Mapping[str, int]]
"""Counts by purpose."""


def used(client: Client) -> Usage:
    """Calls, repairs and tokens so far, by purpose."""
    rows = cast(list[UsageRow], client.call("GET", "/v1/usage")["usage"])
    total: dict[str, dict[str, int]] = {}
    for row in rows:
        counts = total.setdefault(row["purpose"], dict.fromkeys(COUNTED, 0))
        counts["calls"] += row["calls"]
        counts["repairs"] += row["repairs"]
        counts["tokens_in"] += row["tokens_in"]
        counts["tokens_out"] += row["tokens_out"]
    return total


def less(later: Usage, earlier: Usage) -> Usage:
    """What came to ``earlier`` until ``later``; purposes without a call are left out."""
    nothing = dict.fromkeys(COUNTED, 0)
    found = {
        purpose: {name: count - earlier.get(purpose, nothing)[name] for name, count in row.items()}
        for purpose, row in later.items()
    }
    return {purpose: row for purpose, row in found.items() if row["calls"]}


def summed(usages: list[Usage]) -> Usage:
    """All of them together."""
    total: dict[str, dict[str, int]] = {}
    for usage in usages:
        for purpose, row in usage.items():
            counts = total.setdefault(purpose, dict.fromkeys(COUNTED, 0))
            for name, count in row.items():
                counts[name] += count
    return total
