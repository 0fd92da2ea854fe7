"""From each entry's older neighbours to each target's newer candidates.

Source: arXiv 2510.18866, section 3.3; upstream lightmem.py@8fc9a91 scans all queues for every
entry. Here the links are sorted once, digit by digit, so the work grows with their number.
Knows nothing of texts or stores.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError

Indices = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Pairs of an older and a newer entry with their cosine, each ``(m,)``."""

    older: Indices
    newer: Indices
    scores: Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A target and its newer ``candidates`` with ``scores``, most similar first; never empty."""

    target: int
    candidates: tuple[int, ...]
    scores: tuple[float, ...]


def links(
    indices: Indices, scores: Scores, *, start: int, queue_length: int, min_similarity: float
) -> Links:
    """Each row's first ``queue_length`` neighbours that reach ``min_similarity`` (-1..1).

    ``indices`` and ``scores`` are what ``neighbours`` gives for the rows from ``start`` on.

    Raises:
        InputError: the two arrays disagree in shape.
    """
    if indices.shape != scores.shape:
        raise InputError(f"{indices.shape} neighbours with {scores.shape} scores")
    kept, weights = indices[:, :queue_length], scores[:, :queue_length]
    row, place = np.nonzero((weights >= min_similarity) & (kept >= 0))
    return Links(older=kept[row, place], newer=row + start, scores=weights[row, place])


def retried(pairs: Iterable[tuple[int, int]], vectors: Scores) -> Links:
    """The (target, candidate) pairs whose target is still the older one, whatever their cosine."""
    still = sorted((target, newer) for target, newer in pairs if target < newer)
    older = np.array([target for target, _ in still], dtype=np.int64)
    newer = np.array([candidate for _, candidate in still], dtype=np.int64)
    cosines = np.sum(vectors[older] * vectors[newer], axis=1)
    return Links(older=older, newer=newer, scores=np.round(cosines, 6).astype(np.float32))


def without(found: Links, pairs: Iterable[tuple[int, int]]) -> Links:
    """The links that are none of the (older, newer) pairs."""
    taken = np.array([older << 32 | newer for older, newer in pairs], dtype=np.int64)
    if not len(taken):
        return found
    left = ~np.isin(found.older << 32 | found.newer, taken)
    return Links(older=found.older[left], newer=found.newer[left], scores=found.scores[left])


def queue(parts: Sequence[Links]) -> list[Queued]:
    """Each target with its candidates: newest target first, most similar first, ties by age.

    A pair that comes twice counts once. Linear in the number of links.
    """
    if not sum(len(part.older) for part in parts):
        return []
    older = np.concatenate([part.older for part in parts])
    newer = np.concatenate([part.newer for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    # Stable passes from the least to the most significant key.
    order = _by(_digits(newer), np.arange(len(older)))
    order = _by(_digits(_descending(scores)), order)
    order = _by(_digits(older.max() - older), order)
    return _grouped(older[order], newer[order], scores[order])


def _descending(scores: Scores) -> NDArray[np.uint32]:
    """Keys that sort the highest score first."""
    bits = (np.float32(0.0) - scores).view(np.uint32)
    is_negative = (bits >> np.uint32(31)).astype(np.bool_)
    return np.where(is_negative, ~bits, bits | np.uint32(1 << 31))


def _digits(keys: NDArray[np.int64] | NDArray[np.uint32]) -> list[NDArray[np.uint16]]:
    """The 16-bit digits of non-negative keys, least significant first."""
    wide = keys.astype(np.uint64)
    count = max(1, (int(wide.max()).bit_length() + 15) // 16)
    return [
        ((wide >> np.uint64(16 * i)) & np.uint64(0xFFFF)).astype(np.uint16) for i in range(count)
    ]


def _by(digits: Sequence[NDArray[np.uint16]], order: Indices) -> Indices:
    """``order`` sorted stably by the digits; NumPy sorts 16-bit keys in linear time."""
    for digit in digits:
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def _grouped(older: Indices, newer: Indices, scores: Scores) -> list[Queued]:
    ends = np.append(np.flatnonzero(np.diff(older)) + 1, len(older)).tolist()
    candidates, cosines, targets = newer.tolist(), scores.tolist(), older.tolist()
    result, begin = [], 0
    for end in ends:
        own, weights = candidates[begin:end], cosines[begin:end]
        if len(set(own)) < len(own):
            # Of a pair that comes twice the first, most similar one stays.
            first = dict(zip(reversed(own), reversed(weights), strict=True))
            own = list(dict.fromkeys(own))
            weights = [first[candidate] for candidate in own]
        result.append(Queued(target=targets[begin], candidates=tuple(own), scores=tuple(weights)))
        begin = end
    return result
