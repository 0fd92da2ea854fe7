"""Which days a text names."""

from datetime import date

import pytest

from pipeline.text.days import days_in


@pytest.mark.parametrize(
    ("text", "day", "written"),
    [
        ("on 7 May 2023.", date(2023, 5, 7), "7 May 2023"),
        ("Sunday, 7 May 2023 was hot", date(2023, 5, 7), "Sunday, 7 May 2023"),
        ("May 8th, 2023", date(2023, 5, 8), "May 8th, 2023"),
        ("2023-05-09 at noon", date(2023, 5, 9), "2023-05-09"),
        ("他2023年5月3日周三下午3点来", date(2023, 5, 3), "2023年5月3日周三"),
    ],
)
def test_a_whole_date_is_found_with_its_weekday(text: str, day: date, written: str) -> None:
    [found] = days_in(text)

    assert (found.day, found.text, found.is_exact) == (day, written, True)
    assert text[found.start : found.end] == written


@pytest.mark.parametrize(
    "text", ["in the week of 1 May 2023", "the weekend of 6 May 2023", "2023年5月1日那周"]
)
def test_a_week_is_no_day(text: str) -> None:
    [found] = days_in(text)

    assert not found.is_exact


@pytest.mark.parametrize("text", ["", "May 2023", "31 June 2023", "yesterday", "1.2023.5.7.8"])
def test_what_is_no_whole_date_is_none(text: str) -> None:
    assert days_in(text) == []
