"""Items of a reply to statements: ids mapped back, dates made right, what was not said refused.

A statement is held against the messages it names; ids that were not shown are counted and left
out, and one that names no other is refused. A name that an earlier message of the conversation gave
adds that message to the sources. Everything refused is counted by its reason.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pipeline.awake.chat_check import (
    Said,
    invented_numbers,
    is_in_language,
    script,
    speakers_of,
)
from pipeline.awake.chat_dates import with_dates
from pipeline.awake.chat_grounds import is_grounded
from pipeline.awake.chat_lines import Line
from pipeline.awake.chat_names import invented_names
from pipeline.awake.chat_polarity import turned
from pipeline.awake.extract_attributes import attributes
from pipeline.awake.extract_entities import MOST, entities
from pipeline.awake.extract_split import Measure, split
from pipeline.entries import Attributes, Statement, Status
from pipeline.ids import MessageId
from pipeline.messages import Message
from pipeline.prompts.schemas import MOST_SOURCES, Item
from pipeline.text.languages import UNDETERMINED, language

UNKNOWN_ID = "unknown id"
INVENTED = "invented"
TURNED = "turned into its opposite"
WRONG_DATE = "wrong date"
WRONG_LANGUAGE = "wrong language"
REPEATED = "repeated"
DATE_CORRECTED = "date corrected"
"""Counted beside the refused, though the statement was taken."""

_BEFORE = 3
"""So many messages before a statement's own may give it words, as a question does."""

_TOLD = ("en", "zh")
"""The languages whose denials are understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """An item as it is read: the messages it names, and its statements or why it is refused.

    ``unknown`` counts the ids it names beside them that were not shown.
    """

    cited: tuple[MessageId, ...] = ()
    statements: tuple[Statement, ...] = ()
    reason: str | None = None
    unknown: int = 0
    is_corrected: bool = False


@dataclass(slots=True)
class Taken:
    """The statements taken so far of one batch, the messages they are of, and what was refused."""

    statements: list[Statement] = field(default_factory=list)
    covered: set[MessageId] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    _texts: set[tuple[str, MessageId]] = field(default_factory=set)
    _ordinals: Counter[MessageId] = field(default_factory=Counter)

    def take(self, read: Read) -> None:
        """Takes the item's statements that are not there yet, and counts what is refused of it."""
        self.refused[UNKNOWN_ID] += read.unknown
        if read.reason is not None:
            self.refused[read.reason] += 1
            return
        self.refused[DATE_CORRECTED] += read.is_corrected
        self.covered |= set(read.cited)
        for each in read.statements:
            self._add(each)

    def _add(self, draft: Statement) -> None:
        """Adds the statement with its place at its first source."""
        first = draft.sources[0]
        if (key := (draft.text.casefold(), first)) in self._texts:
            self.refused[REPEATED] += 1
            return
        self._texts.add(key)
        self.statements.append(replace(draft, ordinal=self._ordinals[first]))
        self._ordinals[first] += 1

    def ordered(self) -> tuple[Statement, ...]:
        """The statements in the order of saying."""
        return tuple(sorted(self.statements, key=lambda each: (each.sequence, each.ordinal)))


