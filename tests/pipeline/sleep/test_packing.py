"""How collections are packed and large ones divided."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.sleep.packing import bins, parts


def test_small_collections_share_a_bin_and_large_ones_have_their_own() -> None:
    filled = bins(["a", "b", "c", "d"], [1, 9, 2, 1], capacity=7)

    assert filled == [["b"], ["c", "a", "d"]]


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 60))
def test_every_collection_is_in_exactly_one_bin(sizes: list[int], capacity: int) -> None:
    filled = bins(range(len(sizes)), sizes, capacity=capacity)

    assert sorted(one for some in filled for one in some) == list(range(len(sizes)))
    assert all(filled)


def test_bins_of_no_capacity_are_refused() -> None:
    with pytest.raises(InputError, match="capacity 0"):
        bins(["a"], [1], capacity=0)


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 200), st.integers(1, 7))
def test_parts_cover_every_row_once_and_start_at_a_block(
    new: list[bool], products: int, block: int
) -> None:
    ranges = parts(np.array(new, dtype=np.bool_), products=products, block=block)

    starts, stops = zip(*ranges, strict=True)
    assert (starts[0], stops[-1]) == (0, len(new))
    assert starts[1:] == stops[:-1]
    assert all(start % block == 0 for start in starts)


def test_a_collection_is_divided_by_its_new_pairs_not_by_its_rows() -> None:
    everything = np.ones(100, dtype=np.bool_)
    newest_only = np.arange(100) >= 99

    assert parts(everything, products=2_000, block=10) == [(0, 70), (70, 100)]
    assert parts(newest_only, products=2_000, block=10) == [(0, 100)]
