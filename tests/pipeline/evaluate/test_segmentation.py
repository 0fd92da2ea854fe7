"""Agreement of boundaries: Pk, WindowDiff and F1 on dialogues small enough to count by hand."""

import pytest

from pipeline.errors import InputError
from pipeline.evaluate.segmentation import agreement, half_segment, pk, windowdiff


def test_the_labelled_boundaries_themselves_agree_fully() -> None:
    found = agreement([[3, 6]], [[3, 6]], [9])

    assert (found.pk, found.windowdiff, found.f1, found.cuts) == (0.0, 0.0, 1.0, 2)


@pytest.mark.parametrize(("turns", "labelled", "k"), [(12, [4, 8], 2), (6, [3], 2), (2, [1], 1)])
def test_k_is_half_the_mean_length_of_the_labelled_segments(
    turns: int, labelled: list[int], k: int
) -> None:
    assert half_segment(turns, labelled) == k


def test_every_window_over_a_missed_boundary_counts_against_pk() -> None:
    assert pk([], [4], turns=8) == pytest.approx(2 / 6)


def test_a_cut_far_off_costs_more_than_one_beside_the_boundary() -> None:
    assert pk([5], [4], turns=8) == pytest.approx(2 / 6)
    assert pk([7], [4], turns=8) == pytest.approx(3 / 6)


def test_windowdiff_also_counts_cuts_that_are_too_many() -> None:
    assert pk([4, 5], [4], turns=8) == pytest.approx(1 / 6)
    assert windowdiff([4, 5], [4], turns=8) == pytest.approx(2 / 6)


def test_f1_counts_exact_positions_over_all_dialogues() -> None:
    found = agreement([[2], [3]], [[2], [4]], [6, 6])

    assert found.f1 == 0.5


def test_nothing_to_find_and_nothing_found_agree() -> None:
    assert agreement([[]], [[]], [4]).f1 == 1.0


def test_a_dialogue_of_one_turn_has_nothing_to_count() -> None:
    assert pk([], [], turns=1) == 0.0


def test_a_boundary_outside_its_dialogue_is_refused() -> None:
    with pytest.raises(InputError, match=r"expected boundaries in 1\.\.3"):
        pk([4], [], turns=4)


def test_no_dialogue_is_refused() -> None:
    with pytest.raises(InputError, match="expected dialogues"):
        agreement([], [], [])
