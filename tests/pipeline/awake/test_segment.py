"""Where a new topic starts."""

import numpy as np
import pytest

from pipeline.awake.segment import Rule, boundaries
from pipeline.errors import InputError

CATS = [1.0, 0.0, 0.0]
CATS_AND_DOGS = [0.8, 0.6, 0.0]
TRAINS = [0.0, 0.0, 1.0]


def vectors(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def profile(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_a_topic_starts_where_turns_stop_being_alike() -> None:
    turns = vectors(CATS, CATS_AND_DOGS, CATS, TRAINS, TRAINS)

    assert boundaries(None, turns, max_similarity=0.5) == [3]


def test_related_turns_have_no_boundary() -> None:
    assert boundaries(None, vectors(CATS, CATS, CATS_AND_DOGS), max_similarity=0.5) == []


def test_a_single_unlike_neighbour_is_a_boundary() -> None:
    assert boundaries(None, vectors(CATS, TRAINS), max_similarity=0.5) == [1]


@pytest.mark.parametrize("count", [0, 1])
def test_a_window_without_a_second_turn_has_no_boundary(count: int) -> None:
    assert boundaries(None, vectors(CATS)[:count], max_similarity=0.5) == []


def test_a_slow_slide_is_cut_once_at_its_lowest() -> None:
    slide = vectors(CATS, CATS_AND_DOGS, [0.0, 0.6, 0.8], TRAINS, TRAINS)

    assert boundaries(None, slide, max_similarity=0.9) == [2]


def test_attention_leaves_the_default_rule_alone() -> None:
    turns = vectors(CATS, CATS, TRAINS, TRAINS)

    with_attention = boundaries(profile(0, 0.1, 0.9, 0.1), turns, max_similarity=0.5)

    assert with_attention == boundaries(None, turns, max_similarity=0.5) == [2]


def test_an_attention_peak_between_related_turns_is_not_a_boundary() -> None:
    attention = profile(0.0, 0.2, 0.9, 0.1)
    turns = vectors(CATS, CATS, CATS, CATS)

    assert boundaries(attention, turns, max_similarity=0.5, rule=Rule.ATTENTION_PEAKS) == []


def test_by_the_published_rule_a_peak_between_unlike_turns_is_a_boundary() -> None:
    attention = profile(0.0, 0.2, 0.9, 0.1)
    turns = vectors(CATS, CATS, TRAINS, TRAINS)

    assert boundaries(attention, turns, max_similarity=0.5, rule=Rule.ATTENTION_PEAKS) == [2]


def test_by_valleys_the_turn_that_looks_back_least_is_a_boundary() -> None:
    attention = profile(0.0, 1.2, 0.6, 1.3)
    turns = vectors(CATS, CATS, TRAINS, TRAINS)

    assert boundaries(attention, turns, max_similarity=0.5, rule=Rule.ATTENTION_VALLEYS) == [2]


def test_without_attention_every_rule_is_that_of_similarity() -> None:
    turns = vectors(CATS, CATS, TRAINS)

    assert boundaries(None, turns, max_similarity=0.5, rule=Rule.ATTENTION_PEAKS) == [2]


def test_arrays_that_disagree_are_refused() -> None:
    with pytest.raises(InputError, match="2 attention values for 3 turns"):
        boundaries(profile(0.0, 0.1), vectors(CATS, CATS, CATS), max_similarity=0.5)
