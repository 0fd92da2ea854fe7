"""One step of several collections: from their states to what each commits. Writes nothing.

Source: LightMem (arXiv 2510.18866), section 3: compress, window, segment, short-term buffer,
extract. Model calls of one step cover all its collections at once, so that batches fill across
tenants.
"""

import asyncio
from collections.abc import AsyncGenerator, Container, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from enum import IntEnum

from pipeline.awake.shortterm import Granularity, Trigger, Waiting, batches, last_of_ended
from pipeline.awake.topics import topic_of
from pipeline.awake.turns import turns
from pipeline.awake.window import Cut, begun_by, cut, due
from pipeline.entries import Statement
from pipeline.ids import MessageId, SegmentId, entry_id, segment_id
from pipeline.messages import Message, Role, Scope, Segment, Turn, is_heard
from pipeline.ports import Extractor, Tokenizer
from pipeline.recall.text import index_text_of
from pipeline.state import AwakeCommit, AwakeState, Compressed, StoredStatement
from serve.extracting import Extracted, Extracting
from serve.models import AsyncModels
from serve.plans import Plans, WalkSettings

__all__ = ["Part", "Stage", "Walk", "WalkSettings"]

_MOMENT_S = 0.5
"""Collections that are extracted within so much of each other are embedded together."""

_READING_BUFFER = frozenset((Trigger.TOKENS, Trigger.TURNS, Trigger.TOPIC_SHIFT))
"""The triggers that depend on what lies in the buffer."""


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
    plan: WalkSettings
    compressed: dict[MessageId, Compressed] = field(default_factory=dict)
    windows: dict[str, tuple[Turn, ...]] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    due: set[SegmentId] = field(default_factory=set)
    batches: list[tuple[Segment, ...]] = field(default_factory=list)
    extracted: Extracted = field(default_factory=Extracted)
    statements: list[StoredStatement] = field(default_factory=list)


