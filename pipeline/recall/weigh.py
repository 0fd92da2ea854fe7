"""The score of a hit out of how well it matches, how strong it is and how new, each in 0..1.

Without weights for strength and time the score is the match alone. What time takes is worked out
here, when it is read. Knows no stores.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pipeline.entries import Entry, Kind
from pipeline.recall.rank import Ranked, Weights
from pipeline.sleep.forgetting import MOST_STRENGTH, strength_at

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """How fast strength (per kind; None never does) and newness halve, in days."""

    strength_days: Mapping[Kind, float | None]
    recency_days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A hit's score and its parts, each in 0..1.

    ``match`` is the share of the best possible fusion, ``strength`` of the most an entry can have,
    ``recency`` is 1 for what was said now. ``rerank`` is a model's judgement where one was asked;
    then it is the score.
    """

    total: float
    match: float
    strength: float
    recency: float
    rerank: float | None = None


def score(
    ranked: Ranked, entry: Entry, *, weights: Weights, fading: Fading, now: datetime
) -> Score:
    """The weighted mean of match (weight 1), strength and recency.

    Args:
        now: the instant of the question, or the one it asks about.
    """
    strength = strength_at(entry, now, half_life_days=fading.strength_days.get(entry.kind))
    share = min(1.0, strength / MOST_STRENGTH)
    days = max(0.0, (now - entry.said_at).total_seconds() / _DAY_S)
    recency = 0.5 ** (days / fading.recency_days)
    weighted = ranked.score + weights.strength * share + weights.recency * recency
    total = weighted / (1.0 + weights.strength + weights.recency)
    return Score(total=total, match=ranked.score, strength=share, recency=recency)


def relevance(ranked: Ranked, scored: Score) -> float | None:
    """What a floor is held against: the reranker's judgement, else the cosine with the question.

    None where the entry is not in the dense list, which is then below all that are.
    """
    return ranked.dense_score if scored.rerank is None else scored.rerank
