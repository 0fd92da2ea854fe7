"""What the messages of a chat model's statement say, and whether its numbers and script are theirs.

What a statement may hold stands in the messages it names, in the dates that they speak of, or in
when and by whom they were said. A number that is spelled there may be a digit here, and 3 in the
afternoon may be 15:00; more is not worked out: what cannot be found was invented.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from pipeline.awake.chat_lines import local_time
from pipeline.messages import Message
from pipeline.text.dates import resolve_dates
from pipeline.text.days import MONTH_NAMES, days_in
from pipeline.text.languages import UNDETERMINED, language
from pipeline.text.stems import stem

_DIGITS = re.compile(r"\d+(?:,\d{3})+(?!\d)|\d+")
_COUNTED = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_ROUND = {"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "thousand": 1000, "dozen": 12}
_SPELLED = {word: number for number, word in enumerate(_COUNTED.split(), start=2)} | _ROUND
_ORDINALS = {"second": 2, "third": 3, "fourth": 4, "fifth": 5, "twice": 2, "half": 30}
_HAN_DIGITS = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
_HAN_NUMBER = re.compile(r"[零一二两三四五六七八九十百千万亿半]+")
_AFTERNOON = re.compile(
    r"下午|晚上|傍晚|中午|今晚|昨晚|明晚|\d\s?p\.?m\b|afternoon|evening|night|noon", re.IGNORECASE
)
_LETTER = r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]"
LATIN_WORD = re.compile(rf"{_LETTER}+(?:['’&.-]{_LETTER}+)*")
"""A word of any script but the Chinese and Japanese ones, with what joins its parts."""
_LATIN = frozenset({"en", "de", "fr", "es", "pt", "it", "nl", "vi", UNDETERMINED})


@dataclass(frozen=True)
class Said:
    """What the named messages say, in all the forms in which a statement may repeat it."""

    messages: tuple[Message, ...]
    speakers: tuple[str, ...]

    @cached_property
    def text(self) -> str:
        """The original texts and the same with their dates resolved."""
        return "\n".join(each for m in self.messages for each in (m.content, dated(m)))

    @cached_property
    def folded(self) -> str:
        """All text and the speakers' names, in lower case."""
        return "\n".join((self.text, *self.speakers)).casefold()

    @cached_property
    def words(self) -> frozenset[str]:
        """The words, and their stems."""
        words = {word.casefold().removesuffix("'s") for word in LATIN_WORD.findall(self.folded)}
        parts = {part for word in words for part in re.split(r"['’&.-]", word)}
        return frozenset(words | parts | {stem(word) for word in words | parts})

    @cached_property
    def times(self) -> tuple[datetime, ...]:
        """When the messages were said, where they were said."""
        return tuple(local_time(message) for message in self.messages)

    @cached_property
    def told(self) -> frozenset[int]:
        """The values of the numbers of the messages, spelled ones too."""
        return frozenset(_values(self.text))

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Those, one, the years of saying, and hours of the afternoon counted from midnight."""
        values = {*self.told, 1, *(moment.year for moment in self.times)}
        if _AFTERNOON.search(self.text):
            values |= {value + 12 for value in values if value < 12} | {0}
        if re.search(r"\d\s?(?:[ap]\.?m\b|点)|o['’]clock|点", self.text, re.IGNORECASE):
            values |= {0, 30} if "半" in self.text else {0}
        return frozenset(values)

    def scripts(self) -> frozenset[str]:
        """The scripts of the messages; none where no letter tells."""
        return frozenset(s for m in self.messages if (s := script(m.content)))


def dated(message: Message) -> str:
    """The message with its relative dates made absolute."""
    return resolve_dates(
        message.content,
        said_at=message.said_at,
        zone=message.zone,
        language=language(message.content),
    )


def script(text: str) -> str:
    """One word for all languages of Latin letters, the code of any other; empty without letters."""
    code = language(text)
    if code == UNDETERMINED:
        return ""
    return "latin" if code in _LATIN else code


def is_in_language(text: str, said: Said) -> bool:
    """Whether the statement is in a script of its messages; without letters it is in any."""
    written, spoken = script(text), said.scripts()
    return not written or not spoken or written in spoken


def invented_numbers(text: str, said: Said) -> list[str]:
    """The numbers of the text that its messages do not hold, as they are written.

    Its whole dates are not looked at, nor the day and the time of saying.
    """
    bare = _undated(text, said)
    return [*_unknown_digits(bare, said), *_unknown_spelled(bare, said)]


def _undated(text: str, said: Said) -> str:
    for day in reversed(days_in(text)):
        text = text[: day.start] + text[day.end :]
    for moment in said.times:
        name = MONTH_NAMES[moment.month - 1]
        names = f"{name}|{name[:3]}"
        number = rf"{moment.day}(?:st|nd|rd|th)?"
        forms = (
            rf"\b0?{moment.hour}:{moment.minute:02d}\b",
            rf"\b{number} (?:{names})\b|\b(?:{names}) {number}\b",
            rf"{moment.month}月{moment.day}[日号]",
        )
        text = re.sub("|".join(forms), "", text)
    return text


def _unknown_digits(text: str, said: Said) -> list[str]:
    return [
        match.group()
        for match in _DIGITS.finditer(text)
        if int(match.group().replace(",", "")) not in said.numbers
    ]


def _unknown_spelled(text: str, said: Said) -> list[str]:
    english = [word for word in LATIN_WORD.findall(text) if word.casefold() in _SPELLED]
    found = [word for word in english if _SPELLED[word.casefold()] not in said.numbers]
    for match in _HAN_NUMBER.finditer(text):
        run = match.group()
        is_counting = len(run) > 1 or run not in "零一万千百半"
        if is_counting and run not in said.text and _han_value(run) not in said.numbers:
            found.append(run)
    return found


def _values(text: str) -> Iterable[int]:
    for match in _DIGITS.finditer(text):
        yield int(match.group().replace(",", ""))
    known = _SPELLED | _ORDINALS
    for word in LATIN_WORD.findall(text):
        for part in word.casefold().split("-"):
            if part in known:
                yield known[part]
    for match in _HAN_NUMBER.finditer(text):
        if (value := _han_value(match.group())) is not None:
            yield value


def _han_value(run: str) -> int | None:
    """The value of Chinese numerals below ten thousand; None for what is no one number."""
    total, last = 0, 0
    for sign in run:
        if sign in "十百千":
            total += (last or 1) * {"十": 10, "百": 100, "千": 1000}[sign]
            last = 0
        elif sign in _HAN_DIGITS and not last:
            last = _HAN_DIGITS[sign]
        else:
            return None
    return total + last


def speakers_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """Everybody who speaks in the messages, and what nobody's name is."""
    names = dict.fromkeys(message.speaker for message in messages)
    return (*names, "user", "assistant", "用户", "助手")
