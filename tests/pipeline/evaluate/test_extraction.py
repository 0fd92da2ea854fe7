"""An extraction's figures."""

import pytest

from pipeline.evaluate.extraction import Counts, claims


def counted(*, unbatched: int = 0) -> Counts:
    return Counts(
        messages=500,
        speaking=400,
        entries=300,
        batches=20,
        unbatched=unbatched,
        cited=200,
        quarantined=1,
        calls=22,
        repairs=2,
        tokens_in=30_000,
        tokens_out=20_000,
        refused={"invented": 3},
    )


def test_calls_and_tokens_are_told_for_a_thousand_messages() -> None:
    found = {claim.claim: claim.value for claim in claims(counted())}

    assert found["model calls, repairs apart"] == 20
    assert found["model calls per 1,000 messages"] == 44
    assert found["tokens per 1,000 messages"] == 100_000
    assert found["messages cited by an entry"] == 0.5
    assert found["refused: invented"] == 3


@pytest.mark.parametrize(("unbatched", "holds"), [(0, True), (1, False)])
def test_a_message_outside_every_batch_fails_the_report(unbatched: int, holds: bool) -> None:
    first, *_ = claims(counted(unbatched=unbatched))

    assert first.holds is holds
