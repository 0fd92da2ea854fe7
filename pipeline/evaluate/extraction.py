"""What an extraction gave and what it took, from counts alone. Knows nothing of how it was run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.evaluate.report import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """``cited`` are messages that an entry names, ``speaking`` those that could be extracted.

    ``unbatched`` were in no batch though they are done. ``refused`` is by reason.
    """

    messages: int
    speaking: int
    entries: int
    batches: int
    unbatched: int
    cited: int
    quarantined: int
    calls: int = 0
    repairs: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Of all calls, in and out."""
        return self.tokens_in + self.tokens_out


def claims(counts: Counts) -> tuple[Claim, ...]:
    """The figures as claims; all messages are in a batch, and every batch is one call."""
    per_thousand = 1000 / max(1, counts.messages)
    share = counts.cited / max(1, counts.speaking)
    is_covered = counts.unbatched == 0
    plain = (
        ("entries", counts.entries, "entries"),
        ("messages cited by an entry", share, "share"),
        ("quarantined", counts.quarantined, "messages"),
        ("model calls, repairs apart", counts.calls - counts.repairs, "calls"),
        ("repairs", counts.repairs, "calls"),
        ("tokens in", counts.tokens_in, "tokens"),
        ("tokens out", counts.tokens_out, "tokens"),
        ("model calls per 1,000 messages", counts.calls * per_thousand, "calls"),
        ("tokens per 1,000 messages", counts.tokens * per_thousand, "tokens"),
        *(
            (f"refused: {reason}", count, "statements")
            for reason, count in sorted(counts.refused.items())
        ),
    )
    covered = Claim(
        claim="messages outside every batch",
        value=counts.unbatched,
        unit="messages",
        bar=0,
        holds=is_covered,
    )
    return (covered, *(Claim(claim=name, value=value, unit=unit) for name, value, unit in plain))
