from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipeline.awake.shortterm import (
    Granularity,
    Rules,
    Trigger,
    Waiting,
    batches,
    last_of_ended,
)
from pipeline.ids import MessageId, SegmentId
from pipeline.messages import Message, Role, Segment

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
TOKENS = Rules(capacity_tokens=512)


def segment(number: int, conversation: str = "c") -> Segment:
    message = Message(
        id=MessageId(f"m{number}"),
        sequence=number,
        conversation=conversation,
        role=Role.USER,
        speaker="Mara",
        content="hello",
        said_at=NOON,
        accepted_at=NOON,
    )
    return Segment(
        id=SegmentId(f"s{number}"), conversation=conversation, topic="", messages=(message,)
    )


def waiting(*tokens: int, due: int | None = None, conversations: str = "") -> list[Waiting]:
    """Segments of these lengths; ``conversations`` has one letter for each."""
    names = conversations or "c" * len(tokens)
    return [
        Waiting(segment=segment(n, name), tokens=length, is_due=n == due)
        for n, (length, name) in enumerate(zip(tokens, names, strict=True), start=1)
    ]


def numbers(found: list[tuple[Segment, ...]]) -> list[list[int]]:
    return [[each.sequence for each in batch] for batch in found]


def test_segments_that_fit_stay_until_there_is_more() -> None:
    leaving, staying = batches(waiting(200, 312), TOKENS, flush=False)

    assert leaving == []
    assert [each.sequence for each in staying] == [1, 2]


def test_the_segment_that_goes_over_the_capacity_leaves_with_all_that_waits() -> None:
    leaving, staying = batches(waiting(200, 312, 1, 9), TOKENS, flush=False)

    assert numbers(leaving) == [[1, 2, 3]]
    assert [each.sequence for each in staying] == [4]


def test_a_segment_over_the_capacity_leaves_at_once() -> None:
    leaving, staying = batches(waiting(900, 100), TOKENS, flush=False)

    assert numbers(leaving) == [[1]]
    assert [each.sequence for each in staying] == [2]


def test_a_flush_takes_what_is_left_and_a_second_one_nothing() -> None:
    leaving, staying = batches(waiting(10), TOKENS, flush=True)

    assert numbers(leaving) == [[1]]
    assert batches([], TOKENS, flush=True) == ([], staying)


def test_without_the_trigger_tokens_a_buffer_grows_and_leaves_in_batches_of_the_same_size() -> None:
    rules = Rules(capacity_tokens=512, triggers=(Trigger.FLUSH,))

    assert batches(waiting(400, 400, 100), rules, flush=False)[0] == []
    assert numbers(batches(waiting(400, 400, 100), rules, flush=True)[0]) == [[1, 2], [3]]


def test_the_end_of_a_topic_takes_along_what_waits_before_it() -> None:
    rules = Rules(capacity_tokens=512, triggers=(Trigger.TOPIC_SHIFT,))

    leaving, staying = batches(waiting(10, 10, 10, due=2), rules, flush=False)

    assert numbers(leaving) == [[1, 2]]
    assert [each.sequence for each in staying] == [3]


def test_so_many_turns_of_a_conversation_leave() -> None:
    rules = Rules(capacity_tokens=512, triggers=(Trigger.TURNS,), turns=2)

    leaving, staying = batches(waiting(1, 1, 1, 1, conversations="abca"), rules, flush=False)

    assert numbers(leaving) == [[1, 2, 3, 4]]
    assert staying == ()


def test_turns_that_are_still_in_a_window_count_too() -> None:
    rules = Rules(capacity_tokens=512, triggers=(Trigger.TURNS,), turns=3)

    leaving, _ = batches(waiting(1), rules, flush=False, open_turns={"c": 2})
    others, _ = batches(waiting(1), rules, flush=False, open_turns={"d": 2})

    assert numbers(leaving) == [[1]]
    assert others == []


def test_a_batch_of_conversations_holds_one_and_each_has_a_capacity_of_its_own() -> None:
    rules = Rules(capacity_tokens=500, granularity=Granularity.CONVERSATION)
    held = waiting(300, 300, 300, 100, conversations="abab")

    leaving, staying = batches(held, rules, flush=False)
    flushed, _ = batches(held, rules, flush=True)

    assert numbers(leaving) == [[1, 3]]
    assert [each.sequence for each in staying] == [2, 4]
    assert numbers(flushed) == [[1, 3], [2, 4]]


TRIGGERS = st.lists(st.sampled_from(Trigger), min_size=1, unique=True)


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 900), st.sampled_from("abc"), st.booleans(), st.integers(1, 3)),
        max_size=30,
    ),
    triggers=TRIGGERS,
    granularity=st.sampled_from(Granularity),
    capacity=st.integers(1, 1_500),
    turns=st.integers(1, 9),
    flush=st.booleans(),
)
def test_nothing_is_lost_or_doubled_and_no_batch_is_longer_than_the_capacity_and_a_segment(
    rows: list[tuple[int, str, bool, int]],
    triggers: list[Trigger],
    granularity: Granularity,
    capacity: int,
    turns: int,
    flush: bool,
) -> None:
    held = [
        Waiting(segment=segment(n, name), tokens=length, turns=count, is_due=is_due)
        for n, (length, name, is_due, count) in enumerate(rows, start=1)
    ]
    lengths = {one.segment.sequence: one.tokens for one in held}
    rules = Rules(capacity_tokens=capacity, triggers=triggers, turns=turns, granularity=granularity)

    leaving, staying = batches(held, rules, flush=flush)

    found = [number for batch in numbers(leaving) for number in batch]
    stayed = [each.sequence for each in staying]
    assert sorted(found + stayed) == list(range(1, len(rows) + 1))
    assert stayed == sorted(stayed)
    for batch in numbers(leaving):
        assert batch == sorted(batch)
        assert sum(lengths[number] for number in batch[:-1]) <= capacity
    if granularity is not Granularity.CONVERSATION:
        assert found + stayed == list(range(1, len(rows) + 1))
    if flush:
        assert staying == ()


def test_of_a_conversation_that_ended_the_last_segment_takes_the_others_along() -> None:
    held = [segment(1), segment(2, "d"), segment(3), segment(5)]

    found = last_of_ended(held, {"c": 4}, Granularity.CONVERSATION)

    assert found == {"s3"}
    assert last_of_ended(held, {"c": 4}, Granularity.SEGMENT) == set()
