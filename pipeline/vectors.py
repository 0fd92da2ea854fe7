"""Embeddings without what all texts have in common. Knows nothing of where they come from.

Source: Mu and Viswanath, arXiv 1702.01417 (all-but-the-top): embeddings of every text share a few
strong directions, which say nothing and put all cosines near one value.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError

Vectors = NDArray[np.float32]
Indices = NDArray[np.int64]


def common_directions(means: Vectors) -> Vectors:
    """``(k, dim)`` orthonormal rows that span the mean vectors ``(k, dim)`` of k languages."""
    return np.ascontiguousarray(np.linalg.qr(means.T)[0].T, dtype=np.float32)


def distinct(vectors: Vectors, common: Vectors) -> Vectors:
    """``(n, dim)`` vectors without their part along ``common``, L2-normalised again.

    Raises:
        InputError: the widths differ.
    """
    if vectors.shape[1] != common.shape[1]:
        raise InputError(f"vectors {vectors.shape[1]} wide for directions {common.shape[1]} wide")
    rest = vectors - (vectors @ common.T) @ common
    norms = np.linalg.norm(rest, axis=1, keepdims=True)
    unit: Vectors = (rest / np.maximum(norms, 1e-9)).astype(np.float32)
    return unit
