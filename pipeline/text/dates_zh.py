"""Relative dates in Chinese: 昨天 becomes 2023年5月7日, 上周 becomes 2023年5月1日那周.

What follows a date in Chinese (下午三点, 5号, 月底) goes on as it is. Characters that only meet by
chance (雨后天晴, 下个月饼) are kept out by what stands beside them, since Chinese writes no spaces.
"""

import re
from collections.abc import Callable
from datetime import date

from pipeline.text.daterules import (
    Place,
    Rule,
    Rules,
    days_from,
    monday,
    month_from,
    same_day,
    weekday_after,
    weekday_before,
)

_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_WEEKDAYS = {sign: value for value, sign in enumerate("一二三四五六日")} | {"天": 6}
_WEEKDAY_SIGNS = "一二三四五六日"

_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_PARTS = {"早": "早上", "晨": "清晨", "晚": "晚上", "夜": "夜里"}

_WEEK = r"(?:周|星期|礼拜)"
_STEP = r"(?P<step>上上|下下|上|下|这|本)个?"
_COUNT = r"(?P<count>\d{1,4}|[一二三四五六七八九十百两]{1,5})"
_NUMERALS = r"\d.一二三四五六七八九十百千两几数多"
_TOGETHER = "起直共块同样定些"
_MEASURE_WORDS = "个次人场种张篇本位名件条家只部份届"

_HABIT = re.compile(r"每|都|一般|通常|经常|总是|常常|往往|平时|喜欢|习惯|有时")
_STRONG_FUTURE = re.compile(
    r"要|会(?!议)|将|打算|准备|计划|提醒|记得|截止|之前|以前|必须|得交|到期|希望"
)
_PAST = re.compile(r"了|过(?!来|去的)|刚|已经|那天|的时候|当时")
_FUTURE = re.compile(r"想|约|见|开会|出发|去|交|飞|再|来|有空|有个|安排|可以|能|是")
_CLAUSE_END = re.compile(r"[，。！？；,!?;\n]")
_SENTENCE_END = re.compile(r"[。！？!?\n]")


