"""Where a new topic starts."""

import numpy as np
import pytest

from pipeline.awake.segment import Rule, Signals, boundaries, combined, shifts
from pipeline.errors import InputError

CATS = [1.0, 0.0, 0.0]
CATS_AND_DOGS = [0.8, 0.6, 0.0]
TRAINS = [0.0, 0.0, 1.0]


def vectors(*rows: list[float]) -> np.ndarray:
    return np.array(rows, dtype=np.float32)


def profile(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def signals(*rows: list[float], attention: np.ndarray | None = None) -> Signals:
    return Signals(vectors=vectors(*rows), attention=attention)


def test_a_topic_starts_where_turns_stop_being_alike() -> None:
    talk = signals(CATS, CATS_AND_DOGS, CATS, TRAINS, TRAINS)

    assert boundaries(talk) == [3]


@pytest.mark.parametrize("rule", [Rule.COMBINED, Rule.SIMILARITY, Rule.ATTENTION, Rule.PAPER])
def test_related_turns_have_no_boundary(rule: Rule) -> None:
    talk = signals(CATS, CATS, CATS_AND_DOGS, attention=profile(1, 1, 1))

    assert boundaries(talk, rule=rule) == []


def test_two_unlike_turns_are_two_topics() -> None:
    assert boundaries(signals(CATS, TRAINS)) == [1]


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.parametrize("rule", list(Rule))
def test_a_window_without_a_second_turn_has_no_boundary(rule: Rule, count: int) -> None:
    talk = Signals(vectors=vectors(CATS)[:count], attention=profile(1)[:count])

    assert boundaries(talk, rule=rule) == []


def test_a_single_reply_on_something_else_is_no_topic() -> None:
    talk = signals(CATS, CATS, CATS, TRAINS, CATS, CATS, CATS)

    assert boundaries(talk) == []


@pytest.mark.parametrize("topics", [2, 3, 5])
def test_every_topic_of_three_turns_is_found(topics: int) -> None:
    rows = [row for row in np.eye(topics).tolist() for _ in range(3)]

    assert boundaries(signals(*rows)) == list(range(3, 3 * topics, 3))


def test_a_higher_least_shift_cuts_less_often() -> None:
    talk = signals(CATS, CATS, CATS_AND_DOGS, CATS_AND_DOGS, TRAINS, TRAINS)

    assert boundaries(talk, min_shift=1.0) == [4]
    assert boundaries(talk, min_shift=9.0) == []


def test_what_all_turns_share_does_not_count_as_likeness() -> None:
    rows = np.repeat(np.eye(4, dtype=np.float32), 4, axis=0)
    shared = rows + np.float32(0.5)
    shared /= np.linalg.norm(shared, axis=1, keepdims=True)

    assert boundaries(Signals(vectors=shared), min_shift=0.6) == [4, 8, 12]


def test_a_turn_that_looks_back_more_than_others_is_less_of_a_boundary() -> None:
    rows = (CATS, CATS, TRAINS, TRAINS)
    alone = shifts(vectors(*rows))

    looking = combined(signals(*rows, attention=profile(0, 1.0, 1.5, 1.0)))
    turned = combined(signals(*rows, attention=profile(0, 1.0, 0.5, 1.0)))

    assert looking[1] < alone[1] < turned[1]
    assert looking[0] == alone[0]


def test_wording_that_leans_towards_staying_is_less_of_a_boundary() -> None:
    rows = vectors(CATS, TRAINS)
    staying, leaving = (
        combined(Signals(vectors=rows, leanings=(0.0, leaning)))[0] for leaning in (-0.9, 0.3)
    )

    assert staying < shifts(rows)[0] < leaving


def test_wording_is_read_against_the_window() -> None:
    rows = np.repeat(np.eye(2, dtype=np.float32), 20, axis=0)
    asking = Signals(vectors=rows, leanings=(-0.6,) * 40)

    assert abs(combined(asking) - shifts(rows)).max() < 0.1


def test_by_attention_alone_the_turn_that_looks_back_least_is_a_boundary() -> None:
    talk = signals(CATS, CATS, CATS, CATS, attention=profile(0.0, 1.2, 0.6, 1.3))

    assert boundaries(talk, rule=Rule.ATTENTION) == [2]


def test_by_similarity_alone_attention_changes_nothing() -> None:
    rows = (CATS, CATS, TRAINS, TRAINS)
    talk = signals(*rows, attention=profile(0, 0.1, 2.0, 0.1))

    assert boundaries(talk, rule=Rule.SIMILARITY) == boundaries(signals(*rows)) == [2]


def test_by_the_published_rule_a_peak_between_unlike_turns_is_a_boundary() -> None:
    attention = profile(0.0, 0.2, 0.9, 0.1)

    unlike = boundaries(signals(CATS, CATS, TRAINS, TRAINS, attention=attention), rule=Rule.PAPER)
    alike = boundaries(signals(CATS, CATS, CATS, CATS, attention=attention), rule=Rule.PAPER)

    assert (unlike, alike) == ([2], [])


@pytest.mark.parametrize("rule", [Rule.COMBINED, Rule.ATTENTION, Rule.PAPER])
def test_without_attention_every_rule_is_that_of_similarity(rule: Rule) -> None:
    talk = signals(CATS, CATS, TRAINS, TRAINS)

    assert boundaries(talk, rule=rule) == boundaries(talk, rule=Rule.SIMILARITY) == [2]


def test_both_signals_name_the_same_cut() -> None:
    talk = signals(CATS, CATS, TRAINS, TRAINS, attention=profile(0, 1.2, 0.4, 1.2))

    assert boundaries(talk, rule=Rule.ATTENTION) == boundaries(talk, rule=Rule.SIMILARITY) == [2]


def test_signals_that_disagree_are_refused() -> None:
    with pytest.raises(InputError, match="2 attention values for 3 turns"):
        signals(CATS, CATS, CATS, attention=profile(0.0, 0.1))
    with pytest.raises(InputError, match="1 leanings for 2 turns"):
        Signals(vectors=vectors(CATS, CATS), leanings=(0.5,))
