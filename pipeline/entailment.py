"""What a model of natural language inference says of two texts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Entailment:
    """Probabilities, which add up to 1, that a hypothesis follows from a premise, that it does not
    touch it, and that it contradicts it."""

    entailment: float
    neutral: float
    contradiction: float
