"""Months, times of day and the dates of clauses in statements."""

import pytest
from chat_batches import run, said, texts, told

from pipeline.awake.chat_clock import wrong_clocks


@pytest.mark.parametrize(
    ("spoken", "right", "wrong"),
    [
        ("I met Bob yesterday.", "in May 2023", "in December 2025"),
        ("I met Bob yesterday.", "in May", "in April 2023"),
        ("I met Bob in March.", "in March 2023", "in July"),
        ("I met Bob last month.", "in April", "in May"),
        ("I met Bob.", "in May 2023", "in June"),
        ("I met Bob last week.", "in May 2023", "in April"),
        ("I met Bob and may march with him.", "in May", "in March"),
        ("I met Bob at Christmas.", "in December", "on 3 December 2019"),
    ],
)
def test_a_month_must_be_one_that_was_meant(spoken: str, right: str, wrong: str) -> None:
    found, _ = run(
        said(spoken), told(f"<0> event: Mara met Bob {right}.", f"<0> event: Mara met Bob {wrong}.")
    )

    assert texts(found) == [f"Mara met Bob {right}."]
    assert found.refused == {"wrong date": 1}


@pytest.mark.parametrize(
    ("spoken", "right", "wrong"),
    [
        ("我昨天见了王芳。", "2023年5月", "2023年12月"),
        ("我三月见了王芳。", "2023年3月", "7月"),
        ("我上个月见了王芳。", "四月", "五月"),
    ],
)
def test_a_chinese_month_must_be_one_that_was_meant(spoken: str, right: str, wrong: str) -> None:
    found, _ = run(
        said(spoken),
        told(f"<0> event: Mara在{right}见了王芳。", f"<0> event: Mara在{wrong}见了王芳。"),
    )

    assert texts(found) == [f"Mara在{right}见了王芳。"]
    assert found.refused == {"wrong date": 1}


def test_of_several_dates_a_statement_has_that_of_the_clause_it_is_about() -> None:
    batch = said("I ate with Ann yesterday and see Bob next Friday.")

    found, _ = run(
        batch,
        told(
            "<0> event: Mara ate with Ann on 19 May 2023.",
            "<0> event: Mara sees Bob on 7 May 2023.",
            "<0> event: Bob ate on 7 May 2023.",
        ),
    )

    assert texts(found) == [
        "Mara ate with Ann on 7 May 2023.",
        "Mara sees Bob on 19 May 2023.",
        "Bob ate on 7 May 2023.",  # of words of both clauses nothing is told
    ]
    assert found.refused == {"date corrected": 2}


def test_of_several_chinese_dates_a_statement_has_that_of_its_clause() -> None:
    found, _ = run(
        said("我昨天和王芳吃饭，下周五去看牙医。"),
        told("<0> event: Mara于2023年5月7日看牙医。", "<0> event: Mara于2023年5月7日和王芳吃饭。"),
    )

    assert texts(found) == ["Mara于2023年5月19日看牙医。", "Mara于2023年5月7日和王芳吃饭。"]


@pytest.mark.parametrize(
    ("spoken", "told_"),
    [
        ("meet me at 3 pm", "at 15:00"),
        ("meet me at 3 pm", "at 3 pm"),
        ("meet me at 3 in the afternoon", "at 3:00 pm"),
        ("meet me at 3", "at 3:00"),
        ("meet me at 3", "at 15:00"),
        ("at noon or 12 pm", "at 12:00"),
        ("明天下午3点", "15:00"),
        ("明天下午3点", "下午三点"),
        ("今晚七点", "19:00"),
        ("早上8点", "8:00"),
    ],
)
def test_a_time_of_day_may_be_written_otherwise(spoken: str, told_: str) -> None:
    assert wrong_clocks(told_, spoken) == []


@pytest.mark.parametrize(
    ("spoken", "told_"),
    [
        ("meet me at 3 pm", "3:00"),
        ("meet me at 3 pm", "3 am"),
        ("dinner at 7:30 p.m.", "7:30"),
        ("明天下午3点", "3:00"),
        ("明天下午3点半", "3:30"),
        ("晚上八点", "早上8点"),
        ("早上8点", "20:00"),
    ],
)
def test_the_other_half_of_the_day_is_wrong(spoken: str, told_: str) -> None:
    assert wrong_clocks(told_, spoken) == [told_]


def test_a_statement_with_a_wrong_time_is_refused() -> None:
    found, _ = run(
        said("明天下午3点我去看牙。"),
        told(
            "<0> event: Mara于2023年5月9日3:00去看牙。",
            "<0> event: Mara于2023年5月9日15:00去看牙。",
        ),
    )

    assert texts(found) == ["Mara于2023年5月9日15:00去看牙。"]
    assert found.refused == {"wrong date": 1}
