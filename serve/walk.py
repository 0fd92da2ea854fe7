"""One step of several collections: from their states to what each commits. Writes nothing.

Source: LightMem (arXiv 2510.18866), section 3: compress, window, segment, short-term buffer,
extract. Model calls of one step cover all its collections at once, so that batches fill across
tenants.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import IntEnum

from pipeline.awake.shortterm import batches
from pipeline.awake.topics import topic_label
from pipeline.awake.turns import turns
from pipeline.awake.window import cut, overfull
from pipeline.entries import Statement
from pipeline.errors import SlowwaveError
from pipeline.ids import MessageId, SegmentId, entry_id, segment_id
from pipeline.messages import Batch, Message, Scope, Segment, Turn
from pipeline.ports import Extractor, Tokenizer
from pipeline.recall.text import index_text_of
from pipeline.state import AwakeCommit, AwakeState, Compressed, StoredStatement
from serve.models import AsyncModels

log = logging.getLogger("slowwave.ingest")


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkSettings:
    """The numbers one step uses; ``calls`` is how many extractions run at once."""

    compress: bool
    rate: float
    window_tokens: int
    shortterm_tokens: int
    model: str
    calls: int = 4


class Stage(IntEnum):
    """How far a step goes at most."""

    COMPRESS = 1
    SEGMENT = 2
    EXTRACT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The smallest piece of a collection's work: a state that holds it, and where to stop."""

    state: AwakeState
    last: Stage
    messages: tuple[MessageId, ...]


@dataclass(slots=True)
class _Step:
    """One collection's step while it is being made."""

    scope: Scope
    state: AwakeState
    compressed: dict[MessageId, Compressed] = field(default_factory=dict)
    windows: dict[str, tuple[Turn, ...]] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    batches: list[tuple[Segment, ...]] = field(default_factory=list)
    extracted: list[SegmentId] = field(default_factory=list)
    statements: list[StoredStatement] = field(default_factory=list)
    quarantined: dict[MessageId, str] = field(default_factory=dict)


