"""Lines of a context, how entries and messages become them, and the draft they are placed in.

A draft never holds more than its tokens by its own count of the parts; every step of it can be
taken back, since the whole may count more than its parts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.entries import Entry
from pipeline.ids import EntryId, MessageId, identity
from pipeline.messages import Message, Segment
from pipeline.recall.frame import Section, Words, day, inline, quoted, said, time_of_day, zone_name
from pipeline.recall.shown import Citation, Context, Part
from pipeline.scratchpad import Item

Count = Callable[[Sequence[str]], list[int]]
"""A Tokenizer's ``count``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A ranked entry and those of its source messages that are at hand, in the entry's order."""

    entry: Entry
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line before it has a tag; ``key`` is shared by lines that say the same."""

    key: str
    section: Section
    order: tuple[datetime, int, int]
    day: str
    text: str
    entries: tuple[EntryId, ...] = ()
    messages: tuple[MessageId, ...] = ()
    quotes: tuple[MessageId, ...] = ()


class Draft:
    """Lines as they are placed, each step of which can be taken back."""

    def __init__(self, *, tokens: int, words: Words, opening: str, count: Count) -> None:
        self._words = words
        self._opening = opening
        self._count = count
        self._placed: dict[str, Line] = {}
        self._steps: list[tuple[str, Line | None]] = []
        self._known: dict[str, int] = {}
        self.left = tokens - self.cost(f"{opening}\n\n")

    def measure(self, texts: Sequence[str]) -> None:
        """Counts many texts at once, ahead of their use."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        self._known.update(zip(missing, self._count(missing) if missing else [], strict=True))

    def cost(self, text: str) -> int:
        """The tokens of a text."""
        self.measure([text])
        return self._known[text]

    def line(self, key: str) -> Line | None:
        """The line that was placed under a key."""
        return self._placed.get(key)

    def quotes(self) -> set[MessageId]:
        """The messages whose own text is placed."""
        return {one for line in self._placed.values() for one in line.quotes}

    def place(self, line: Line, *, most: int) -> int:
        """The tokens it took; 0 where it does not fit or joined a line that says the same."""
        same = self._placed.get(line.key)
        if same is not None:
            self._set(_joined(same, line))
            return 0
        tag = tag_text(len(self._placed) + 1)  # numbers change with the order, their sum does not
        cost = self.cost(tag) + self.cost(f"{line.text}\n") + self._heading_cost(line)
        if cost > min(most, self.left):
            return 0
        self._set(line)
        self.left -= cost
        return cost

    def extend(self, line: Line, text: str, message: MessageId, *, most: int) -> int:
        """Puts a message's own text under a placed line; the tokens it took, 0 if too many."""
        cost = self.cost(f"{text}\n")
        if cost > min(most, self.left):
            return 0
        self._set(replace(line, text=f"{line.text}\n{text}", quotes=(*line.quotes, message)))
        self.left -= cost
        return cost

    def take_back(self) -> None:
        """Undoes the last step; there is one while the context has a text."""
        key, before = self._steps.pop()
        if before is None:
            del self._placed[key]
        else:
            self._placed[key] = before

    def context(self) -> Context:
        """The text as it stands, with tags counted in the order of reading."""
        parts: list[Part] = []
        first = 1
        for section in Section:
            lines = [line for line in self._placed.values() if line.section is section]
            if lines:
                parts.append(_part(section, lines, first=first, words=self._words))
                first += len(lines)
        text = "\n\n".join([self._opening, *(part.text for part in parts)]) if parts else ""
        tokens = self._count([text])[0] if parts else 0
        return Context(text=text, tokens=tokens, parts=tuple(parts))

    def _set(self, line: Line) -> None:
        self._steps.append((line.key, self._placed.get(line.key)))
        self._placed[line.key] = line

    def _heading_cost(self, line: Line) -> int:
        beside = [one for one in self._placed.values() if one.section is line.section]
        title = 0 if beside else self.cost(f"{self._words.titles[line.section]}\n\n")
        is_new_day = all(one.day != line.day for one in beside)
        return title + (self.cost(f"{line.day}\n") if is_new_day else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How entries, messages and items become lines; ``zone`` is that of what names none.

    In a timeline memories and messages stand in one section, in order of time.
    """

    words: Words
    with_zone: bool
    zone: str = "UTC"
    is_timeline: bool = False

    def of_entry(self, remembered: Remembered, section: Section) -> Line:
        """An entry's line; a source message that equals it counts as quoted."""
        entry = remembered.entry
        body = said(entry.speaker, entry.text, words=self.words)
        same = identity(entry.text, "", "")
        return Line(
            key=identity(entry.text, entry.speaker, ""),
            section=self._section(section),
            order=(entry.order.said_at, entry.order.sequence, entry.order.ordinal),
            day=self._day(entry.said_at, entry.zone),
            text=body + self.words.status[entry.status],
            entries=(entry.id,),
            messages=entry.sources,
            quotes=tuple(
                one.id for one in remembered.messages if identity(one.content, "", "") == same
            ),
        )

    def of_message(self, message: Message, *, text: str | None = None) -> Line:
        """A message's line; with ``text`` what is shown of it, which then quotes it in part."""
        body = said(message.speaker, message.content if text is None else text, words=self.words)
        return Line(
            key=message.id,
            section=self._section(Section.WORKING_MEMORY),
            order=(message.said_at, message.sequence, 0),
            day=self._day(message.said_at, message.zone),
            text=f"{time_of_day(message.said_at, message.zone)} {body}",
            messages=(message.id,),
            quotes=(message.id,) if text is None else (),
        )

    def of_segment(self, segment: Segment) -> Line:
        """The line of a segment's topic, which leads to the message that it began with."""
        first = segment.messages[0]
        return Line(
            key=segment.id,
            section=Section.TOPICS,
            order=(first.said_at, first.sequence, 0),
            day=self._day(first.said_at, first.zone),
            text=inline(segment.topic),
            messages=(first.id,),
        )

    def of_item(self, item: Item, section: Section) -> Line:
        """A scratchpad item's line."""
        return Line(
            key=item.id,
            section=section,
            order=(item.said_at, 0, 0),
            day=self._day(item.said_at, self.zone),
            text=quoted(item.text),
            entries=item.entries,
            messages=item.sources,
        )

    def _section(self, section: Section) -> Section:
        in_time = (Section.EPISODIC, Section.WORKING_MEMORY)
        return Section.TIMELINE if self.is_timeline and section in in_time else section

    def _day(self, moment: datetime, zone: str) -> str:
        return f"{day(moment, zone)} {zone_name(zone)}" if self.with_zone else day(moment, zone)


def _part(section: Section, lines: Sequence[Line], *, first: int, words: Words) -> Part:
    ordered = sorted(lines, key=lambda line: (line.order, line.key))
    citations = tuple(
        Citation(
            tag=tag,
            text=f"{tag_text(tag)}{line.text}",
            entries=line.entries,
            messages=line.messages,
            quotes=line.quotes,
        )
        for tag, line in enumerate(ordered, start=first)
    )
    rows = [words.titles[section], *_rows(ordered, citations)]
    return Part(section=section, text="\n".join(rows), citations=citations)


def _rows(lines: Sequence[Line], citations: Sequence[Citation]) -> Iterator[str]:
    """Each line under its day."""
    last = ""
    for line, citation in zip(lines, citations, strict=True):
        if line.day != last:
            yield line.day
        last = line.day
        yield citation.text


def tag_text(number: int) -> str:
    """How a tag stands before its line."""
    return f"[{number}] "


def _joined(line: Line, same: Line) -> Line:
    return replace(
        line,
        entries=tuple(dict.fromkeys([*line.entries, *same.entries])),
        messages=tuple(dict.fromkeys([*line.messages, *same.messages])),
        quotes=tuple(dict.fromkeys([*line.quotes, *same.quotes])),
    )
