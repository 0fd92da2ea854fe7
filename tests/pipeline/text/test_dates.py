import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.text.dates import resolve_dates

MONDAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def resolved(text: str, *, said_at: datetime = MONDAY, zone: str = "UTC") -> str:
    language = "zh" if any("\u4e00" <= sign <= "\u9fff" for sign in text) else "en"
    return resolve_dates(text, said_at=said_at, zone=zone, language=language)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I repainted the shed yesterday.", "I repainted the shed on 7 May 2023."),
        ("Yesterday was long.", "7 May 2023 was long."),
        ("Yesterday I slept.", "On 7 May 2023 I slept."),
        ("until tomorrow", "until 9 May 2023"),
        ("today's list", "8 May 2023's list"),
        ("The day before yesterday it rained", "On 6 May 2023 it rained"),
        ("see you the day after tomorrow", "see you on 10 May 2023"),
        ("this morning I ran", "on the morning of 8 May 2023 I ran"),
        ("we danced last night", "we danced on the night of 7 May 2023"),
        ("tonight we sail", "on the evening of 8 May 2023 we sail"),
        ("call me tomorrow evening", "call me on the evening of 9 May 2023"),
        ("I flew last Friday", "I flew on Friday, 5 May 2023"),
        ("I fly next Friday", "I fly on Friday, 19 May 2023"),
        ("I fly this Friday", "I fly on Friday, 12 May 2023"),
        ("see you on Tuesday next week", "see you on Tuesday, 16 May 2023"),
        ("next week on Tuesday", "on Tuesday, 16 May 2023"),
        ("We moved two weeks ago", "We moved in the week of 24 April 2023"),
        ("5 days ago", "on 3 May 2023"),
        ("three months ago", "in February 2023"),
        ("about 2 years ago", "about 2021"),
        ("three nights ago", "on the night of 5 May 2023"),
        ("I left this Monday", "I left on Monday, 8 May 2023"),
        ("half a year ago", "around November 2022"),
        ("more than two years ago", "more than two years before 8 May 2023"),
        ("a few days ago", "a few days before 8 May 2023"),
        ("last week", "in the week of 1 May 2023"),
        ("since last month", "since April 2023"),
        ("early next month", "early in June 2023"),
        ("Last year I sang", "In 2022 I sang"),
        ("last weekend", "on the weekend of 6 May 2023"),
        ("the week before last", "in the week of 24 April 2023"),
        ("last March and next June", "in March 2023 and in June 2023"),
        ("we leave in 3 days", "we leave on 11 May 2023"),
        ("a week from now", "in the week of 15 May 2023"),
        ("by Friday", "by Friday, 12 May 2023"),
        ("since Friday", "since Friday, 5 May 2023"),
        ("We met a year ago today.", "We met on 8 May 2022."),
        ("two months ago tomorrow", "on 9 March 2023"),
        ("a week ago on Friday", "on 28 April 2023"),
        ("It opens two weeks from Friday.", "It opens on 26 May 2023."),
        ("a week from tomorrow", "on 16 May 2023"),
        ("Tomorrow week we sail.", "On 16 May 2023 we sail."),
        ("We sail Friday week.", "We sail on 19 May 2023."),
        ("A fortnight ago I sailed.", "In the week of 24 April 2023 I sailed."),
        ("I sailed the Friday before last.", "I sailed on Friday, 28 April 2023."),
        ("I sail the Friday after next.", "I sail on Friday, 26 May 2023."),
        ("We sailed over the weekend.", "We sailed over the weekend of 6 May 2023."),
        ("We will sail at the weekend.", "We will sail on the weekend of 13 May 2023."),
        ("It is due by the end of the month.", "It is due by the end of May 2023."),
        ("They will move at the end of the year.", "They will move at the end of 2023."),
        ("See you Thursday!", "See you on Thursday, 11 May 2023!"),
    ],
)
def test_english_dates_become_absolute(text: str, expected: str) -> None:
    assert resolved(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went there on Tuesday.", "I went there on Tuesday, 2 May 2023."),
        ("I'm seeing her on Tuesday.", "I'm seeing her on Tuesday, 9 May 2023."),
        ("The exam is on Tuesday.", "The exam is on Tuesday, 9 May 2023."),
        ("On Tuesday we met Ana.", "On Tuesday, 2 May 2023 we met Ana."),
        ("Tea on Tuesday?", "Tea on Tuesday?"),
        ("周五去了医院", "2023年5月5日周五去了医院"),
        ("周五要交报告", "2023年5月12日周五要交报告"),
        ("周末打算爬山", "2023年5月13日那个周末打算爬山"),
        ("周末爬山了", "2023年5月6日那个周末爬山了"),
        ("周五", "周五"),
    ],
)
def test_a_bare_weekday_goes_where_the_verb_points(text: str, expected: str) -> None:
    assert resolved(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("昨天我刷了围栏", "2023年5月7日我刷了围栏"),
        ("大前天、前天、大后天", "2023年5月5日、2023年5月6日、2023年5月11日"),
        ("明早八点开会", "2023年5月9日早上八点开会"),
        ("昨晚没睡", "2023年5月7日晚上没睡"),
        ("上周五搬的", "2023年5月5日周五搬的"),
        ("下下周三见", "2023年5月24日周三见"),
        ("上星期天", "2023年5月7日周日"),
        ("上周很忙", "2023年5月1日那周很忙"),
        ("上周一起吃饭", "2023年5月1日那周一起吃饭"),
        ("下周末", "2023年5月20日那个周末"),
        ("下个月去东京", "2023年6月去东京"),
        ("上个月底", "2023年4月底"),
        ("下月5号", "2023年6月5号"),
        ("去年", "2022年"),
        ("后年", "2025年"),
        ("三天前", "2023年5月5日"),
        ("二十五天以前", "2023年4月13日"),
        ("两个星期前", "2023年4月24日那周"),
        ("三个月前", "2023年2月"),
        ("十年前", "2013年"),
        ("半年前", "2022年11月左右"),
        ("半个月前", "2023年4月23日左右"),
        ("12天前", "2023年4月26日"),
        ("几天前", "2023年5月8日的几天前"),
        ("三天后要出发", "2023年5月11日要出发"),
        ("后天天气怎么样", "2023年5月10日天气怎么样"),
        ("去年今天我出海", "2022年5月8日我出海"),
        ("明年的今天我们再来", "2024年5月8日我们再来"),
        ("三天后我姑姑过来", "2023年5月11日我姑姑过来"),
    ],
)
def test_chinese_dates_become_absolute(text: str, expected: str) -> None:
    assert resolved(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "May I march on for a second?",
        "I run on Tuesdays and every Friday",
        "He built it in 3 days",
        "for the first time in two years",
        "over the last week",
        "the last week of school",
        "2 or 3 days ago",
        "the Today show",
        "on Friday, 5 May 2023",
        "open `yesterday` or https://example.org/yesterday or yesterday.txt",
        "```\nyesterday = today\n```",
        'She wrote "see you tomorrow"',
        "> I will call you tomorrow",
        "每周五开会，周一到周五上班",
        "雨后天晴，如今天冷",
        "过去年轻的时候",
        "三天后他醒了",
        "三月前要完成",
        "《明天》很好听",
        "一周五天",
        "先天后天",
        "二三十年前",
        "I always swim on Friday",
        "last Tuesday week",
        "the weekend of the fair",
        "We usually sail at the weekend",
        "The end of the month is always quiet",
        "三天后我都会忘",
        "明天会更好",
        "周末喜欢睡懒觉",
        "三月后要去",
        "周三次要会议",
        "the last march of that army, every next Friday, my last Friday there",
        "the Last Week tonight-ish",
        "this night, last morning",
        "every last June",
        "for two days from now on",
        "my last week at the office",
        "in 1999 week",
    ],
)
def test_what_is_no_relative_date_stays(text: str) -> None:
    assert resolved(text) == text


