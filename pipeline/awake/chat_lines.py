"""A batch as a chat model is shown it: one line a message, fenced and escaped as data.

The words are the compressed ones, with dates made absolute; a date that the compression dropped is
put back at the end of its line. Topics are labelled by the words of the messages shown alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.awake.extract_split import Measure, split
from pipeline.awake.topics import topic_of
from pipeline.messages import Batch, Message, Role
from pipeline.prompts import PromptLanguage
from pipeline.prompts.shown import FENCES, one_line, short_ids
from pipeline.text.dates import resolve_dates
from pipeline.text.days import days_in
from pipeline.text.languages import language
from pipeline.text.zones import zone_info

FENCE = FENCES[0]
_NAME_CHARS = 60
_WEEKDAYS: dict[PromptLanguage, str] = {"en": "Mon Tue Wed Thu Fri Sat Sun", "zh": "一二三四五六日"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message, or a piece of a long one, as it is shown; ``id`` is its name in this batch."""

    id: str
    message: Message
    topic: str
    text: str


def lines_of(batch: Batch, *, roles: Sequence[Role], measure: Measure, limit: int) -> list[Line]:
    """The lines of the messages of these roles, in order; a blank message gives none.

    Args:
        limit: tokens of one line; a longer message is shown in several lines of one id.
    """
    found: list[Line] = []
    ids = short_ids([message.id for message in batch.messages])
    for segment in batch.segments:
        told = [message for message in segment.messages if message.role in roles]
        is_whole = len(told) == len(segment.messages)
        topic = one_line(segment.topic if is_whole else topic_of(told, roles=roles))
        for message in told:
            for piece in split(_words(message), measure=measure, limit=limit):
                found.append(Line(id=ids[message.id], message=message, topic=topic, text=piece))
    return found


def parts_of(lines: Sequence[Line], *, measure: Measure, limit: int) -> Iterator[list[Line]]:
    """The lines in as few parts of at most about ``limit`` tokens as their order allows."""
    held: list[Line] = []
    tokens = 0
    for line in lines:
        length = measure(line.text)
        if held and tokens + length > limit:
            yield held
            held, tokens = [], 0
        held.append(line)
        tokens += length
    if held:
        yield held


def prompt_language(lines: Sequence[Line]) -> PromptLanguage:
    """Chinese where most of what is shown is Chinese, else English."""
    spoken = [(language(line.message.content), len(line.text)) for line in lines]
    # A Chinese character says about as much as three Latin letters.
    chinese = 3 * sum(length for code, length in spoken if code == "zh")
    return "zh" if chinese > sum(length for code, length in spoken if code != "zh") else "en"


def shown(lines: Sequence[Line], *, spoken: PromptLanguage) -> str:
    """The lines inside their fence, under their topics and times."""
    written: list[str] = []
    topic, time = "", ""
    for line in lines:
        if line.topic and line.topic != topic:
            topic = line.topic
            written.append(f"# {topic}")
        if (now := _time(line.message, spoken)) != time:
            time = now
            written.append(f"@ {time}")
        written.append(f"{line.id} {_who(line.message)}: {line.text}")
    return "\n".join((f"<{FENCE}>", *written, f"</{FENCE}>"))


def _words(message: Message) -> str:
    """What is kept of the message, its dates absolute, none of them lost."""
    spoken = language(message.content)
    kept = message.content if message.compressed is None else message.compressed
    text = _resolved(kept, message, spoken)
    if kept != message.content:
        there = {each.day for each in days_in(text)}
        lost = [
            each
            for each in days_in(_resolved(message.content, message, spoken))
            if each.day not in there
        ]
        text = " ".join((text, *dict.fromkeys(f"({each.text})" for each in lost)))
    return one_line(text)


def _resolved(text: str, message: Message, spoken: str) -> str:
    return resolve_dates(text, said_at=message.said_at, zone=message.zone, language=spoken)


def _who(message: Message) -> str:
    name = one_line(message.speaker).replace(":", " ").replace("：", " ")[:_NAME_CHARS]
    return f"*{name}" if message.role is Role.ASSISTANT else name


def _time(message: Message, spoken: PromptLanguage) -> str:
    local = local_time(message)
    if spoken == "zh":
        return f"{local:%Y-%m-%d} 周{_WEEKDAYS['zh'][local.weekday()]} {local:%H:%M}"
    return f"{local:%Y-%m-%d} {_WEEKDAYS['en'].split()[local.weekday()]} {local:%H:%M}"


def local_time(message: Message) -> datetime:
    """When the message was said, in the zone it was said in."""
    return message.said_at.astimezone(zone_info(message.zone)[0])
