"""The room of an endpoint: no more is sent than it gives, whoever asks."""

import asyncio

import pytest

from actors.chat_limits import BURST_S, EndpointLimits
from pipeline.errors import LimitError


class Time:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def limits(
    time: Time, *, requests: float | None = None, tokens: float | None = None
) -> EndpointLimits:
    return EndpointLimits(
        requests_per_minute=requests, tokens_per_minute=tokens, now=time, draw=lambda: 0.0
    )


def reserve(room: EndpointLimits, tokens: int = 0, patience_s: float = 1e9) -> float:
    return asyncio.run(room.reserve(tokens, patience_s=patience_s))


def test_without_limits_nobody_waits() -> None:
    room = limits(Time())

    assert [reserve(room, 10**6) for _ in range(100)] == [0.0] * 100


def test_the_first_go_at_once_and_the_others_one_by_one() -> None:
    room = limits(Time(), requests=60)

    waits = [reserve(room) for _ in range(13)]

    assert waits == [0.0] * int(BURST_S) + [1.0, 2.0, 3.0]


def test_over_any_span_no_more_is_sent_than_it_gives_and_a_burst() -> None:
    time = Time()
    room = limits(time, requests=60, tokens=6_000)
    sent: list[tuple[float, int]] = []

    for number in range(200):
        tokens = 50 + 13 * number % 200
        sent.append((time.now + reserve(room, tokens), tokens))
        time.now += 0.3

    for begin, _ in sent:
        span = [(at, tokens) for at, tokens in sent if begin <= at < begin + 60]
        assert len(span) <= 60 + BURST_S
        assert sum(tokens for _, tokens in span) <= 6_000 + 100 * BURST_S + 250


def test_a_request_larger_than_the_bucket_waits_for_a_full_one_and_is_paid_for_later() -> None:
    room = limits(Time(), tokens=600)  # 100 at once

    assert reserve(room, 400) == 0.0
    assert reserve(room, 1) == pytest.approx(30.1)


def test_what_was_reserved_and_not_used_is_given_back() -> None:
    room = limits(Time(), tokens=600)
    assert reserve(room, 100) == 0.0

    asyncio.run(room.settle(-60))

    assert reserve(room, 50) == 0.0
    assert reserve(room, 20) == pytest.approx(1.0)


def test_nobody_is_sent_during_a_pause() -> None:
    time = Time()
    room = limits(time)

    asyncio.run(room.pause(7.0))
    asyncio.run(room.pause(2.0))

    assert reserve(room) == 7.0
    time.now += 7.0
    assert reserve(room) == 0.0


def test_those_who_were_told_to_wait_do_not_all_come_back_at_once_and_none_too_early() -> None:
    chances = iter([0.0, 0.25, 0.5, 1.0])
    room = EndpointLimits(
        requests_per_minute=None,
        tokens_per_minute=None,
        now=Time(),
        draw=lambda: next(chances),
    )

    asyncio.run(room.pause(10.0))

    assert [reserve(room) for _ in range(4)] == [10.0, 10.5, 11.0, 12.0]


def test_a_long_pause_is_spread_over_seconds_and_takes_nobody_over_his_patience() -> None:
    room = EndpointLimits(
        requests_per_minute=None, tokens_per_minute=None, now=Time(), draw=lambda: 1.0
    )

    asyncio.run(room.pause(600.0))

    assert reserve(room, patience_s=600.0) == 610.0


def test_who_would_wait_too_long_is_told_so_and_takes_no_place() -> None:
    room = limits(Time(), requests=6)  # one at once, one in ten seconds
    assert reserve(room) == 0.0

    for _ in range(3):
        with pytest.raises(LimitError) as refused:
            reserve(room, patience_s=5.0)
        assert refused.value.retry_after_s == pytest.approx(10.0)

    assert reserve(room) == pytest.approx(10.0)
