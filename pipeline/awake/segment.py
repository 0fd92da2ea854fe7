"""Where a new topic starts in a window of turns."""

import numpy as np
from numpy.typing import NDArray

from pipeline.awake.topics import topic_label
from pipeline.errors import InputError

__all__ = ["boundaries", "topic_label"]


def boundaries(
    attention: NDArray[np.float32] | None,
    turn_vectors: NDArray[np.float32],
    *,
    max_similarity: float,
) -> list[int]:
    """Turns before which a new topic starts.

    Args:
        attention: ``(n,)``; attention of turn i to turn i-1; entry 0 is ignored.
        turn_vectors: ``(n, d)``; one L2-normalised embedding per turn.
        max_similarity: cosine, in -1..1, below which neighbours count as unrelated.

    Returns:
        Strictly increasing turn indices in 1..n-1.

    Raises:
        InputError: the two arrays disagree on n.
    """
    if attention is not None and len(attention) != len(turn_vectors):
        raise InputError(f"{len(attention)} attention values for {len(turn_vectors)} turns")
    similarity = np.sum(turn_vectors[1:] * turn_vectors[:-1], axis=1)  # (n-1,)
    return [i + 1 for i in range(len(similarity)) if _is_valley(similarity, i, max_similarity)]


def _is_valley(values: NDArray[np.float32], i: int, limit: float) -> bool:
    around = values[max(0, i - 1) : i + 2]
    return bool(values[i] < limit and values[i] == around.min())
