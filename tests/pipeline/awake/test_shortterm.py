from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipeline.awake.shortterm import batches
from pipeline.ids import MessageId, SegmentId
from pipeline.messages import Message, Role, Segment

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)


def segment(number: int) -> Segment:
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
    return Segment(id=SegmentId(f"s{number}"), conversation="c", topic="", messages=(message,))


def test_segments_that_fit_stay_until_there_is_more() -> None:
    held = [segment(1), segment(2)]

    leaving, staying = batches(held, [200, 312], capacity_tokens=512, flush=False)

    assert leaving == []
    assert staying == tuple(held)


def test_the_segment_that_would_overflow_waits_for_the_next_batch() -> None:
    first, second = segment(1), segment(2)

    leaving, staying = batches([first, second], [400, 200], capacity_tokens=512, flush=False)

    assert leaving == [(first,)]
    assert staying == (second,)


def test_a_segment_longer_than_the_capacity_leaves_alone() -> None:
    long = segment(1)

    leaving, staying = batches([long], [9000], capacity_tokens=512, flush=False)

    assert leaving == [(long,)]
    assert staying == ()


@given(st.lists(st.integers(1, 900), max_size=12), st.integers(1, 1024), st.booleans())
def test_what_leaves_and_what_stays_is_what_came_in(
    tokens: list[int], capacity: int, flush: bool
) -> None:
    held = [segment(number) for number in range(len(tokens))]

    leaving, staying = batches(held, tokens, capacity_tokens=capacity, flush=flush)

    assert [each for batch in leaving for each in batch] + list(staying) == held
    assert not (flush and staying)