def _written(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _day(place: Place) -> str:
    return _written(days_from(place.day, _DAYS[place.part("step")]))


def _part_of_day(place: Place) -> str:
    return _day(place) + _PARTS[place.part("part")]


def _year(place: Place) -> str:
    return f"{month_from(place.day, 12 * _YEARS[place.part('step')]).year}年"


def _day_of_year(place: Place) -> str:
    return _written(same_day(place.day, 12 * _YEARS[place.part("step")]))


def _month(place: Place) -> str:
    month = month_from(place.day, _STEPS[place.part("step")])
    return f"{month.year}年{month.month}月"


def _week(place: Place) -> str:
    first = monday(place.day, _STEPS[place.part("step")])
    if place.part("end"):
        return f"{_written(days_from(first, 5))}那个周末"
    sign = place.part("weekday")
    if not sign or _is_other_word(place):
        return f"{_written(first)}那周{sign}"
    return _on_weekday(days_from(first, _WEEKDAYS[sign]))


def _on_weekday(day: date) -> str:
    return f"{_written(day)}周{_WEEKDAY_SIGNS[day.weekday()]}"


def _is_other_word(place: Place) -> bool:
    """Whether the sign after 周 begins the next word, as in 上周一起去 or 上周三个人."""
    sign, follower = place.part("weekday"), place.match.string[place.match.end() :][:1]
    if not follower or sign in "日天":
        return False
    return follower in _MEASURE_WORDS or (sign == "一" and follower in _TOGETHER)


def _number(text: str) -> int:
    """The value of digits or of Chinese numerals below a thousand; ValueError for none."""
    if text.isdigit():
        return int(text)
    total, last = 0, 0
    for sign in text:
        if sign in "十百":
            total += (last or 1) * (10 if sign == "十" else 100)
            last = 0
        elif last:
            raise ValueError(f"{text} is not one number")
        else:
            last = _DIGITS[sign]
    return total + last


def _span(place: Place, count: int) -> str:
    match place.part("unit"):
        case "天":
            return _written(days_from(place.day, count))
        case "月":
            month = month_from(place.day, count)
            return f"{month.year}年{month.month}月"
        case "年":
            return f"{month_from(place.day, 12 * count).year}年"
    return f"{_written(monday(place.day, count))}那周"


def _ago(place: Place) -> str | None:
    if place.part("unit") == "月" and not place.part("measure"):
        return None
    if place.part("vague") or place.part("more") or place.part("over"):
        return f"{_written(place.day)}的{place.match.group()}"
    return _span(place, -_number(place.part("count")))


def _half_ago(place: Place) -> str:
    if place.part("unit") == "年":
        month = month_from(place.day, -6)
        return f"{month.year}年{month.month}月左右"
    return f"{_written(days_from(place.day, -15))}左右"


def _ahead(place: Place) -> str | None:
    if place.part("unit") == "月" and not place.part("measure"):
        return None
    is_ahead = _tense(place) == "future" or _opens_clause(place)
    return _span(place, _number(place.part("count"))) if is_ahead else None


def _opens_clause(place: Place) -> bool:
    """Whether the clause begins with the date and tells neither of what was nor of a habit."""
    text, start, end = place.match.string, place.match.start(), place.match.end()
    around = _between(text, start, end, _CLAUSE_END)
    is_first = not _CLAUSE_END.split(text[max(0, start - 60) : start])[-1].strip()
    return is_first and not (_HABIT.search(around) or _PAST.search(around))


def _between(text: str, start: int, end: int, stop: re.Pattern[str]) -> str:
    """What stands around ``start..end`` up to the next stop on either side."""
    before = stop.split(text[max(0, start - 60) : start])[-1]
    return f"{before} {stop.split(text[end : end + 60], maxsplit=1)[0]}"


def _tense(place: Place) -> str | None:
    """``future``, ``past``, or None, told by the clause around the date, else by its sentence."""
    match = place.match
    for stop in (_CLAUSE_END, _SENTENCE_END):
        around = _between(match.string, match.start(), match.end(), stop)
        if _HABIT.search(around):
            return None
        for tense, words in (("future", _STRONG_FUTURE), ("past", _PAST), ("future", _FUTURE)):
            if words.search(around):
                return tense
    return None


def _bare_weekday(place: Place) -> str | None:
    tense = _tense(place)
    if tense is None or (place.part("weekday") and _is_other_word(place)):
        return None
    if place.part("end"):
        is_past = tense == "past"
        near = days_from(place.day, 1 if is_past else -1)
        return f"{_written((weekday_before if is_past else weekday_after)(near, 5))}那个周末"
    find = weekday_before if tense == "past" else weekday_after
    return _on_weekday(find(place.day, _WEEKDAYS[place.part("weekday")]))


def _rule(pattern: str, write: Callable[[Place], str | None]) -> Rule:
    return Rule(pattern=re.compile(pattern), write=write)


_CHANCE = re.compile(
    r"先天后天|后天(?:性|的努力|形成|因素|培养|免疫|习得|养成)|[之以然午饭雨最事先]后天"
    r"|[前后]天(?:天(?!气)|[晴空黑亮冷热])|[之以目从午饭提]前[天年]|[如至当迄]今[天日年](?!的)"
    r"|[光透黎文]明[天日年]|明天会更好|今日(?:头条|说法)|明日(?:香|之|方舟|黄花)|昨日重现"
    r"|[昨今明][日](?:报|历)|[年月]前年|过去年|[去今明前后大]年(?:轻|代|级|龄|纪|迈|限|终|富|轮)"
    r"|[以如身桌头]上个?周|[以如]下个?周"
    r"|[上下这本]个?周(?:期|岁|转|围|边|密|全|到|遭|旋|率|刊|报|长|身|折|游|而)"
    r"|[上下这本]个?月(?:饼|亮|光|球|经|台|薪|票|租|历|卡|嫂|色|食)"
    r"|周[一二三四五六日](?:岁|年)|[昨今明]早(?:期|年|已|就|安)"
)

CHINESE = Rules(
    hint=re.compile(
        r"[昨今明前后去][天日晚早晨夜年儿]|[上下这本]个?[周星礼月]|[天周月年期拜]多?[之以]?[前后]"
        r"|周[一二三四五六日天末]|(?:星期|礼拜)[一二三四五六日天]"
    ),
    chance=_CHANCE,
    rules=(
        _rule(r"(?P<step>大前|大后|前|昨|今|明|后)(?:天|儿个|儿)", _day),
        _rule(r"(?P<step>昨|今|明)日", _day),
        _rule(r"(?P<step>昨|今|明|前(?=晚))(?P<part>早|晚|晨|夜)上?(?!点)", _part_of_day),
        _rule(rf"{_STEP}{_WEEK}(?:(?P<end>末)|(?P<weekday>[一二三四五六日天]))?", _week),
        _rule(rf"(?<![{_NUMERALS}])(?P<step>大前|前|去|明)年的?今[天日]", _day_of_year),
        _rule(rf"{_STEP}月", _month),
        _rule(
            rf"(?P<step>大前|(?<![{_NUMERALS}])前|去|今|明|(?<![{_NUMERALS}])后)年",
            _year,
        ),
        _rule(
            rf"(?<!日的)(?<![第{_NUMERALS}])(?:(?P<vague>好?几|数|两三|三四|三五|十几)|{_COUNT})"
            r"(?P<more>多)?(?P<measure>个)?(?P<unit>天|周|星期|礼拜|月|年)(?P<over>多)?"
            r"[以之]?前(?!端|台|后|往|进|面|言|提|途|期|线|列|辈|锋|年|天)",
            _ago,
        ),
        _rule(
            rf"(?<![{_NUMERALS}])(?:半(?P<unit>年)|半个(?P<half_month>月))[以之]?前(?!后|往|年|天)",
            _half_ago,
        ),
        _rule(
            rf"(?<![第{_NUMERALS}]){_COUNT}(?P<measure>个)?(?P<unit>天|周|星期|礼拜|月|年)"
            r"[以之]?后(?!台|端|宫|面|期|来|悔|果|勤|背|天|年|再)",
            _ahead,
        ),
        _rule(
            rf"(?<![上下这本每个周到至、~～\-—日（(逢那全整{_NUMERALS}]){_WEEK}"
            r"(?:(?P<end>末)|(?P<weekday>[一二三四五六日天])(?![到至~～\-—、岁]))",
            _bare_weekday,
        ),
    ),
)
