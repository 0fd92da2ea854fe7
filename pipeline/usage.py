"""What model calls took, per tenant, day, purpose and model, and what that costs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from pipeline.messages import TenantId

TOKENS_OF_A_PRICE = 1_000_000
"""Prices are those of a million tokens, as providers name them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens of one model cost, in whatever currency all prices are."""

    tokens_in: float
    tokens_out: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The answered calls of one day; ``repairs`` are those of them that asked again.

    A call counts whatever was in the answer. ``estimated`` calls are those of them whose tokens
    the endpoint did not count. ``refused`` counts by reason what replies held and was not taken.
    """

    tenant: TenantId
    day: date
    purpose: str
    model: str
    calls: int = 0
    repairs: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)


def cost(usage: Usage, prices: Mapping[str, Price]) -> float | None:
    """What the usage costs; None for a model without a price."""
    price = prices.get(usage.model)
    if price is None:
        return None
    spent = usage.tokens_in * price.tokens_in + usage.tokens_out * price.tokens_out
    return spent / TOKENS_OF_A_PRICE


def total(usages: Iterable[Usage]) -> dict[str, int]:
    """Calls, repairs, tokens in and out, and refused items of all of them."""
    sums = dict.fromkeys(("calls", "repairs", "tokens_in", "tokens_out", "refused"), 0)
    for each in usages:
        sums["calls"] += each.calls
        sums["repairs"] += each.repairs
        sums["tokens_in"] += each.tokens_in
        sums["tokens_out"] += each.tokens_out
        sums["refused"] += sum(each.refused.values())
    return sums
