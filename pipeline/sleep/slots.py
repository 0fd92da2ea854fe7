"""Typed values of a sentence: clock times, weekdays, dates, amounts, addresses.

Two sentences about the same thing conflict where a value of one type differs, so values are
compared by type and in one notation ("9 am" and "9:00", 三 and 3). Knows nothing of entries.
"""

import re
from collections.abc import Iterator, Mapping

Slots = Mapping[str, frozenset[str]]
"""Type to values; an amount's type is ``amount:`` and its unit."""


def _list(text: str) -> list[str]:
    return text.split()


_MONTHS = _list(
    "january february march april may june july august september october november december"
)
_MONTH = {name[:3]: str(number) for number, name in enumerate(_MONTHS, 1)}
_DAYS = {name: str(i) for i, name in enumerate(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])}
_WORDS = _list(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_NUMBER = {word: str(number) for number, word in enumerate(_WORDS, 2)} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "hundred": "100",
    "once": "1",
    "twice": "2",
}
_ORDINALS = _list("second third fourth fifth sixth seventh eighth ninth tenth")
_ORDINAL = {word: str(number) for number, word in enumerate(_ORDINALS, 2)}

_MONTH_RE = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_EN_VALUE = re.compile(
    rf"(?P<email>[\w.+-]+@[\w-]+\.[\w.-]*\w)"
    rf"|(?P<iso>\b\d{{4}}-\d{{1,2}}-\d{{1,2}}\b)"
    rf"|(?P<clock>\b\d{{1,2}}:\d{{2}}\s*(?:am\b|pm\b|a\.m\.|p\.m\.)?|\b\d{{1,2}}\s*(?:am\b|"
    rf"pm\b|a\.m\.|p\.m\.|o'clock\b)|\bnoon\b|\bmidnight\b)"
    rf"|(?P<dm>\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH_RE}\b)"
    rf"|(?P<md>\b{_MONTH_RE} \d{{1,2}}(?:st|nd|rd|th)?\b(?!:))"
    rf"|(?P<month>\b(?:in|since|for|by|until|early|late|mid|last|this|next|to|from|of|and) "
    rf"(?:early |late |mid-?)?{_MONTH_RE}\b)"
    rf"|(?P<weekday>\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b)"
    rf"|(?P<year>\b(?:19|20)\d{{2}}\b)"
    rf"|(?P<ordinal>\b(?:{'|'.join(_ORDINALS)})\b)"
    rf"|(?P<amount>[$€£¥]?\b(?:\d[\d,]*(?:\.\d+)*|{'|'.join(_NUMBER)})\b\s?%?)",
    re.IGNORECASE,
)
_UNIT_AFTER = re.compile(r"[-\s]*(?:more |new |small |old )?([A-Za-z]+)")
_UNIT_BEFORE = re.compile(r"([A-Za-z]+)\s*$")
_NO_UNIT = frozenset(
    _list("of in on at per a an the and or with now for from to every each by since is are was")
)

_ZH_NUM = r"(?:\d[\d,]*(?:\.\d+)?[百千万亿]*|[零〇一二两三四五六七八九十百千万亿]+)"
_ZH_VALUE = re.compile(
    rf"(?P<email>[\w.+-]+@[\w-]+\.[A-Za-z.-]*[A-Za-z])"
    rf"|(?P<iso>\d{{4}}-\d{{1,2}}-\d{{1,2}})"
    rf"|(?P<weekday>(?:周|星期|礼拜)[一二三四五六日天])"
    rf"|(?P<md>{_ZH_NUM}月{_ZH_NUM}[日号])"
    rf"|(?P<year>(?:19|20)\d{{2}}\s?年?(?!\d))"
    rf"|(?P<month>{_ZH_NUM}月份?)"
    rf"|(?P<clock>(?:凌晨|早上|上午|中午|下午|晚上|傍晚)?(?:\d{{1,2}}:\d{{2}}|{_ZH_NUM}点(?:半|"
    rf"一刻|三刻|{_ZH_NUM}分?)?))"
    rf"|(?P<amount>{_ZH_NUM})"
)
_ZH_UNIT = re.compile(r"\s*(公斤|公里|小时|分钟|居室|[A-Za-z%]+|[一-鿿])")
_ZH_DIGIT = {char: i for i, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_ZH_SCALE = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}


def chinese_number(text: str) -> str | None:
    """Chinese or mixed numerals (十二, 8万, 三千六百) as digits; None where no digit is in it."""
    match = re.match(r"[\d,.]+", text)
    if match and len(match[0]) == len(text):
        return text.replace(",", "")
    total, section, current = 0, 0, float(match[0].replace(",", "")) if match else 0
    for char in text[match.end() if match else 0 :]:
        if char in _ZH_DIGIT:
            current = _ZH_DIGIT[char]
            continue
        scale = _ZH_SCALE[char]
        if scale < 10**4:
            section, current = section + int((current or 1) * scale), 0
        else:
            total, section, current = total + int((section + current) * scale), 0, 0
    value = total + section + current
    return str(int(value)) if value else None