def test_the_day_is_that_of_the_zone_it_was_said_in() -> None:
    late = datetime(2025, 7, 25, 2, tzinfo=UTC)

    assert resolved("today", said_at=late, zone="America/New_York") == "on 24 July 2025"
    assert resolved("今天", said_at=late, zone="Asia/Shanghai") == "2025年7月25日"


@pytest.mark.parametrize("year", [1, 9999])
def test_dates_beyond_the_calendar_stay_relative(year: int) -> None:
    said_at = datetime(year, 1 if year == 1 else 12, 1, tzinfo=UTC)
    text = "last week, next year, 9999 years ago, 去年, 明年, 下下周"

    assert "9999 years ago" in resolved(text, said_at=said_at)


def test_other_languages_stay() -> None:
    text = "今日 on today"

    assert resolve_dates(text, said_at=MONDAY, zone="UTC", language="ja") == text


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(InputError):
        resolved("today", zone="Nowhere")


PIECES = [
    *("yesterday", "today", "tomorrow", "tonight", "last", "next", "this", "the", "week", "month"),
    *("year", "Friday", "on", "in", "by", "since", "3", "two", "days", "weeks", "ago", "a few"),
    *("May", "March", "was", "will", "'s", ",", ". ", "half a year", "day before", "from now"),
    *(
        "昨天",
        "后天",
        "上",
        "下",
        "个",
        "周",
        "五",
        "一",
        "末",
        "月",
        "年",
        "三",
        "天",
        "前",
        "后",
        "去",
    ),
    *("了", "要", "半", "今", "明", "日", "晚", "的", "几", "多", "“", "”", "`", "2023", "起"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=10), st.sampled_from(["", " "]), st.datetimes())
def test_resolving_twice_changes_nothing_more(
    pieces: list[str], gap: str, said_at: datetime
) -> None:
    said_at = said_at.replace(tzinfo=UTC)

    once = resolved(gap.join(pieces), said_at=said_at)

    assert resolved(once, said_at=said_at) == once


@given(st.text(), st.datetimes())
def test_any_text_can_be_resolved(text: str, said_at: datetime) -> None:
    once = resolved(text, said_at=said_at.replace(tzinfo=UTC))

    assert once == resolved(text, said_at=said_at.replace(tzinfo=UTC))


def test_a_thousand_sentences_take_no_more_than_seconds() -> None:
    sentence = (
        "I went to the gym on Tuesday, saw Ana last week, and 三天前 I was at home this year."
    )

    started = time.process_time()
    for _ in range(1000):
        resolved(sentence)

    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "piece",
    [
        "昨",
        "天气好",
        "昨天",
        "x",
        "yesterday ",
        "on Tuesday ",
        "last ",
        "3 ",
        "“",
        '"',
        "`",
        "@",
        "> ",
    ],
)
def test_two_hundred_thousand_characters_take_no_more_than_seconds(piece: str) -> None:
    text = piece * (200_000 // len(piece))

    started = time.process_time()
    resolve_dates(text, said_at=MONDAY, zone="UTC", language="zh")

    assert time.process_time() - started < 10