class Walk:
    """Turns the states of several collections into the commits of their next step.

    Each is walked by the service's settings with those of its own over them.
    """

    def __init__(
        self,
        *,
        models: AsyncModels,
        extractor: Extractor,
        tokenizer: Tokenizer,
        settings: WalkSettings,
    ) -> None:
        self._models = models
        self._extracting = Extracting(
            extractor,
            calls=settings.calls,
            failures=settings.failures,
            retry_s=settings.retry_s,
        )
        self._tokenizer = tokenizer
        self._settings = settings
        self._plans = Plans(settings)

    async def step(
        self, states: Mapping[Scope, AwakeState], *, last: Stage = Stage.EXTRACT
    ) -> dict[Scope, AwakeCommit]:
        """One commit per collection; nothing is written here. Raises ModelError."""
        commits: dict[Scope, AwakeCommit] = {}
        async for some in self.steps(states, last=last):
            commits |= some
        return commits

    async def steps(
        self, states: Mapping[Scope, AwakeState], *, last: Stage = Stage.EXTRACT
    ) -> AsyncGenerator[dict[Scope, AwakeCommit], None]:
        """The commits as they are made: a collection whose extraction is slow comes later.

        To be closed where it is left early, so that no call goes on for nobody.
        """
        steps = [self._begun(scope, state) for scope, state in states.items()]
        await self._compress(steps)
        if last >= Stage.SEGMENT:
            await self._segment(steps)
        if last >= Stage.EXTRACT:
            self._buffer(steps)
            async with aclosing(self._extract(steps)) as extracted:
                async for done in extracted:
                    yield {each.scope: self._commit(each) for each in done}
        else:
            yield {each.scope: self._commit(each) for each in steps}

    def part(self, scope: Scope, state: AwakeState) -> Part | None:
        """The first piece of work alone: one segment, one window or one message; None: no work.

        A step of it touches the messages it names and no others, so what kills it is among them.
        """
        if state.accepted:
            state = replace(state, ended={})
        step = self._begun(scope, state)
        step.windows = _windows(step)
        self._buffer([step])
        rest = replace(
            state,
            accepted=(),
            windows={},
            buffered=(),
            flush=False,
            is_partial=False,
            is_buffer_full=False,
        )
        if step.batches:
            segment = step.batches[0][0]
            alone = replace(rest, buffered=(segment,), flush=True)
            return Part(state=alone, last=Stage.EXTRACT, messages=_ids(segment.messages))
        for name, window in state.windows.items():
            if self._due(step, name, flush=state.flush and not state.accepted):
                alone = replace(rest, windows={name: window}, flush=state.flush)
                return Part(state=alone, last=Stage.SEGMENT, messages=_ids(window))
        if state.accepted:
            alone = replace(rest, accepted=state.accepted[:1])
            return Part(state=alone, last=Stage.COMPRESS, messages=_ids(alone.accepted))
        return None

    def _begun(self, scope: Scope, state: AwakeState) -> _Step:
        return _Step(scope, state, self._plans.of(state.settings))

    async def _compress(self, steps: Sequence[_Step]) -> None:
        groups: dict[float | None, list[tuple[_Step, Message]]] = {}
        for step in steps:
            used = [(step, each) for each in step.state.accepted if is_heard(each, step.plan.roles)]
            if used:
                rate = step.plan.rate if step.plan.compress else None
                groups.setdefault(rate, []).extend(used)
        await asyncio.gather(*(self._compress_by(rate, some) for rate, some in groups.items()))

    async def _compress_by(
        self, rate: float | None, fresh: Sequence[tuple[_Step, Message]]
    ) -> None:
        texts = [message.content for _, message in fresh]
        if rate is None:
            kept = [Compressed(text=text) for text in texts]
        else:
            owners = [step.scope.tenant for step, _ in fresh]
            kept = await self._models.compress(texts, rate=rate, owners=owners)
        for (step, message), result in zip(fresh, kept, strict=True):
            step.compressed[message.id] = result

    async def _segment(self, steps: Sequence[_Step]) -> None:
        for step in steps:
            step.windows = _windows(step)
        open_windows = [(step, name) for step in steps for name in step.windows]
        while open_windows:
            full = [
                (step, name, found)
                for step, name in open_windows
                if (found := self._due(step, name, flush=step.state.flush))
            ]
            await self._cut(full)
            open_windows = [(step, name) for step, name, _ in full if step.windows[name]]

    def _due(self, step: _Step, name: str, *, flush: bool) -> Cut | None:
        """What is to be cut off a window now."""
        window, plan = step.windows[name], step.plan

        def lengths(some: Sequence[Turn]) -> list[int]:
            return self._tokenizer.count([_compressed(turn.messages) for turn in some])

        return due(
            window,
            lengths,
            capacity_tokens=plan.window_tokens,
            most_turns=plan.most_turns,
            is_turnwise=plan.granularity is Granularity.TURN,
            ended_turns=begun_by(window, step.state.ended.get(name, 0)),
            flush=flush,
        )

    async def _cut(self, full: Sequence[tuple[_Step, str, Cut]]) -> None:
        found = await self._topics(full)
        for (step, name, asked), boundaries in zip(full, found, strict=True):
            head, rest = step.windows[name][: asked.turns], step.windows[name][asked.turns :]
            is_last = asked.is_whole or (step.state.flush and not rest)
            leaving, staying = cut(head, boundaries, flush=is_last)
            step.segments += (
                cut_off := [_segment(name, group, step.plan.options.roles) for group in leaving]
            )
            if asked.is_due or (boundaries and Trigger.TOPIC_SHIFT in step.plan.triggers):
                step.due.add(cut_off[-1].id)
            step.windows[name] = (*staying, *rest)

    async def _topics(self, full: Sequence[tuple[_Step, str, Cut]]) -> list[list[int]]:
        """Per window the turns that begin a segment: topics, or every turn.

        One turn alone needs no model to say: none.
        """
        found = [list(range(1, asked.turns)) for _, _, asked in full]
        groups: dict[float | None, list[int]] = {}
        for place, (step, _, asked) in enumerate(full):
            is_asked = step.plan.granularity is not Granularity.TURN and asked.turns > 1
            if is_asked:
                groups.setdefault(step.plan.min_shift, []).append(place)
        for threshold, places in groups.items():
            some = [full[place] for place in places]
            boundaries = await self._models.boundaries(
                [
                    [turn.text for turn in step.windows[name][: asked.turns]]
                    for step, name, asked in some
                ],
                owners=[step.scope.tenant for step, _, _ in some],
                min_shift=threshold,
            )
            for place, each in zip(places, boundaries, strict=True):
                found[place] = each
        return found

    def _buffer(self, steps: Sequence[_Step]) -> None:
        for step in steps:
            flush = step.state.is_buffer_full or (step.state.flush and not step.state.is_partial)
            if flush or step.plan.triggers & _READING_BUFFER or step.state.ended:
                step.batches = self._batches(step, flush=flush)

    def _batches(self, step: _Step, *, flush: bool) -> list[tuple[Segment, ...]]:
        # What a full buffer does not show comes before what is new.
        fresh = () if step.state.is_buffer_full else step.segments
        held = sorted([*step.state.buffered, *fresh], key=lambda segment: segment.sequence)
        lengths = self._tokenizer.count([_compressed(each.messages) for each in held])
        counts = step.plan.most_turns is not None
        is_due = step.due | last_of_ended(held, step.state.ended, step.plan.granularity)
        waiting = [
            Waiting(
                segment=segment,
                tokens=length,
                turns=len(turns(segment.messages)) if counts else 1,
                is_due=segment.id in is_due,
            )
            for segment, length in zip(held, lengths, strict=True)
        ]
        open_turns = {name: len(window) - 1 for name, window in step.windows.items() if window}
        leaving, _ = batches(waiting, step.plan.rules, flush=flush, open_turns=open_turns)
        return leaving

    async def _extract(self, steps: Sequence[_Step]) -> AsyncGenerator[list[_Step], None]:
        """The steps with their statements, those that end within a moment together."""
        idle = [step for step in steps if not step.batches]
        if idle:
            yield idle
        running = {asyncio.create_task(self._extracted(s)): s for s in steps if s.batches}
        try:
            while running:
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                ended, _ = await asyncio.wait(running, timeout=_MOMENT_S)
                done = [step for task, step in running.items() if task in ended]
                for task in ended:
                    del running[task]
                    task.result()
                await self._embed(
                    [(step, each) for step in done for each in step.extracted.statements]
                )
                yield done
        finally:
            for task in running:
                task.cancel()

    async def _extracted(self, step: _Step) -> None:
        groups = [_used(segments, step.plan) for segments in step.batches]
        step.extracted = await self._extracting.extract(
            step.scope,
            [group for group in groups if group],
            options=step.plan.options,
            attempts=step.state.attempts,
        )
        asked = {segment.id for group in groups for segment in group}
        every = (segment.id for segments in step.batches for segment in segments)
        step.extracted.segments += [id_ for id_ in every if id_ not in asked]

    async def _embed(self, kept: Sequence[tuple[_Step, Statement]]) -> None:
        texts = [index_text_of(statement) for _, statement in kept]
        owners = [step.scope.tenant for step, _ in kept]
        vectors = await self._models.embed(texts, purpose="passage", owners=owners)
        for (step, statement), vector in zip(kept, vectors, strict=True):
            scope = step.scope
            new = entry_id(scope.tenant, scope.collection, statement.sources[0], statement.ordinal)
            step.statements.append(StoredStatement(id=new, statement=statement, vector=vector))

    def _commit(self, step: _Step) -> AwakeCommit:
        state, found = step.state, step.extracted
        is_waiting = found.retry_after_s is not None
        is_all = not (state.is_partial or state.is_buffer_full or is_waiting)
        return AwakeCommit(
            start_step=state.step,
            compressed=step.compressed,
            segments=tuple(step.segments),
            extracted=tuple(found.segments),
            statements=tuple(step.statements),
            quarantined=found.quarantined,
            flushed_through=state.flush_through if state.flush and is_all else None,
            ended=state.ended if is_all else {},
            unused=_ids(each for each in state.accepted if not is_heard(each, step.plan.roles)),
            model=self._settings.model,
            raws=found.raws,
            usage=tuple(found.usage),
            refused=found.refused,
            failed=tuple(found.failed),
            retry_after_s=found.retry_after_s,
            failure=found.failure,
            arrivals=step.plan.arrivals,
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


def _used(segments: Sequence[Segment], plan: WalkSettings) -> tuple[Segment, ...]:
    """The segments without messages of other roles; those left empty are left out.

    The label of a segment that loses some is made anew: roles may have changed since it was cut.
    """
    found = (_of_roles(segment, plan) for segment in segments)
    return tuple(segment for segment in found if segment.messages)


def _of_roles(segment: Segment, plan: WalkSettings) -> Segment:
    kept = tuple(each for each in segment.messages if is_heard(each, plan.roles))
    if len(kept) == len(segment.messages):
        return segment
    return replace(segment, messages=kept, topic=topic_of(kept, roles=plan.options.roles))


def _ids(messages: Iterable[Message]) -> tuple[MessageId, ...]:
    return tuple(message.id for message in messages)


def _compressed(messages: Iterable[Message]) -> str:
    return "\n".join(
        message.content if message.compressed is None else message.compressed
        for message in messages
    )


def _segment(conversation: str, group: Sequence[Turn], roles: Container[Role]) -> Segment:
    messages = tuple(message for turn in group for message in turn.messages)
    return Segment(
        id=segment_id(messages[0].id),
        conversation=conversation,
        topic=topic_of(messages, roles=roles),
        messages=messages,
    )