def values(text: str, *, is_chinese: bool) -> tuple[dict[str, frozenset[str]], str]:
    """The typed values of a sentence, and the sentence with them blanked out."""
    pattern, read = (_ZH_VALUE, _chinese) if is_chinese else (_EN_VALUE, _english)
    found: dict[str, set[str]] = {}
    rest: list[str] = []
    end = 0
    for match in pattern.finditer(text):
        pairs = list(read(match, text))
        for key, value in pairs:
            found.setdefault(key, set()).add(value)
        rest.append(text[end : match.start()] + (" " if pairs else match[0]))
        end = match.end()
    rest.append(text[end:])
    return {key: frozenset(each) for key, each in found.items()}, "".join(rest)


def _english(match: re.Match[str], text: str) -> Iterator[tuple[str, str]]:
    kind, value = str(match.lastgroup), match[0].lower()
    digits = re.findall(r"\d+", value)
    month = re.search(_MONTH_RE, value)
    if kind == "clock":
        yield kind, _english_clock(value, digits)
    elif kind in ("dm", "md") and month:
        yield "day", f"{_MONTH[month[0][:3]]}-{int(digits[0])}"
        yield "month", _MONTH[month[0][:3]]
    elif kind == "iso":
        yield from _iso(digits)
    elif kind == "month" and month:
        yield kind, _MONTH[month[0][:3]]
    elif kind == "weekday":
        yield kind, _DAYS[value[:3]]
    elif kind == "ordinal":
        yield from _english_amount(_ORDINAL[value], match, text)
    elif kind == "amount":
        number = value.strip("$€£¥% ").replace(",", "")
        yield from _english_amount(_NUMBER.get(number, number), match, text)
    else:
        yield kind, value


def _english_clock(value: str, digits: list[str]) -> str:
    if value in ("noon", "midnight"):
        return "720" if value == "noon" else "0"
    hour, minute = int(digits[0]), int(digits[1]) if len(digits) > 1 else 0
    if "p" in value and hour < 12:
        hour += 12
    return str(hour * 60 + minute)


def _english_amount(number: str, match: re.Match[str], text: str) -> Iterator[tuple[str, str]]:
    if match[0][0] in "$€£¥" or match[0].endswith("%"):
        yield f"amount:{match[0].strip()[0 if match[0][0] in '$€£¥' else -1]}", number
        return
    after = _UNIT_AFTER.match(text, match.end())
    before = _UNIT_BEFORE.search(text, 0, match.start())
    unit = after[1].lower() if after else ""
    if not unit or unit in _NO_UNIT:
        unit = before[1].lower() if before else ""
    unit = "" if unit in _NO_UNIT else unit
    unit = {"children": "child", "kids": "child", "kid": "child", "hrs": "hour"}.get(unit, unit)
    yield f"amount:{unit.rstrip('s')}", number


def _iso(digits: list[str]) -> Iterator[tuple[str, str]]:
    yield "year", digits[0]
    yield "month", str(int(digits[1]))
    yield "day", f"{int(digits[1])}-{int(digits[2])}"


def _chinese(match: re.Match[str], text: str) -> Iterator[tuple[str, str]]:
    kind, value = str(match.lastgroup), match[0]
    if kind == "weekday":
        yield kind, str("一二三四五六日天".index(value[-1]) % 7)
    elif kind == "md":
        month, day = value[:-1].split("月")
        yield "day", f"{chinese_number(month)}-{chinese_number(day)}"
        yield "month", str(chinese_number(month))
    elif kind == "iso":
        yield from _iso(value.split("-"))
    elif kind == "month":
        yield kind, str(chinese_number(value.rstrip("份")[:-1]))
    elif kind == "clock":
        yield kind, _chinese_clock(value)
    elif kind == "year":
        yield kind, value[:4]
    elif kind == "amount":
        number = None if value == "一" else chinese_number(value)
        unit = _ZH_UNIT.match(text, match.end())
        if number:
            yield f"amount:{unit[1].lower() if unit else ''}", number
    else:
        yield kind, value.lower()


def _chinese_clock(value: str) -> str:
    is_late = value.startswith(("下午", "晚上", "傍晚"))
    clock = re.sub("^(凌晨|早上|上午|中午|下午|晚上|傍晚)", "", value)
    hour_text, _, minute_text = clock.replace(":", "点").partition("点")
    quarter = {"半": 30, "一刻": 15, "三刻": 45, "": 0}
    hour = int(float(chinese_number(hour_text) or 0))
    minute = quarter.get(minute_text)
    if minute is None:
        minute = int(chinese_number(minute_text.rstrip("分")) or 0)
    return str((hour + 12 if is_late and hour < 12 else hour) * 60 + minute)
