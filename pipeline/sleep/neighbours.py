"""The older entries closest to each entry, exactly, a block at a time.

Source: arXiv 2510.18866, section 3.3; upstream lightmem.py@8fc9a91 searches per entry and lets
entries of one instant find each other. Here entries come in their total order, so "older" is
"smaller index" and of two entries one only can find the other. Knows nothing of texts or stores.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError
from pipeline.ports import Products
from pipeline.vectors import Indices, Vectors

_TILE = 4096
_DIGITS = 6
_LOWEST = np.finfo(np.float32).min


class _Best(NamedTuple):
    """The best columns so far of some rows, best first; -1 and -inf where there is none."""

    columns: Indices  # (rows, top_k)
    scores: Vectors  # (rows, top_k)


def neighbours(
    vectors: Vectors,
    *,
    top_k: int,
    start: int = 0,
    stop: int | None = None,
    block: int = 512,
    is_new: NDArray[np.bool_] | None = None,
    products: Products | None = None,
) -> tuple[Indices, Vectors]:
    """The ``top_k`` strictly older entries of the rows ``start`` to ``stop``, most similar first.

    No more than ``block`` rows by 4,096 columns of products are in memory at a time. A collection
    may be split over workers by rows; starts that are multiples of ``block`` give the same digits.

    Args:
        vectors: ``(n, d)``, L2-normalised, oldest entry first.
        is_new: ``(n,)``; pairs of two entries that are not new are left out. None: all are new.
        products: what multiplies ``vectors``; None does so here.

    Returns:
        Indices and cosines (6 digits), each ``(stop - start, top_k)``; ties by smaller index. A
        row with fewer neighbours ends in index -1 and score -inf.

    Raises:
        InputError: a number is not positive, or the range or ``is_new`` does not fit ``vectors``.
    """
    stop = len(vectors) if stop is None else stop
    fresh = np.ones(len(vectors), dtype=np.bool_) if is_new is None else is_new
    _check(vectors, fresh, top_k, start, stop, block)
    products = NumpyProducts(vectors) if products is None else products
    best = _empty(stop - start, top_k)
    everything, new_columns = np.arange(stop), np.flatnonzero(fresh[:stop])
    for low in range(start, stop, block):
        rows = np.arange(low, min(low + block, stop))
        for chosen, columns in (
            (rows[fresh[rows]], everything),
            (rows[~fresh[rows]], new_columns),
        ):
            found = _best_of(products, chosen, columns, top_k)
            best.columns[chosen - start] = found.columns
            best.scores[chosen - start] = found.scores
    return best.columns, best.scores


def _check(
    vectors: Vectors, fresh: NDArray[np.bool_], top_k: int, start: int, stop: int, block: int
) -> None:
    if top_k < 1 or block < 1:
        raise InputError(f"expected positive numbers, got top_k {top_k} and block {block}")
    if not 0 <= start <= stop <= len(vectors):
        raise InputError(f"rows {start} to {stop} do not lie in {len(vectors)} entries")
    if len(fresh) != len(vectors):
        raise InputError(f"{len(fresh)} marks for {len(vectors)} entries", field="is_new")


def _empty(rows: int, top_k: int) -> _Best:
    return _Best(
        np.full((rows, top_k), -1, dtype=np.int64),
        np.full((rows, top_k), -np.inf, dtype=np.float32),
    )


def _best_of(products: Products, rows: Indices, columns: Indices, top_k: int) -> _Best:
    """The best of the ascending ``columns`` that are older than each of the ascending ``rows``."""
    best = _empty(len(rows), top_k)
    if not len(rows):
        return best
    columns = columns[: int(np.searchsorted(columns, rows[-1]))]
    if not len(columns):
        return best
    for low in range(0, len(columns), _TILE):
        best = _merge(best, products, rows, columns[low : low + _TILE])
    return _ordered(best)


def _merge(best: _Best, products: Products, rows: Indices, tile: Indices) -> _Best:
    """``best`` with what the tile adds; equal scores stay with the smaller, earlier column."""
    count, top_k = best.columns.shape
    bars = np.maximum(np.nextafter(best.scores[:, -1], np.float32(np.inf)), _LOWEST)
    row, place, scores = products.reaching(rows, tile, bars=bars, top_k=top_k)
    if not len(row):
        return best
    all_rows = np.concatenate([np.repeat(np.arange(count), top_k), row])
    all_columns = np.concatenate([best.columns.ravel(), tile[place]])
    all_scores = np.concatenate([best.scores.ravel(), scores])
    return _first(all_rows, all_columns, all_scores, top_k)


def _first(rows: Indices, columns: Indices, scores: Vectors, top_k: int) -> _Best:
    """The ``top_k`` best of every row; each row has at least that many."""
    order = np.lexsort((columns, -scores, rows))
    starts = np.searchsorted(rows[order], np.arange(rows.max() + 1))
    taken = order[starts[:, None] + np.arange(top_k)]  # (rows, top_k)
    return _Best(columns[taken], scores[taken])


def _ordered(best: _Best) -> _Best:
    """Vectors to six digits, then ties by column: products differ in the last bits by tile."""
    scores = np.round(best.scores, _DIGITS)
    order = np.lexsort((best.columns, -scores), axis=-1)
    return _Best(
        np.take_along_axis(best.columns, order, axis=1), np.take_along_axis(scores, order, axis=1)
    )


class NumpyProducts:
    """Implements Products on the cores of this process."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def reaching(
        self, rows: Indices, columns: Indices, *, bars: Vectors, top_k: int
    ) -> tuple[Indices, Indices, Vectors]:
        """As Products says."""
        scores = self._of(rows) @ self._of(columns).T  # (rows, columns)
        if columns[-1] >= rows[0]:
            scores[columns[None, :] >= rows[:, None]] = -np.inf
        hit = scores >= bars[:, None]
        if np.count_nonzero(hit) > 4 * len(rows) * top_k and len(columns) > top_k:
            # Sorting all hits would cost more than one partition that raises the bar.
            hit &= scores >= np.partition(scores, -top_k, axis=1)[:, -top_k, None]
        row, place = np.divmod(np.flatnonzero(hit), len(columns))
        return row, place, scores[row, place]

    def _of(self, which: Indices) -> Vectors:
        """The vectors without a copy where they are consecutive."""
        if which[-1] - which[0] == len(which) - 1:
            return self._vectors[which[0] : which[-1] + 1]
        return self._vectors[which]
