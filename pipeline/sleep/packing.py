"""How the work of a run is divided: collections into equal bins, a large collection into parts."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError

_T = TypeVar("_T")


def bins(items: Sequence[_T], sizes: Sequence[int], *, capacity: int) -> list[list[_T]]:
    """The items in as many bins as their sizes fill, each as full as the others.

    The largest first into the emptiest bin, so that one bin exceeds the mean by one item at most.

    Raises:
        InputError: the numbers of items and sizes differ, or the capacity is not positive.
    """
    if len(items) != len(sizes) or capacity < 1:
        raise InputError(f"{len(items)} items, {len(sizes)} sizes, capacity {capacity}")
    count = min(len(items), -(-sum(sizes) // capacity) or 1)
    filled: list[list[_T]] = [[] for _ in range(count)]
    weights = [0] * count
    for place in sorted(range(len(items)), key=lambda place: (-sizes[place], place)):
        emptiest = weights.index(min(weights))
        filled[emptiest].append(items[place])
        weights[emptiest] += max(1, sizes[place])  # what is empty must still be visited
    return filled


def parts(is_new: NDArray[np.bool_], *, products: int, block: int) -> list[tuple[int, int]]:
    """The rows of a collection in ranges of about ``products`` compared pairs, at least one.

    Ranges start at multiples of ``block``, so that each gives the digits of an undivided search.
    """
    places = np.arange(len(is_new))
    older_new: NDArray[np.int64] = np.cumsum(is_new) - is_new
    costs = np.cumsum(np.where(is_new, places, older_new))
    ranges, start, spent = [], 0, 0
    for stop in range(block, len(is_new), block):
        if costs[stop - 1] - spent >= products:
            ranges.append((start, stop))
            start, spent = stop, int(costs[stop - 1])
    return [*ranges, (start, len(is_new))]
