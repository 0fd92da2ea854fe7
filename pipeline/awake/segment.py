"""Where a new topic starts in a window of turns.

Source: arXiv 2510.18866, section 3.2; upstream sensory_memory.py and
topic_segmenter/llmlingua_2.py@8fc9a91. There a boundary is a turn that attends *more* to the one
before than its neighbours do, where the two are also unlike. Measured on labelled dialogues
(docs/decisions/0002-thresholds.md), that is the worst of all rules tried, and the similarity of
turns, read against its surroundings, is the best; so that is the default, and the published rule
and attention valleys are there to choose. Both signals use one convention: index i is a cut
before turn i.
"""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError


class Rule(StrEnum):
    """Which turns can begin a topic; all need low similarity as well.

    SIMILARITY: turns less like what came before than their neighbours are.
    ATTENTION_PEAKS: turns that attend most to the one before (the published rule).
    ATTENTION_VALLEYS: turns that attend least to the one before.
    """

    SIMILARITY = "similarity"
    ATTENTION_PEAKS = "attention_peaks"
    ATTENTION_VALLEYS = "attention_valleys"


def boundaries(
    attention: NDArray[np.float32] | None,
    turn_vectors: NDArray[np.float32],
    *,
    max_similarity: float,
    rule: Rule = Rule.SIMILARITY,
) -> list[int]:
    """Turns before which a new topic starts.

    Args:
        attention: ``(n,)``; attention of turn i to turn i-1; entry 0 is ignored. Without it every
            rule is that of similarity.
        turn_vectors: ``(n, d)``; one L2-normalised embedding per turn, for the purpose ``topic``.
        max_similarity: cosine, in -1..1, below which a turn and those before count as unrelated.

    Returns:
        Strictly increasing turn indices in 1..n-1.

    Raises:
        InputError: the two arrays disagree on n.
    """
    if attention is not None and len(attention) != len(turn_vectors):
        raise InputError(f"{len(attention)} attention values for {len(turn_vectors)} turns")
    likeness = _likeness(turn_vectors)
    signal = likeness if attention is None or rule == Rule.SIMILARITY else attention[1:]
    turned = -signal if attention is not None and rule == Rule.ATTENTION_PEAKS else signal
    cuts = range(len(likeness))
    return [i + 1 for i in cuts if likeness[i] < max_similarity and _is_valley(turned, i)]


def _likeness(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(n-1,)``: how alike the two sides of each cut are.

    The mean of two cosines: of the turns beside the cut, and of the means of two turns on either
    side, which a single short reply does not sway.
    """
    neighbours = np.sum(vectors[1:] * vectors[:-1], axis=1)
    around = _around(vectors)
    likeness: NDArray[np.float32] = (neighbours + np.array(around, dtype=np.float32)) / 2
    return likeness


def _around(vectors: NDArray[np.float32]) -> list[float]:
    """Per cut the cosine of the means of two turns on either side; one turn at the ends."""
    if len(vectors) < 2:
        return []
    before = [vectors[0], *(vectors[:-2] + vectors[1:-1])]
    after = [*(vectors[1:-1] + vectors[2:]), vectors[-1]]
    pairs = zip(before, map(_norm, before), after, map(_norm, after), strict=True)
    return [
        float(left @ right) / max(float(left_norm * right_norm), 1e-9)
        for left, left_norm, right, right_norm in pairs
    ]


def _norm(vector: NDArray[np.float32]) -> np.float32:
    norm: np.float32 = np.sqrt(vector @ vector)
    return norm


def _is_valley(values: NDArray[np.float32], i: int) -> bool:
    """Whether no neighbour is lower; of equal ones side by side only the first is."""
    is_below_left = i == 0 or values[i] < values[i - 1]
    is_below_right = i == len(values) - 1 or values[i] <= values[i + 1]
    return bool(is_below_left and is_below_right)
