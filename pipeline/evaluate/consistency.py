"""Factual consistency: how much of an answer follows from what it was given to read.

Each sentence of the answer is held against each premise by a model of natural language inference.
Knows nothing of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.ports import EntailmentModel
from pipeline.text.sentences import sentences

LIKELY = 0.5
"""The least probability that counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Sentences of answers, and those of them that follow from a premise or contradict one.

    A sentence that follows from one premise does not count as contradicting another.
    """

    sentences: int = 0
    supported: int = 0
    contradicted: int = 0

    def __add__(self, other: "Consistency") -> "Consistency":
        """Both together."""
        return Consistency(
            sentences=self.sentences + other.sentences,
            supported=self.supported + other.supported,
            contradicted=self.contradicted + other.contradicted,
        )

    @property
    def share(self) -> float:
        """The share of sentences that follow, in 0..1; 0 without a sentence."""
        return self.supported / self.sentences if self.sentences else 0.0


def consistency(answer: str, premises: Sequence[str], *, model: EntailmentModel) -> Consistency:
    """How many sentences of the answer follow from a premise or contradict one."""
    said = [span.text for span in sentences(answer)]
    pairs = [(premise, sentence) for sentence in said for premise in premises]
    judged = model.judge(pairs)
    supported = contradicted = 0
    for place in range(len(said)):
        mine = judged[place * len(premises) : (place + 1) * len(premises)]
        if any(each.entailment >= LIKELY for each in mine):
            supported += 1
        elif any(each.contradiction >= LIKELY for each in mine):
            contradicted += 1
    return Consistency(sentences=len(said), supported=supported, contradicted=contradicted)
