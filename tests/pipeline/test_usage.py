"""What calls took and cost."""

from datetime import date

from pipeline.messages import TenantId
from pipeline.usage import Price, Usage, cost, total


def used(model: str, *, calls: int = 1) -> Usage:
    return Usage(
        tenant=TenantId("acme"),
        day=date(2025, 6, 1),
        purpose="extract",
        model=model,
        calls=calls,
        repairs=1,
        tokens_in=2_000_000,
        tokens_out=500_000,
        refused={"invented": 2, "unknown id": 1},
    )


def test_a_million_tokens_cost_their_price_and_a_model_without_one_nothing_known() -> None:
    prices = {"small": Price(tokens_in=0.5, tokens_out=2.0)}

    assert cost(used("small"), prices) == 2.0
    assert cost(used("large"), prices) is None


def test_all_of_them_together() -> None:
    assert total([used("a", calls=2), used("b", calls=3)]) == {
        "calls": 5,
        "repairs": 2,
        "tokens_in": 4_000_000,
        "tokens_out": 1_000_000,
        "refused": 6,
    }
