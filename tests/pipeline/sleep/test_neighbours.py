"""Neighbours against a reference that compares every pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pipeline.errors import InputError
from pipeline.sleep.neighbours import neighbours

EAST, NORTH, BETWEEN = [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]


def _vectors(*rows: list[float]) -> NDArray[np.float32]:
    return np.array(rows, dtype=np.float32)


def _expected(
    vectors: NDArray[np.float32], top_k: int, is_new: NDArray[np.bool_]
) -> list[list[tuple[int, float]]]:
    rows = []
    for row in range(len(vectors)):
        older = [other for other in range(row) if is_new[row] or is_new[other]]
        scored = [(other, float(vectors[row] @ vectors[other])) for other in older]
        rows.append(sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:top_k])
    return rows


def _found(
    indices: NDArray[np.int64], scores: NDArray[np.float32]
) -> list[list[tuple[int, float]]]:
    return [
        [(int(i), float(s)) for i, s in zip(row, weights, strict=True) if i >= 0]
        for row, weights in zip(indices, scores, strict=True)
    ]


# Halves make every product exact, so that equal cosines are equal in every order of summing.
halves = st.lists(
    st.tuples(
        st.booleans(), st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5]), min_size=4, max_size=4)
    ),
    max_size=30,
)


@settings(deadline=None)
@given(halves, st.integers(1, 5), st.integers(1, 8), st.data())
def test_every_split_finds_what_comparing_every_pair_finds(
    marked: list[tuple[bool, list[float]]], top_k: int, block: int, data: st.DataObject
) -> None:
    vectors = np.array([row for _, row in marked], dtype=np.float32).reshape(len(marked), 4)
    is_new = np.array([new for new, _ in marked], dtype=np.bool_)
    cut = data.draw(st.integers(0, len(marked)))

    halves_of_it = [
        neighbours(vectors, top_k=top_k, start=a, stop=b, block=block, is_new=is_new)
        for a, b in [(0, cut), (cut, len(marked))]
    ]

    found = _found(*halves_of_it[0]) + _found(*halves_of_it[1])
    assert found == _expected(vectors, top_k, is_new)


def test_more_columns_than_a_tile_give_the_same_neighbours() -> None:
    rng = np.random.default_rng(7)
    vectors = rng.choice([-0.5, 0.0, 0.5], size=(9_000, 8)).astype(np.float32)

    indices, scores = neighbours(vectors, top_k=3, start=8_990)

    for row, found in enumerate(_found(indices, scores), start=8_990):
        cosines = vectors[:row] @ vectors[row]
        best = np.lexsort((np.arange(row), -cosines))[:3]
        assert found == [(int(i), float(cosines[i])) for i in best]


def test_only_older_entries_are_neighbours() -> None:
    indices, scores = neighbours(_vectors(EAST, NORTH, BETWEEN), top_k=2)

    assert indices.tolist() == [[-1, -1], [0, -1], [1, 0]]
    np.testing.assert_allclose(scores[2], [0.8, 0.6])


def test_equal_cosines_come_oldest_first() -> None:
    indices, _ = neighbours(_vectors(EAST, EAST, EAST, EAST), top_k=2)

    assert indices[3].tolist() == [0, 1]


def test_two_old_entries_are_not_compared_again() -> None:
    is_new = np.array([False, True, False, False])

    indices, _ = neighbours(_vectors(EAST, EAST, EAST, NORTH), top_k=3, is_new=is_new)

    assert indices.tolist() == [[-1, -1, -1], [0, -1, -1], [1, -1, -1], [1, -1, -1]]


def test_an_empty_collection_has_no_neighbours() -> None:
    indices, scores = neighbours(np.zeros((0, 2), dtype=np.float32), top_k=4)

    assert indices.shape == scores.shape == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"top_k": 0}, "top_k 0"),
        ({"top_k": 1, "block": 0}, "block 0"),
        ({"top_k": 1, "start": 2, "stop": 1}, "rows 2 to 1"),
        ({"top_k": 1, "stop": 4}, "rows 0 to 4"),
        ({"top_k": 1, "is_new": np.array([True])}, "1 marks for 3"),
    ],
)
def test_what_does_not_fit_is_named(arguments: dict[str, int], named: str) -> None:
    with pytest.raises(InputError, match=named):
        neighbours(_vectors(EAST, NORTH, BETWEEN), **arguments)
