"""What a decider that asks a model gives for one case: plain values, whoever is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.chat import Spent
from pipeline.entries import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What became of one case: a decision, or why there is none.

    ``calls`` counts how often a model was asked, answered or not; ``spent`` those that were
    answered, with their tokens. ``refused`` counts by reason what replies held and was not taken.
    """

    decision: Decision | None = None
    failure: str | None = None
    calls: int = 0
    spent: tuple[Spent, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionLimits:
    """``attempts`` is how often a reply is asked for again; ``reply_tokens`` those of one call."""

    attempts: int = 2
    reply_tokens: int = 1024