class Desk:
    """Reads items against the lines that were shown."""

    def __init__(self, lines: Sequence[Line], *, measure: Measure, limit: int) -> None:
        self._shown: dict[str, Line] = {}
        for line in lines:
            self._shown.setdefault(line.id, line)
        self._places = {line.message.id: place for place, line in enumerate(self._shown.values())}
        self._speakers = speakers_of([line.message for line in lines])
        self._measure = measure
        self._limit = limit

    def read(self, item: Item) -> Read:
        """The item's statements, several where it is too long for one; or why it is refused."""
        found = [self._shown.get(id_) for id_ in dict.fromkeys(item.s[:MOST_SOURCES])]
        cited = [line for line in found if line is not None]
        if not cited:
            return Read(reason=UNKNOWN_ID)
        said = self._said([line.message for line in cited])
        read = self._checked(item, said, topic=cited[0].topic)
        own = tuple(line.message.id for line in cited)
        return replace(read, cited=own, unknown=len(found) - len(cited))

    def _said(self, messages: Sequence[Message]) -> Said:
        return Said(messages=tuple(messages), speakers=self._speakers)

    def _checked(self, item: Item, said: Said, *, topic: str) -> Read:
        if not is_in_language(item.t, said):
            return Read(reason=WRONG_LANGUAGE)
        spoken = _language(item.t, said)
        dated = with_dates(item.t, said, language=spoken, when=item.w)
        if dated.text is None:
            return Read(reason=WRONG_DATE)
        said = self._with_names(dated.text, said)
        if reason := self._reason(dated.text, said, spoken):
            return Read(reason=reason)
        whole = self._statement(item, said, text=dated.text, spoken=spoken, topic=topic)
        pieces = split(dated.text, measure=self._measure, limit=self._limit)
        found = tuple(self._described(whole, item, said, piece) for piece in pieces)
        return Read(statements=found, is_corrected=dated.is_corrected)

    def _reason(self, text: str, said: Said, spoken: str) -> str | None:
        """Why the text is refused, if it is: what was not said, or its opposite was."""
        if invented_names(text, said) or invented_numbers(text, said):
            return INVENTED
        before = [message.content for message in self._before(said)]
        names = self._speakers
        if script(text) in ("latin", "zh") and not is_grounded(
            text, [said.text], before=before, speakers=names
        ):
            return INVENTED
        own = [message.content for message in said.messages]
        is_turned = spoken in _TOLD and turned(text, own, before=before, names=names)
        return TURNED if is_turned else None

    def _before(self, said: Said) -> list[Message]:
        """The few messages of the conversation before each of these, of those that were shown."""
        shown = [line.message for line in self._shown.values()]
        own = {message.id for message in said.messages}
        found: dict[MessageId, Message] = {}
        for message in said.messages:
            talk = [
                each
                for each in shown[: self._places[message.id]]
                if each.conversation == message.conversation
            ]
            found |= {each.id: each for each in talk[-_BEFORE:] if each.id not in own}
        return list(found.values())

    def _with_names(self, text: str, said: Said) -> Said:
        """The messages with the earlier ones that gave the names which are missing."""
        missing = invented_names(text, said)
        more: list[Message] = []
        for name in missing:
            given = self._giver(name, before=said.messages[0])
            if given is None:
                return said
            more.append(given)
        distinct = {message.id: message for message in (*said.messages, *more)}
        return self._said(tuple(distinct.values())) if more else said

    def _giver(self, name: str, *, before: Message) -> Message | None:
        for line in reversed(list(self._shown.values())[: self._places[before.id]]):
            is_same = line.message.conversation == before.conversation
            if is_same and not invented_names(f"x {name}", self._said([line.message])):
                return line.message
        return None

    def _statement(
        self, item: Item, said: Said, *, text: str, spoken: str, topic: str
    ) -> Statement:
        first = said.messages[0]
        return Statement(
            text=text,
            kind=item.k,
            speaker=first.speaker,
            said_at=first.said_at,
            zone=first.zone,
            language=spoken,
            sources=tuple(message.id for message in said.messages),
            sequence=first.sequence,
            ordinal=0,
            status=Status.TENTATIVE if item.u else Status.ACTIVE,
            topic=topic,
        )

    def _described(self, whole: Statement, item: Item, said: Said, text: str) -> Statement:
        known = frozenset(name for name in self._speakers if name in text)
        named = [name for name in item.e if name in text]
        found = dict.fromkeys([*named, *entities(text, known=known)])
        return replace(
            whole,
            text=text,
            attributes=_attributes(item, said)
            or attributes(text, whole.speaker, language=whole.language),
            entities=tuple(found)[:MOST],
        )


def read_items(items: Sequence[Item], desk: Desk, taken: Taken) -> list[Read]:
    """The items as they are read; what can be taken is, and the rest is counted there."""
    found = [desk.read(item) for item in items]
    for read in found:
        taken.take(read)
    return found


def _language(text: str, said: Said) -> str:
    written = language(text)
    return written if written != UNDETERMINED else language(said.messages[0].content)


def _attributes(item: Item, said: Said) -> Attributes | None:
    """Those that the model gives, unless their value was not said."""
    if item.a is None:
        return None
    subject, key, value = item.a
    if invented_numbers(value, said) or invented_names(f"x {value}", said):
        return None
    return Attributes(subject=subject, key=key, value=value)


def counts(refused: Mapping[str, int]) -> dict[str, int]:
    """Only what was counted, by reason."""
    return {reason: count for reason, count in sorted(refused.items()) if count}
