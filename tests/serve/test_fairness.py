"""Which waiting texts a model reads next."""

from collections import Counter

import pytest

from serve.fairness import FairQueue, Text


def texts(owner: str, *sizes: int) -> list[Text[str]]:
    return [Text(size=size, owner=owner, ticket=f"{owner}{size}") for size in sizes]


def queue(*, texts: int = 8, chars: int = 1_000, row: int = 3) -> FairQueue[str]:
    return FairQueue(max_texts=texts, max_chars=chars, urgent_in_a_row=row)


def sizes(waiting: FairQueue[str]) -> list[list[int]]:
    found: list[list[int]] = []
    while len(waiting):
        found.append([text.size for text in waiting.next().texts])
    return found


def test_an_empty_queue_says_so() -> None:
    with pytest.raises(IndexError, match="nothing waits"):
        queue().next()


def test_one_callers_texts_come_in_batches_of_like_length() -> None:
    waiting = queue(texts=3, chars=100)

    waiting.add(texts("a", 50, 1, 9, 300, 2, 40, 60, 3), group="g", is_urgent=False)

    assert sizes(waiting) == [[1, 2, 3], [9, 40, 50], [60], [300]]


def test_a_question_goes_before_everything_that_waits() -> None:
    waiting = queue(texts=2)
    waiting.add(texts("a", 1, 2, 3, 4), group="passage", is_urgent=False)

    waiting.next()
    waiting.add(texts("b", 5), group="query", is_urgent=True)

    assert waiting.urgent == 1
    assert waiting.next().group == "query"
    assert [text.size for text in waiting.next().texts] == [3, 4]


def test_a_flood_of_questions_leaves_ingestion_its_turn() -> None:
    waiting = queue(texts=1, row=3)
    waiting.add(texts("a", 1), group="passage", is_urgent=False)
    waiting.add(texts("b", 1, 2, 3, 4, 5), group="query", is_urgent=True)

    groups = [waiting.next().group for _ in range(6)]

    assert groups == ["query", "query", "query", "passage", "query", "query"]


def test_groups_never_share_a_batch() -> None:
    waiting = queue()
    waiting.add(texts("a", 1, 2), group="topic", is_urgent=False)
    waiting.add(texts("b", 1, 2), group="passage", is_urgent=False)

    first, second = waiting.next(), waiting.next()

    assert {first.group, second.group} == {"topic", "passage"}
    assert len(first.texts) == len(second.texts) == 2


def test_nobody_takes_more_than_half_of_a_batch_while_others_wait() -> None:
    waiting = queue(texts=8)
    waiting.add(texts("big", *[10] * 100), group="g", is_urgent=False)
    waiting.add(texts("mid", *[10] * 10), group="g", is_urgent=False)

    shares = [Counter(text.owner for text in waiting.next().texts) for _ in range(3)]

    assert shares[0] == shares[1] == {"big": 4, "mid": 4}
    assert shares[2] == {"big": 6, "mid": 2}  # nobody waits any more, so the rest is filled


def test_one_text_of_a_small_tenant_is_in_the_next_batch_of_a_big_one() -> None:
    waiting = queue(texts=8)
    waiting.add(texts("big", *[10] * 10_000), group="g", is_urgent=False)
    waiting.next()
    waiting.add(texts("small", 12), group="g", is_urgent=False)

    assert "small12" in [text.ticket for text in waiting.next().texts]


def test_a_text_of_another_length_waits_for_its_own_turn_and_no_longer() -> None:
    waiting = queue(texts=8)
    waiting.add(texts("big", *[10] * 10_000), group="g", is_urgent=False)
    waiting.next()
    waiting.add(texts("small", 900), group="g", is_urgent=False)

    served = [waiting.next().texts for _ in range(2)]

    assert ["small900"] in [[text.ticket for text in batch] for batch in served]


def test_many_tenants_take_turns() -> None:
    waiting = queue(texts=4)
    names = [f"t{n}" for n in range(12)]
    for name in names:
        waiting.add(texts(name, 10, 10), group="g", is_urgent=False)

    first = [text.owner for _ in range(3) for text in waiting.next().texts]

    assert sorted(first) == sorted(names)


def test_the_oldest_call_is_not_overtaken_for_ever_by_shorter_texts() -> None:
    waiting = queue(texts=2)
    waiting.add(texts("a", 500), group="g", is_urgent=False)

    waiting.add(texts("a", 1, 2, 3, 4), group="g", is_urgent=False)

    assert sizes(waiting)[0] == [500]


def test_a_text_over_the_bound_goes_alone() -> None:
    waiting = queue(chars=10)

    waiting.add(texts("a", 25, 30), group="g", is_urgent=False)

    assert sizes(waiting) == [[25], [30]]
