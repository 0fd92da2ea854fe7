"""Contexts as the service builds them: what is found, what was just said, and what always holds."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from actors.records import Records
from pipeline.entries import CURRENT, Entry, Kind
from pipeline.ids import MessageId
from pipeline.messages import Message, Scope, Segment
from pipeline.ports import Tokenizer
from pipeline.recall.conflicts import (
    Conflict,
    Evidence,
    conflicts,
    of_entry,
    of_item,
    of_messages,
    of_question,
)
from pipeline.recall.context import Budget, build_context
from pipeline.recall.forms import Form, form_of
from pipeline.recall.layers import is_pending
from pipeline.recall.lines import Remembered
from pipeline.recall.pad import holding, relevant, standing
from pipeline.recall.question import Question
from pipeline.recall.shown import Context
from pipeline.recall.weigh import relevance
from pipeline.scratchpad import Item, ItemStatus
from pipeline.settings import RecallSettings, slots_of
from pipeline.text.languages import language
from serve.collection_settings import CollectionConfig
from serve.searching import Hit, Searching

RECENT_MESSAGES = 200
INSTRUCTIONS = 50
NOTES = 100
"""Items of a scratchpad that are looked at more closely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The tokens of a whole context and of its layers; the service's own where None."""

    tokens: int | None = None
    working_memory_tokens: int | None = None
    episodic_tokens: int | None = None
    instruction_tokens: int | None = None
    scratchpad_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A context with the messages that its citations name, in the language of its question.

    ``hits`` are what was found for it, ``others`` entries that it may show without a search.
    ``conflicts`` are within what it shows and the question itself. ``relevances`` are those of
    the memories that were found, best ranked first; ``pending`` are messages that no entry holds.
    """

    context: Context
    messages: Mapping[MessageId, Message]
    language: str
    hits: Sequence[Hit] = ()
    others: Sequence[Entry] = ()
    form: Form = Form.PLAIN
    conflicts: Sequence[Conflict] = ()
    relevances: Sequence[float | None] = ()
    has_notes: bool = False
    pending: Sequence[Message] = ()


class Contexts:
    """Builds contexts for one tenant's collection per call."""

    def __init__(
        self,
        *,
        records: Records,
        searching: Searching,
        tokenizer: Tokenizer,
        recall: RecallSettings,
        settings: CollectionConfig,
    ) -> None:
        self._records = records
        self._settings = settings
        self._searching = searching
        self._tokenizer = tokenizer
        self._recall = recall

    async def of(
        self, scope: Scope, question: Question, room: Room, form: Form | None = None
    ) -> Recalled:
        """What a model should read to answer the question, within the room.

        Without a form it is the one that the words of the question ask for.

        The question's filters narrow what is found; its instant also what was said and what is
        asked for at all times.

        Raises:
            InputError, NotFound: as ``Searching.search`` does.
        """
        question = replace(question, limit=self._recall.prefetch)
        hits = await self._searching.search(scope.tenant, [scope.collection], question)
        standing, notes = await self._scratchpad(scope, question, hits)
        recent = await asyncio.to_thread(self._recent, scope, question)
        asked = form or form_of(question.text)
        segments = await asyncio.to_thread(self._segments, scope, question, asked)
        sources = {message.id: message for hit in hits for message in hit.sources}
        spoken = language(question.text)
        ranked = [_remembered(hit, sources) for hit in hits]
        built = build_context(
            ranked=ranked,
            recent=recent,
            instructions=standing,
            notes=notes,
            budget=self._budget(room),
            count=self._tokenizer.count,
            language=spoken,
            form=asked,
            segments=segments,
        )
        shown = set(built.entries)
        begun = [segment.messages[0] for segment in segments]
        told = [one for one in ranked if one.entry.id in shown]
        evidence = _evidence(question, recent, standing=standing, notes=notes, told=told)
        return Recalled(
            context=built,
            messages={**sources, **{message.id: message for message in (*recent, *begun)}},
            language=spoken,
            form=asked,
            conflicts=conflicts(evidence, told, language=spoken),
            relevances=[relevance(hit.ranked, hit.score) for hit in hits],
            has_notes=bool(notes),
            pending=[one for one in recent if is_pending(one)],
            hits=hits,
            others=[one for one in standing if isinstance(one, Entry)],
        )

    def _budget(self, room: Room) -> Budget:
        ours = self._recall
        return Budget(
            tokens=_first(room.tokens, ours.context_tokens),
            working_memory_tokens=_first(room.working_memory_tokens, ours.working_memory_tokens),
            episodic_tokens=_either(room.episodic_tokens, ours.episodic_tokens),
            instruction_tokens=_either(room.instruction_tokens, ours.instruction_tokens),
            scratchpad_tokens=_either(room.scratchpad_tokens, ours.scratchpad_tokens),
        )

    def _segments(self, scope: Scope, question: Question, form: Form) -> list[Segment]:
        """For a summary that nothing narrows, all segments that hold what was said by then."""
        is_narrowed = question.where is not None or question.kinds
        if form is not Form.SUMMARY or is_narrowed:
            return []
        until = question.as_of
        return [
            segment
            for segment in self._records.messages.segments(scope)
            if all(
                one.redacted_at is None and (until is None or one.said_at <= until)
                for one in segment.messages
            )
        ]

    def _recent(self, scope: Scope, question: Question) -> list[Message]:
        """The newest messages up to the instant asked about."""
        newest = self._records.messages.messages(scope, limit=RECENT_MESSAGES, newest=True)
        until = question.as_of
        return [
            message
            for message in newest
            if message.redacted_at is None and (until is None or message.said_at <= until)
        ]

    async def _scratchpad(
        self, scope: Scope, question: Question, hits: Sequence[Hit]
    ) -> tuple[list[Entry | Item], list[Item]]:
        """Standing instructions, and the other items that bear on the question.

        Items are those of now: of an instant that is asked about only entries tell. Of a question
        that is narrowed they are those that rest on what was found.
        """
        entries = await self._instructions(scope, question)
        if question.as_of is not None:
            return list(entries), []
        in_force = (await self._settings.of(scope)).in_force
        slots = [
            one.name for one in slots_of(in_force.slots or {}) if Kind.INSTRUCTION in one.kinds
        ]

        def read() -> tuple[list[Entry | Item], list[Item]]:
            statuses = (ItemStatus.ACTIVE, ItemStatus.REMOVED)
            items = self._records.scratchpad.items(scope, statuses=statuses)
            near = {hit.entry.id: hit.ranked.dense_score or 0.0 for hit in hits}
            is_open = question.where is None and not question.kinds
            others = [
                one
                for one in items
                if one.status is ItemStatus.ACTIVE
                and one.slot not in slots
                and (is_open or any(entry in near for entry in one.entries))
            ]
            notes = relevant(others, question.text, near=near)[:NOTES]
            rests_on = [entry for one in notes for entry in one.entries]
            current = self._records.entries.read_back(
                scope.tenant, [scope.collection], rests_on, statuses=CURRENT
            )
            held = {id_: entry for id_, (_, entry) in current.items()}
            return standing(entries, items, slots=slots), holding(notes, held)

        return await asyncio.to_thread(read)

    async def _instructions(self, scope: Scope, question: Question) -> list[Entry]:
        """The standing instructions, newest first; those that held at the instant asked about."""
        if question.as_of is None:
            store = self._records.entries
            return await asyncio.to_thread(
                store.of_kind, scope, Kind.INSTRUCTION, limit=INSTRUCTIONS
            )
        past = Question(
            text=question.text, as_of=question.as_of, kinds=(Kind.INSTRUCTION,), limit=INSTRUCTIONS
        )
        hits = await self._searching.search(scope.tenant, [scope.collection], past)
        return sorted((hit.entry for hit in hits), key=lambda one: one.order, reverse=True)


def _remembered(hit: Hit, sources: Mapping[MessageId, Message]) -> Remembered:
    present = (sources.get(source) for source in hit.entry.sources)
    return Remembered(
        entry=hit.entry,
        messages=tuple(one for one in present if one is not None and one.redacted_at is None),
    )


def _evidence(
    question: Question,
    recent: Sequence[Message],
    *,
    standing: Sequence[Entry | Item],
    notes: Sequence[Item],
    told: Sequence[Remembered],
) -> list[Evidence]:
    """What may disagree: each entry once, beside what the question asks for itself."""
    entries = {one.id: one for one in standing if isinstance(one, Entry)}
    entries |= {one.entry.id: one.entry for one in told}
    rules = [of_item(one, is_instruction=True) for one in standing if isinstance(one, Item)]
    return [
        *of_question(question.text),
        *of_messages(recent),
        *rules,
        *(of_item(one, is_instruction=False) for one in notes),
        *map(of_entry, entries.values()),
    ]


def _first(asked: int | None, ours: int) -> int:
    return ours if asked is None else asked


def _either(asked: int | None, ours: int | None) -> int | None:
    return ours if asked is None else asked
