from datetime import UTC, datetime

import pytest

from pipeline.awake.window import cut, overfull
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
