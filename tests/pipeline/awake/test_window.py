from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from pipeline.awake.window import Cut, cut, due, overfull
from pipeline.errors import InputError
from pipeline.ids import MessageId
from pipeline.messages import Message, Role, Turn

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)


def turn(number: int) -> Turn:
    message = Message(
        id=MessageId(f"m{number}"),
        sequence=number,
        conversation="c",
        role=Role.USER,
        speaker="Mara",
        content="hello",
        said_at=NOON,
        accepted_at=NOON,
    )
    return Turn(messages=(message,))


ONE, TWO, THREE = turn(1), turn(2), turn(3)


def lengths(window: Sequence[Turn]) -> list[int]:
    return [10 for _ in window]


def test_a_conversation_that_ended_waits_for_no_more_replies() -> None:
    window = [ONE, TWO, THREE]

    assert due(window, lengths, capacity_tokens=100) is None
    assert due(window, lengths, capacity_tokens=100, ended_turns=3) == Cut(turns=3, is_whole=True)
    assert due([], lengths, capacity_tokens=100, ended_turns=0) is None


def test_what_was_said_after_the_end_stays() -> None:
    window = [ONE, TWO, THREE]

    assert due(window, lengths, capacity_tokens=100, ended_turns=2) == Cut(turns=2, is_whole=True)


def test_an_ended_window_that_is_overfull_is_cut_there_first() -> None:
    assert due([ONE, TWO, THREE], lengths, capacity_tokens=15, ended_turns=3) == Cut(turns=2)


def test_with_turns_as_segments_the_last_one_leaves_at_the_end() -> None:
    found = due([ONE, TWO], lengths, capacity_tokens=100, is_turnwise=True, ended_turns=2)

    assert found == Cut(turns=2, is_whole=True)


def test_a_window_that_fits_is_not_overfull() -> None:
    assert overfull([100, 200, 212], capacity_tokens=512) is None


def test_the_turn_that_crosses_the_capacity_is_the_last_of_the_window() -> None:
    assert overfull([100, 500, 10], capacity_tokens=512) == 2


def test_the_last_topic_stays_since_it_may_go_on() -> None:
    leaving, staying = cut([ONE, TWO, THREE], [2], flush=False)

    assert leaving == [(ONE, TWO)]
    assert staying == (THREE,)


def test_a_flush_leaves_nothing_behind() -> None:
    leaving, staying = cut([ONE, TWO, THREE], [1], flush=True)

    assert leaving == [(ONE,), (TWO, THREE)]
    assert staying == ()


def test_a_window_on_one_topic_leaves_whole() -> None:
    leaving, staying = cut([ONE, TWO], [], flush=False)

    assert leaving == [(ONE, TWO)]
    assert staying == ()


def test_an_empty_window_gives_nothing() -> None:
    assert cut([], [], flush=True) == ([], ())


def test_a_boundary_outside_the_window_is_refused() -> None:
    with pytest.raises(InputError):
        cut([ONE, TWO], [2], flush=False)


def tens(some: Sequence[Turn]) -> list[int]:
    return [10] * len(some)


def test_the_last_turn_may_still_get_replies_and_counts_in_a_flush_alone() -> None:
    window = [ONE, TWO, THREE]

    assert due(window, tens, capacity_tokens=20) is None
    assert due(window, tens, capacity_tokens=20, flush=True) == Cut(turns=3)
    assert due(window, tens, capacity_tokens=19) == Cut(turns=2)
    assert due([], tens, capacity_tokens=19, flush=True) is None


def test_so_many_turns_leave_the_window_together_unless_it_was_full_before() -> None:
    window = [ONE, TWO, THREE]

    assert due(window, tens, capacity_tokens=99, most_turns=2) == Cut(
        turns=2, is_whole=True, is_due=True
    )
    assert due(window, tens, capacity_tokens=99, most_turns=3) is None
    assert due(window, tens, capacity_tokens=9, most_turns=2) == Cut(turns=1)


def test_turn_by_turn_none_waits_for_others() -> None:
    assert due([ONE], tens, capacity_tokens=99, is_turnwise=True) is None
    assert due([ONE, TWO], tens, capacity_tokens=99, is_turnwise=True) == Cut(
        turns=1, is_whole=True
    )
