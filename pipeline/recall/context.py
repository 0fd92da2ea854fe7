"""A context for a prompt out of ranked entries, the newest messages and standing instructions.

Source: arXiv 2510.27246 (LIGHT), section 3: episodic memory with its raw source text, working
memory and scratchpad. Where we differ: each part has its own share of one budget, working memory is
filled newest first, every line carries a tag that leads to entries and messages, and nothing that
is shown is repeated. Knows nothing of stores, models and the clock.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.entries import Entry
from pipeline.ids import EntryId, MessageId, identity
from pipeline.messages import Message, MessageState
from pipeline.recall.frame import (
    QUOTE,
    Section,
    Words,
    day,
    said,
    time_of_day,
    words_for,
    zone_name,
)

INSTRUCTION_SHARE = 0.2
"""The most of a budget that standing instructions take."""
PENDING_SHARE = 0.25
"""The most of a budget that messages not yet extracted take, which nothing else can show."""
_LEAST_CLIP_TOKENS = 24

Count = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A ranked entry and those of its source messages that are at hand, in the entry's order."""

    entry: Entry
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Tokens of the whole context, and the most of them that working memory takes."""

    tokens: int
    working_memory_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A line: its tag and text, and the entries and messages that it rests on.

    ``quotes`` are the messages whose own text stands in the line.
    """

    tag: int
    text: str
    entries: tuple[EntryId, ...]
    messages: tuple[MessageId, ...]
    quotes: tuple[MessageId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One section of the context, heading included."""

    section: Section
    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Text ready for a prompt, its tokens, and what it shows; empty text where nothing fits."""

    text: str
    tokens: int
    parts: tuple[Part, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All lines in the order of their tags."""
        return tuple(citation for part in self.parts for citation in part.citations)

    @property
    def entries(self) -> tuple[EntryId, ...]:
        """The cited entries, each once."""
        return tuple(dict.fromkeys(one for cited in self.citations for one in cited.entries))

    @property
    def messages(self) -> tuple[MessageId, ...]:
        """The cited messages, each once."""
        return tuple(dict.fromkeys(one for cited in self.citations for one in cited.messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line before it has a tag; ``key`` is shared by lines that say the same."""

    key: str
    section: Section
    order: tuple[datetime, int, int]
    day: str
    text: str
    entries: tuple[EntryId, ...] = ()
    messages: tuple[MessageId, ...] = ()
    quotes: tuple[MessageId, ...] = ()


class _Draft:
    """Lines as they are placed, each step of which can be taken back."""

    def __init__(self, *, tokens: int, words: Words, opening: str, count: Count) -> None:
        self._words = words
        self._opening = opening
        self._count = count
        self._placed: dict[str, _Line] = {}
        self._steps: list[tuple[str, _Line | None]] = []
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

    def line(self, key: str) -> _Line | None:
        """The line that was placed under a key."""
        return self._placed.get(key)

    def quotes(self) -> set[MessageId]:
        """The messages whose own text is placed."""
        return {one for line in self._placed.values() for one in line.quotes}

    def place(self, line: _Line, *, most: int) -> int:
        """The tokens it took; 0 where it does not fit or joined a line that says the same."""
        same = self._placed.get(line.key)
        if same is not None:
            self._set(_joined(same, line))
            return 0
        tag = _tag(len(self._placed) + 1)  # numbers change with the order, their sum does not
        cost = self.cost(tag) + self.cost(f"{line.text}\n") + self._heading_cost(line)
        if cost > min(most, self.left):
            return 0
        self._set(line)
        self.left -= cost
        return cost

    def extend(self, line: _Line, text: str, message: MessageId, *, most: int) -> None:
        """Puts a message's own text under a placed line, if it fits."""
        cost = self.cost(f"{text}\n")
        if cost <= min(most, self.left):
            self._set(replace(line, text=f"{line.text}\n{text}", quotes=(*line.quotes, message)))
            self.left -= cost

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

    def _set(self, line: _Line) -> None:
        self._steps.append((line.key, self._placed.get(line.key)))
        self._placed[line.key] = line

    def _heading_cost(self, line: _Line) -> int:
        beside = [one for one in self._placed.values() if one.section is line.section]
        title = 0 if beside else self.cost(f"{self._words.titles[line.section]}\n\n")
        is_new_day = all(one.day != line.day for one in beside)
        return title + (self.cost(f"{line.day}\n") if is_new_day else 0)


def build_context(
    *,
    ranked: Sequence[Remembered],
    recent: Sequence[Message],
    instructions: Sequence[Entry],
    budget: Budget,
    count: Count,
    language: str = "en",
) -> Context:
    """What fits of instructions, memories and the newest messages, never over the budget.

    Room is given in this order: instructions, messages not yet extracted, memories in rank order,
    the source texts of these memories, the other newest messages. A line that does not fit is
    passed over for the next one.

    Args:
        ranked: best first.
        recent: the newest messages of the collection, in any order.
        instructions: entries of kind instruction, the most important first.
        count: a Tokenizer's ``count``.
        language: of the question or the collection; Chinese gets a Chinese frame.
    """
    words = words_for(language)
    zones = {one.entry.zone for one in ranked} | {one.zone for one in instructions}
    zones |= {one.zone for one in recent}
    newest = sorted(recent, key=lambda one: (one.said_at, one.sequence), reverse=True)
    draft = _Draft(tokens=budget.tokens, words=words, opening=_opening(zones, words), count=count)
    layout = _Layout(words=words, with_zone=len(zones) > 1)
    _place_instructions(draft, instructions, layout, most=int(budget.tokens * INSTRUCTION_SHARE))
    most = min(int(budget.tokens * PENDING_SHARE), budget.working_memory_tokens)
    spent = _place_pending(draft, [one for one in newest if _is_pending(one)], layout, most=most)
    _place_memories(draft, ranked, layout, most=budget.tokens)
    extracted = [one for one in newest if not _is_pending(one)]
    _place_extracted(draft, extracted, layout, most=budget.working_memory_tokens - spent)
    return _fitted(draft, budget.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How entries and messages become lines."""

    words: Words
    with_zone: bool

    def of_entry(self, remembered: Remembered, section: Section) -> _Line:
        """An entry's line; a source message that equals it counts as quoted."""
        entry = remembered.entry
        body = said(entry.speaker, entry.text, words=self.words)
        same = identity(entry.text, "", "")
        return _Line(
            key=identity(entry.text, entry.speaker, ""),
            section=section,
            order=(entry.order.said_at, entry.order.sequence, entry.order.ordinal),
            day=self._day(entry.said_at, entry.zone),
            text=body + self.words.status[entry.status],
            entries=(entry.id,),
            messages=entry.sources,
            quotes=tuple(
                one.id for one in remembered.messages if identity(one.content, "", "") == same
            ),
        )

    def of_message(self, message: Message, *, text: str | None = None) -> _Line:
        """A message's line; with ``text`` what is shown of it, which then quotes it in part."""
        body = said(message.speaker, message.content if text is None else text, words=self.words)
        return _Line(
            key=message.id,
            section=Section.WORKING_MEMORY,
            order=(message.said_at, message.sequence, 0),
            day=self._day(message.said_at, message.zone),
            text=f"{time_of_day(message.said_at, message.zone)} {body}",
            messages=(message.id,),
            quotes=(message.id,) if text is None else (),
        )

    def _day(self, moment: datetime, zone: str) -> str:
        return f"{day(moment, zone)} {zone_name(zone)}" if self.with_zone else day(moment, zone)


def _place_instructions(
    draft: _Draft, instructions: Sequence[Entry], layout: _Layout, *, most: int
) -> None:
    lines = [
        layout.of_entry(Remembered(entry=entry), Section.INSTRUCTIONS) for entry in instructions
    ]
    _place(draft, lines, most=most)


def _place_pending(draft: _Draft, pending: Sequence[Message], layout: _Layout, *, most: int) -> int:
    """The tokens taken; the first message that does not fit is shown by its beginning."""
    spent = 0
    for message in pending:
        took = draft.place(layout.of_message(message), most=most - spent)
        if not took:
            line = _clipped(draft, message, layout, tokens=min(most - spent, draft.left))
            return spent + (draft.place(line, most=most - spent) if line else 0)
        spent += took
    return spent


def _place_memories(
    draft: _Draft, ranked: Sequence[Remembered], layout: _Layout, *, most: int
) -> None:
    lines = [layout.of_entry(remembered, Section.EPISODIC) for remembered in ranked]
    _place(draft, lines, most=most)
    for line, remembered in zip(lines, ranked, strict=True):
        for message in remembered.messages:
            placed = draft.line(line.key)
            if placed is not None and message.id not in draft.quotes():
                text = f"{QUOTE}{said(message.speaker, message.content, words=layout.words)}"
                draft.extend(placed, text, message.id, most=most // 4)


def _place_extracted(
    draft: _Draft, messages: Sequence[Message], layout: _Layout, *, most: int
) -> None:
    shown = draft.quotes()
    lines = [layout.of_message(message) for message in messages if message.id not in shown]
    _place(draft, lines, most=most)


def _place(draft: _Draft, lines: Sequence[_Line], *, most: int) -> None:
    if most <= 0:
        return
    draft.measure([f"{line.text}\n" for line in lines])
    draft.measure([f"{line.day}\n" for line in lines])
    draft.measure([_tag(number) for number in range(1, len(lines) + 1)])
    spent = 0
    for line in lines:
        spent += draft.place(line, most=most - spent)


def _clipped(draft: _Draft, message: Message, layout: _Layout, *, tokens: int) -> _Line | None:
    """The line with as much of the message's beginning as fits; None where that is too little."""
    kept = message.content
    while kept and tokens >= _LEAST_CLIP_TOKENS:
        line = layout.of_message(message, text=f"{kept}…")
        used = draft.cost(f"{line.text}\n") + draft.cost(f"{line.day}\n") + _LEAST_CLIP_TOKENS
        if used <= tokens:
            return line
        kept = kept[: min(len(kept) - 1, len(kept) * tokens // used)]
    return None


def _fitted(draft: _Draft, tokens: int) -> Context:
    """The context, less what was placed last while the whole still counts more than its parts."""
    context = draft.context()
    while context.tokens > tokens:
        draft.take_back()
        context = draft.context()
    return context


def _part(section: Section, lines: Sequence[_Line], *, first: int, words: Words) -> Part:
    ordered = sorted(lines, key=lambda line: (line.order, line.key))
    citations = tuple(
        Citation(
            tag=tag,
            text=f"{_tag(tag)}{line.text}",
            entries=line.entries,
            messages=line.messages,
            quotes=line.quotes,
        )
        for tag, line in enumerate(ordered, start=first)
    )
    rows = [words.titles[section], *_rows(ordered, citations)]
    return Part(section=section, text="\n".join(rows), citations=citations)


def _rows(lines: Sequence[_Line], citations: Sequence[Citation]) -> Iterator[str]:
    """Each line under its day."""
    last = ""
    for line, citation in zip(lines, citations, strict=True):
        if line.day != last:
            yield line.day
        last = line.day
        yield citation.text


def _tag(number: int) -> str:
    return f"[{number}] "


def _joined(line: _Line, same: _Line) -> _Line:
    return replace(
        line,
        entries=tuple(dict.fromkeys([*line.entries, *same.entries])),
        messages=tuple(dict.fromkeys([*line.messages, *same.messages])),
        quotes=tuple(dict.fromkeys([*line.quotes, *same.quotes])),
    )


def _opening(zones: set[str], words: Words) -> str:
    if len(zones) > 1:
        return words.opening_zones
    return words.opening.format(zone="".join(zone_name(zone) for zone in zones))


def _is_pending(message: Message) -> bool:
    return message.state is not MessageState.EXTRACTED
