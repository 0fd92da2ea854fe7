"""The batches of a collection through the extractor: what each became, and what is tried again."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

from pipeline.chat import Spent
from pipeline.documents.given import given
from pipeline.entries import Statement
from pipeline.errors import LimitError, MalformedReply, ModelError, SlowwaveError, StoreError
from pipeline.extraction import Extraction, ExtractionOptions, Failed, Postponed
from pipeline.ids import MessageId, SegmentId
from pipeline.messages import Batch, Scope, Segment
from pipeline.ports import Extractor

log = logging.getLogger("slowwave.ingest")

_LONGEST_S = 600.0


@dataclass(slots=True)
class Extracted:
    """What became of the batches of one collection, as its commit will say it."""

    segments: list[SegmentId] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    quarantined: dict[MessageId, str] = field(default_factory=dict)
    raws: dict[MessageId, str] = field(default_factory=dict)
    usage: list[Spent] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    failed: list[MessageId] = field(default_factory=list)
    retry_after_s: float | None = None
    failure: str | None = None


class Extracting:
    """Asks for many batches at once, at most ``calls`` of them, whoever's they are.

    An endpoint that does not answer for a batch is asked again later, each time after twice as
    long, beginning with ``retry_s``; after ``failures`` times the messages go into quarantine. The
    last time its segments are asked for one by one, so that only the one at fault goes.
    """

    def __init__(self, extractor: Extractor, *, calls: int, failures: int, retry_s: float) -> None:
        self._extractor = extractor
        self._calls = calls
        self._failures = failures
        self._retry_s = retry_s
        # A semaphore belongs to the event loop that waits on it.
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._slots = WeakKeyDictionary()

    async def extract(
        self,
        scope: Scope,
        groups: Iterable[tuple[Segment, ...]],
        *,
        options: ExtractionOptions,
        attempts: Mapping[MessageId, int],
    ) -> Extracted:
        """What became of each group of segments, one batch each.

        Args:
            attempts: how often messages of them failed before, where they did.
        """
        batches = [
            Batch(scope=scope, segments=segments)
            for group in groups
            for segments in self._apart(group, attempts)
        ]
        answers = await asyncio.gather(*(self._one(batch, options) for batch in batches))
        found = Extracted()
        for batch, answer in zip(batches, answers, strict=True):
            self._merge(found, batch, answer, attempts)
        return found

    def _apart(
        self, group: tuple[Segment, ...], attempts: Mapping[MessageId, int]
    ) -> Sequence[tuple[Segment, ...]]:
        """The group as it is, or each of its segments alone where it is the last try."""
        failed = _most(group, attempts)
        return [(each,) for each in group] if failed >= self._failures - 1 else [group]

    async def _one(self, batch: Batch, options: ExtractionOptions) -> Extraction:
        told, rest = given(batch, roles=options.roles)
        if rest is None:
            return Extraction(statements=tuple(told))
        found = await self._asked(rest, options)
        return found if not told or found.postponed else _with(found, told)

    async def _asked(self, batch: Batch, options: ExtractionOptions) -> Extraction:
        async with self._slot():
            try:
                return await self._extractor.extract(batch, options=options)
            except MalformedReply as error:
                return _failed(batch, error, raw=error.raw)
            except (LimitError, ModelError, StoreError) as error:
                return Extraction(postponed=Postponed.by(error))
            except SlowwaveError as error:
                return _failed(batch, error)

    def _slot(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        return self._slots.setdefault(loop, asyncio.Semaphore(self._calls))

    def _merge(
        self,
        found: Extracted,
        batch: Batch,
        answer: Extraction,
        attempts: Mapping[MessageId, int],
    ) -> None:
        found.usage += answer.spent
        found.refused.update(answer.refused)
        if answer.postponed is not None:
            self._postpone(found, batch, answer.postponed, attempts)
            return
        found.segments += [segment.id for segment in batch.segments]
        found.statements += answer.statements
        if answer.failed:
            log.warning("a batch of %s cannot be extracted", batch.scope.collection)
            _quarantine(found, answer.failed)

    def _postpone(
        self,
        found: Extracted,
        batch: Batch,
        why: Postponed,
        attempts: Mapping[MessageId, int],
    ) -> None:
        log.warning("extraction waits for its endpoint: %s", why.reason)
        tried = _most(batch.segments, attempts) + 1
        ids = [message.id for message in batch.messages]
        if why.after_s is None and tried >= self._failures:
            reason = f"{tried} attempts, the last one: {why.reason}"
            found.segments += [segment.id for segment in batch.segments]
            _quarantine(found, [Failed(message=id_, reason=reason) for id_ in ids])
            return
        wait_s = min(_LONGEST_S, self._retry_s * 2 ** (tried - 1))
        if why.after_s is None:
            found.failed += ids
        else:
            wait_s = max(why.after_s, self._retry_s)
        found.failure = why.reason
        found.retry_after_s = max(found.retry_after_s or 0.0, wait_s)


def _most(segments: Sequence[Segment], attempts: Mapping[MessageId, int]) -> int:
    """How often the most tried of their messages failed."""
    ids = (message.id for segment in segments for message in segment.messages)
    return max((attempts.get(id_, 0) for id_ in ids), default=0) if attempts else 0


def _with(found: Extraction, told: Sequence[Statement]) -> Extraction:
    return replace(found, statements=(*found.statements, *told))


def _failed(batch: Batch, error: SlowwaveError, *, raw: str | None = None) -> Extraction:
    why = [Failed(message=each.id, reason=error.message, raw=raw) for each in batch.messages]
    return Extraction(failed=tuple(why))


def _quarantine(found: Extracted, failed: Sequence[Failed]) -> None:
    found.quarantined |= {each.message: each.reason for each in failed}
    found.raws |= {each.message: each.raw for each in failed if each.raw is not None}
