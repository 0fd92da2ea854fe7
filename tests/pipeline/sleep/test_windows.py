from datetime import UTC, datetime, timedelta

import pytest

from pipeline.errors import InputError
from pipeline.sleep.windows import Schedule, Window, idle_window, next_window, open_window

OSLO = Schedule(cron="0 3 * * *", zone="Europe/Oslo", max_s=7200)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "start"),
    [
        ("2025-06-01T00:59:59", None),
        ("2025-06-01T01:00:00", "2025-06-01T01:00:00"),
        ("2025-06-01T02:59:59", "2025-06-01T01:00:00"),
        ("2025-06-01T03:00:00", None),
        ("2025-12-01T02:30:00", "2025-12-01T02:00:00"),
    ],
)
def test_a_window_is_open_from_its_local_hour_until_its_time_is_over(
    now: str, start: str | None
) -> None:
    found = open_window(OSLO, _at(now))

    expected = None
    if start is not None:
        expected = Window(start=_at(start), end=_at(start) + timedelta(hours=2))
    assert found == expected


@pytest.mark.parametrize(
    ("zone", "cron", "start"),
    [
        ("America/Santiago", "59 23 * * *", "2026-04-05T02:59:00"),
        ("Europe/Oslo", "30 2 * * *", "2026-10-25T00:30:00"),
    ],
)
def test_a_window_that_begins_as_clocks_go_back_is_open_from_its_start_on(
    zone: str, cron: str, start: str
) -> None:
    schedule = Schedule(cron=cron, zone=zone, max_s=600)
    expected = Window(start=_at(start), end=_at(start) + timedelta(minutes=10))

    assert next_window(schedule, _at(start) - timedelta(minutes=1)) == expected
    assert open_window(schedule, _at(start) + timedelta(minutes=1)) == expected
    assert open_window(schedule, _at(start) + timedelta(minutes=61)) is None


def test_every_look_at_a_window_finds_the_same_start() -> None:
    looks = [_at("2025-06-01T01:00:00") + timedelta(seconds=13.37 * i) for i in range(500)]

    assert {window.start for now in looks if (window := open_window(OSLO, now))} == {
        _at("2025-06-01T01:00:00")
    }


def test_an_hour_that_spring_leaves_out_has_a_window_and_one_that_comes_twice_has_one() -> None:
    half_past_two = Schedule(cron="30 2 * * *", zone="Europe/Oslo", max_s=60)
    days = [_at("2025-03-30T00:00:00"), _at("2025-10-25T20:00:00")]

    starts = []
    for day in days:
        minutes = [day + timedelta(minutes=i) for i in range(8 * 60)]
        found = (open_window(half_past_two, now) for now in minutes)
        starts.append(sorted({one.start.isoformat() for one in found if one}))

    assert starts == [["2025-03-30T01:00:00+00:00"], ["2025-10-26T00:30:00+00:00"]]


def test_the_next_window_begins_after_now() -> None:
    assert next_window(OSLO, _at("2025-06-01T01:00:00")) == Window(
        start=_at("2025-06-02T01:00:00"), end=_at("2025-06-02T03:00:00")
    )


def test_of_windows_that_overlap_the_one_that_began_last_is_open() -> None:
    often = Schedule(cron="*/10 * * * *", max_s=3600)

    found = open_window(often, _at("2025-06-01T00:25:00"))

    assert found is not None
    assert found.start == _at("2025-06-01T00:20:00")


def test_a_silence_opens_one_window_once_it_is_long_enough() -> None:
    quiet = Schedule(idle_s=1800, max_s=600)
    last = _at("2025-06-01T12:00:00")

    early = idle_window(quiet, last_message_at=last, now=last + timedelta(minutes=29))
    found = [
        idle_window(quiet, last_message_at=last, now=last + timedelta(minutes=after))
        for after in (30, 45)
    ]

    assert early is None
    assert [one.start for one in found if one] == [last + timedelta(minutes=30)] * 2
    assert [one.end for one in found if one] == [
        last + timedelta(minutes=40),
        last + timedelta(minutes=55),
    ]


def test_a_schedule_of_one_kind_opens_no_window_of_the_other() -> None:
    quiet = Schedule(idle_s=1800)

    assert open_window(quiet, _at("2025-06-01T12:00:00")) is None
    assert next_window(quiet, _at("2025-06-01T12:00:00")) is None
    assert (
        idle_window(
            OSLO, last_message_at=_at("2020-01-01T00:00:00"), now=_at("2025-01-01T00:00:00")
        )
        is None
    )


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({}, "cron"),
        ({"cron": "at three"}, "cron"),
        ({"cron": "0 3 * * * *"}, "cron"),
        ({"cron": "0 25 * * *"}, "cron"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"cron": "0 3 * * *", "zone": "Mars/Olympus"}, "zone"),
        ({"cron": "0 3 * * *", "max_s": 0}, "max_s"),
        ({"cron": "0 3 * * *", "max_s": 90_000}, "max_s"),
        ({"cron": "0 3 * * *", "max_tokens": 0}, "max_tokens"),
        ({"idle_s": float("nan")}, "idle_s"),
    ],
)
def test_a_schedule_that_could_not_work_is_refused_by_name(
    values: dict[str, object], field: str
) -> None:
    with pytest.raises(InputError) as refused:
        Schedule(**values)  # type: ignore[arg-type]  # what a caller may send

    assert refused.value.field == field
