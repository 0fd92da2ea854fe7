"""What all texts share is taken out of their vectors."""

import numpy as np
import pytest

from pipeline.errors import InputError
from pipeline.vectors import common_directions, distinct


def test_directions_are_orthonormal_and_span_the_means() -> None:
    means = np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 0.0]], dtype=np.float32)

    common = common_directions(means)

    np.testing.assert_allclose(common @ common.T, np.eye(2), atol=1e-6)
    np.testing.assert_allclose(means @ common.T @ common, means, atol=1e-6)


def test_vectors_that_share_a_direction_become_unlike_without_it() -> None:
    vectors = np.array([[0.9, 0.4358899, 0.0], [0.9, 0.0, 0.4358899]], dtype=np.float32)
    common = np.array([[1.0, 0.0, 0.0]], dtype=np.float32)

    alike, unlike = vectors @ vectors.T, distinct(vectors, common) @ distinct(vectors, common).T

    assert alike[0, 1] > 0.8
    assert abs(unlike[0, 1]) < 1e-6
    np.testing.assert_allclose(np.diag(unlike), 1.0, atol=1e-6)


def test_a_vector_with_nothing_of_its_own_becomes_zero() -> None:
    common = np.array([[1.0, 0.0]], dtype=np.float32)

    assert not np.isnan(distinct(np.array([[1.0, 0.0]], dtype=np.float32), common)).any()


def test_widths_must_agree() -> None:
    with pytest.raises(InputError, match="3 wide for directions 2 wide"):
        distinct(np.zeros((1, 3), dtype=np.float32), np.zeros((1, 2), dtype=np.float32))
