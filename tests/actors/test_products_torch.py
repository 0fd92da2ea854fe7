"""Products by torch give the neighbours that NumPy gives; on a GPU too where there is one."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.products_torch import TorchProducts
from pipeline.errors import ConfigError
from pipeline.sleep.neighbours import neighbours

DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
    ),
]
# Halves make every product exact, so that equal cosines are equal in every order of summing.
rows = st.lists(
    st.tuples(
        st.booleans(), st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5]), min_size=3, max_size=3)
    ),
    max_size=40,
)


@pytest.mark.parametrize("device", DEVICES)
@settings(deadline=None)
@given(rows, st.integers(1, 6), st.integers(1, 16))
def test_torch_finds_the_neighbours_that_numpy_finds(
    device: str, marked: list[tuple[bool, list[float]]], top_k: int, block: int
) -> None:
    vectors = np.array([row for _, row in marked], dtype=np.float32).reshape(len(marked), 3)
    is_new = np.array([new for new, _ in marked], dtype=np.bool_)

    products = TorchProducts(vectors, device=device)
    found = neighbours(vectors, top_k=top_k, block=block, is_new=is_new, products=products)

    expected = neighbours(vectors, top_k=top_k, block=block, is_new=is_new)
    assert np.array_equal(found[0], expected[0])
    assert np.array_equal(found[1], expected[1])


@pytest.mark.parametrize("device", DEVICES)
def test_of_many_equal_vectors_the_oldest_are_found_in_every_tile(device: str) -> None:
    vectors = np.ones((9_000, 2), dtype=np.float32) / np.float32(np.sqrt(2))

    indices, _ = neighbours(
        vectors, top_k=3, start=8_990, products=TorchProducts(vectors, device=device)
    )

    assert indices.tolist() == [[0, 1, 2]] * 10


def test_a_device_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="got abacus"):
        TorchProducts(np.ones((1, 2), dtype=np.float32), device="abacus")