class Walk:
    """Turns the states of several collections into the commits of their next step."""

    def __init__(
        self,
        *,
        models: AsyncModels,
        extractor: Extractor,
        tokenizer: Tokenizer,
        settings: WalkSettings,
    ) -> None:
        self._models = models
        self._extractor = extractor
        self._tokenizer = tokenizer
        self._settings = settings
        # Threads of its own: calls that wait for a model must not hold up those to the store.
        self._calls = ThreadPoolExecutor(settings.calls, thread_name_prefix="extract")

    async def step(
        self, states: Mapping[Scope, AwakeState], *, last: Stage = Stage.EXTRACT
    ) -> dict[Scope, AwakeCommit]:
        """One commit per collection; nothing is written here. Raises ModelError."""
        steps = [_Step(scope, state) for scope, state in states.items()]
        await self._compress(steps)
        if last >= Stage.SEGMENT:
            await self._segment(steps)
        if last >= Stage.EXTRACT:
            self._buffer(steps)
            await self._extract(steps)
        return {each.scope: self._commit(each) for each in steps}

    def part(self, scope: Scope, state: AwakeState) -> Part | None:
        """The first piece of work alone: one segment, one window or one message; None: no work.

        A step of it touches the messages it names and no others, so what kills it is among them.
        """
        step = _Step(scope, state)
        step.windows = _windows(step)
        self._buffer([step])
        rest = replace(state, accepted=(), windows={}, buffered=(), flush=False, is_partial=False)
        if step.batches:
            segment = step.batches[0][0]
            alone = replace(rest, buffered=(segment,), flush=True)
            return Part(state=alone, last=Stage.EXTRACT, messages=_ids(segment.messages))
        for name, window in state.windows.items():
            if self._leaving(step.windows[name], flush=state.flush and not state.accepted):
                alone = replace(rest, windows={name: window}, flush=state.flush)
                return Part(state=alone, last=Stage.SEGMENT, messages=_ids(window))
        if state.accepted:
            alone = replace(rest, accepted=state.accepted[:1])
            return Part(state=alone, last=Stage.COMPRESS, messages=_ids(alone.accepted))
        return None

    async def _compress(self, steps: Sequence[_Step]) -> None:
        fresh = [(step, message) for step in steps for message in step.state.accepted]
        texts = [message.content for _, message in fresh]
        if self._settings.compress and texts:
            owners = [step.scope.tenant for step, _ in fresh]
            kept = await self._models.compress(texts, rate=self._settings.rate, owners=owners)
        else:
            kept = [Compressed(text=text) for text in texts]
        for (step, message), result in zip(fresh, kept, strict=True):
            step.compressed[message.id] = result

    async def _segment(self, steps: Sequence[_Step]) -> None:
        for step in steps:
            step.windows = _windows(step)
        open_windows = [(step, name) for step in steps for name in step.windows]
        while open_windows:
            full = [
                (step, name, count)
                for step, name in open_windows
                if (count := self._leaving(step.windows[name], flush=step.state.flush))
            ]
            await self._cut(full)
            open_windows = [(step, name) for step, name, _ in full if step.windows[name]]

    def _leaving(self, window: Sequence[Turn], *, flush: bool) -> int:
        """How many turns of the window are to be cut now; 0 when it can wait.

        The last turn may still get its replies: it counts only in a flush, so that where a window
        is cut does not depend on how many messages a step took.
        """
        whole = window if flush else window[:-1]
        lengths = self._tokenizer.count([_compressed(turn.messages) for turn in whole])
        count = overfull(lengths, capacity_tokens=self._settings.window_tokens)
        if count is None:
            return len(window) if flush else 0
        return count

    async def _cut(self, full: Sequence[tuple[_Step, str, int]]) -> None:
        if not full:
            return
        heads = [step.windows[name][:count] for step, name, count in full]
        cuts = await self._models.boundaries(
            [[turn.text for turn in head] for head in heads],
            owners=[step.scope.tenant for step, _, _ in full],
        )
        for (step, name, count), head, found in zip(full, heads, cuts, strict=True):
            rest = step.windows[name][count:]
            leaving, staying = cut(head, found, flush=step.state.flush and not rest)
            step.segments += [_segment(name, group) for group in leaving]
            step.windows[name] = (*staying, *rest)

    def _buffer(self, steps: Sequence[_Step]) -> None:
        for step in steps:
            held = [*step.state.buffered, *step.segments]
            held.sort(key=lambda segment: segment.sequence)
            lengths = self._tokenizer.count([_compressed(each.messages) for each in held])
            step.batches, _ = batches(
                held,
                lengths,
                capacity_tokens=self._settings.shortterm_tokens,
                flush=step.state.flush and not step.state.is_partial,
            )

    async def _extract(self, steps: Sequence[_Step]) -> None:
        asked = [
            (step, Batch(scope=step.scope, segments=segments))
            for step in steps
            for segments in step.batches
        ]
        answers = await asyncio.gather(*(self._statements(batch) for _, batch in asked))
        kept: list[tuple[_Step, Statement]] = []
        for (step, batch), answer in zip(asked, answers, strict=True):
            step.extracted += [segment.id for segment in batch.segments]
            if isinstance(answer, SlowwaveError):
                step.quarantined |= {message.id: str(answer) for message in batch.messages}
            else:
                kept += [(step, statement) for statement in answer]
        await self._embed(kept)

    async def _statements(self, batch: Batch) -> list[Statement] | SlowwaveError:
        """Its statements, or the error it causes; one model call."""
        loop = asyncio.get_running_loop()
        try:
            (found,) = await loop.run_in_executor(self._calls, self._extractor.extract, [batch])
        except SlowwaveError as error:
            log.warning("a batch of %s cannot be extracted", batch.scope.collection)
            return error
        return found

    async def _embed(self, kept: Sequence[tuple[_Step, Statement]]) -> None:
        texts = [index_text_of(statement) for _, statement in kept]
        owners = [step.scope.tenant for step, _ in kept]
        vectors = await self._models.embed(texts, purpose="passage", owners=owners)
        for (step, statement), vector in zip(kept, vectors, strict=True):
            scope = step.scope
            new = entry_id(scope.tenant, scope.collection, statement.sources[0], statement.ordinal)
            step.statements.append(StoredStatement(id=new, statement=statement, vector=vector))

    def _commit(self, step: _Step) -> AwakeCommit:
        is_met = step.state.flush and not step.state.is_partial
        return AwakeCommit(
            start_step=step.state.step,
            compressed=step.compressed,
            segments=tuple(step.segments),
            extracted=tuple(step.extracted),
            statements=tuple(step.statements),
            quarantined=step.quarantined,
            flushed_through=step.state.flush_through if is_met else None,
            model=self._settings.model,
        )


def _windows(step: _Step) -> dict[str, tuple[Turn, ...]]:
    """The turns of each open window with the accepted messages behind them."""
    held: dict[str, list[Message]] = {
        name: list(messages) for name, messages in step.state.windows.items()
    }
    for message in step.state.accepted:
        if message.id not in step.compressed:
            continue
        kept = replace(message, compressed=step.compressed[message.id].text)
        held.setdefault(message.conversation, []).append(kept)
    return {name: tuple(turns(messages)) for name, messages in held.items()}


def _ids(messages: Iterable[Message]) -> tuple[MessageId, ...]:
    return tuple(message.id for message in messages)


def _compressed(messages: Iterable[Message]) -> str:
    return "\n".join(
        message.content if message.compressed is None else message.compressed
        for message in messages
    )


def _segment(conversation: str, group: Sequence[Turn]) -> Segment:
    messages = tuple(message for turn in group for message in turn.messages)
    return Segment(
        id=segment_id(messages[0].id),
        conversation=conversation,
        topic=topic_label([message.content for message in messages]),
        messages=messages,
    )
