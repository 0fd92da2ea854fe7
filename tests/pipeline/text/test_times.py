from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.text.dates import parse_time

AFTERNOON = datetime(2025, 3, 5, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2025-03-05T14:30:00Z",
        "2025-03-05T14:30Z",
        "2025-03-05 14:30",
        "2025-03-05T22:30:00+08:00",
        "2025-03-05T22:30:00.000+0800",
        "20250305T143000Z",
        1741185000,
        1741185000.0,
        1741185000000,
        "1741185000",
        "1741185000000",
        "2025/03/05 (Wed) 14:30",
        "2025/03/05 (周三) 14:30",
        "2025/03/05（星期三）14:30:00",
        "2:30 pm on 5 March, 2025",
        "2:30 p.m. on 5th of March 2025",
        "March 5, 2025 2:30 PM",
        "Wed, 05 Mar 2025 14:30:00 GMT",
        "2025年3月5日 14:30",
        "2025年3月5日星期三 下午2点半",
        "2025年3月5日14时30分",
    ],
)
def test_every_known_form_gives_the_same_instant(value: str | int | float) -> None:
    assert parse_time(value, zone=None)[0] == AFTERNOON


@pytest.mark.parametrize("value", ["March-15-2024", "2024-03-15", "20240315", "15 March 2024"])
def test_a_date_alone_is_its_midnight_in_the_zone(value: str) -> None:
    moment, zone = parse_time(value, zone="Asia/Shanghai")

    assert moment == datetime(2024, 3, 14, 16, tzinfo=UTC)
    assert zone == "Asia/Shanghai"


def test_midnight_and_noon_of_the_twelve_hour_clock() -> None:
    assert parse_time("12:09 am on 8 May, 2023", zone=None)[0].hour == 0
    assert parse_time("12:09 pm on 8 May, 2023", zone=None)[0].hour == 12


@pytest.mark.parametrize(
    ("value", "zone", "hour", "name"),
    [
        ("2025-07-01 12:45", "Asia/Shanghai", 4, "Asia/Shanghai"),
        ("2025-07-01 12:45", "+08:00", 4, "+08:00"),
        ("2025-07-01 12:45", "UTC+8", 4, "+08:00"),
        ("2025-07-01 12:45", None, 12, "UTC"),
        ("2025-07-01T12:45Z", "Asia/Shanghai", 12, "Asia/Shanghai"),
        ("2025-07-01T12:45+08:00", "Asia/Shanghai", 4, "Asia/Shanghai"),
        ("2025-07-01T12:45+02:00", "Asia/Shanghai", 10, "+02:00"),
        ("2025-07-01T12:45-03:30", None, 16, "-03:30"),
        ("2025-07-01 12:45", "America/New_York", 16, "America/New_York"),
        ("2025-03-30 02:30", "Europe/Berlin", 1, "Europe/Berlin"),
    ],
)
def test_the_zone_said_in_is_kept(value: str, zone: str | None, hour: int, name: str) -> None:
    moment, said_in = parse_time(value, zone=zone)

    assert (moment.hour, said_in) == (hour, name)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "05/03/2025",
        "2025",
        "2025-13-05",
        "2025-02-30",
        "2025-03-05T25:00",
        "2025-03-05 14:",
        "2025-03-05 8",
        "2025-03-05T10:00+25:00",
        "13:00 pm on 8 May, 2023",
        "9999-12-31T23:59:59-08:00",
        "0001-01-01T00:00:00+08:00",
        "\ud83d",
        "x" * 5000,
        float("nan"),
        float("inf"),
        1e300,
        10**400,
        pytest.param(10**6000, id="a huge integer"),
        True,
    ],
)
def test_what_is_no_time_is_refused_by_name(value: str | int | float) -> None:
    with pytest.raises(InputError, match="expected a time") as caught:
        parse_time(value, zone=None)

    assert caught.value.field == "said_at"
    assert str(caught.value).encode()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "zone", ["", "Mars/Base", "localtime", "America", "../UTC", "+99:00", "北京"]
)
def test_an_unknown_zone_is_refused_by_name(zone: str) -> None:
    with pytest.raises(InputError, match="expected an IANA time zone") as caught:
        parse_time("2025-03-05", zone=zone)

    assert caught.value.field == "zone"


def test_a_time_whose_local_form_leaves_the_calendar_is_refused() -> None:
    with pytest.raises(InputError):
        parse_time("9999-12-31T23:00:00Z", zone="+08:00")


@given(st.one_of(st.text(), st.floats(), st.integers()))
def test_any_value_gives_a_time_in_utc_or_an_input_error(value: str | int | float) -> None:
    try:
        moment, _ = parse_time(value, zone="Asia/Tokyo")
    except InputError:
        return
    assert moment.tzinfo is UTC


@given(st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(9998, 1, 1)))  # noqa: DTZ001
def test_what_iso_writes_is_read_back(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)

    assert parse_time(aware.isoformat(), zone="Asia/Tokyo") == (aware, "Asia/Tokyo")
