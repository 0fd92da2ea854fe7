"""Cases to a decider that asks a model: many in flight, each reply kept before it is used.

Replies are written in lots: while one lot is on its way to the store, the next one gathers. So
what a worker that dies has to ask again is what was in flight, and little more.
"""

import asyncio
import logging
import threading
import weakref
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pipeline.chat import Spent
from pipeline.deciding import Ruling
from pipeline.entries import Case, Decision
from pipeline.ids import EntryId
from pipeline.messages import Scope
from pipeline.ports import AskingDecider, Clock, SleepStore
from pipeline.sleep.decide import case_key
from serve.sleep_stages import Cases

log = logging.getLogger("slowwave.sleep")

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """The cases of a chunk that no earlier reply decides."""

    chunk: Cases
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Per target a decision, or why there is none; calls of the decider, and their tokens."""

    replies: dict[EntryId, Decision | str]
    calls: int
    tokens: int = 0


class Asking:
    """Asks about at most ``calls`` cases at once, whoever's they are."""

    def __init__(
        self, *, store: SleepStore, decider: AskingDecider, clock: Clock, calls: int
    ) -> None:
        self._decider = decider
        self._slots = asyncio.Semaphore(calls)
        self._replies = _Replies(store=store, clock=clock)
        self._loop = _Loop()

    def answers(self, opened: Sequence[Open]) -> list[Answered]:
        """What became of the cases of each chunk. Raises StoreError where no reply can be kept."""
        return self._loop.run(self._all(opened))

    async def _all(self, opened: Sequence[Open]) -> list[Answered]:
        pairs = [(one.chunk, case) for one in opened for case in one.cases]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(chunk, case)) for chunk, case in pairs]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        rulings = iter([task.result() for task in tasks])
        return [_answered([(case, next(rulings)) for case in one.cases]) for one in opened]

    async def _one(self, chunk: Cases, case: Case) -> Ruling:
        async with self._slots:
            ruling = await self._asked(chunk, case)
        await self._replies.keep(chunk, case_key(case, self._decider.name), ruling)
        return ruling

    async def _asked(self, chunk: Cases, case: Case) -> Ruling:
        try:
            ruling = await self._decider.ask(case, tenant=chunk.scope.tenant)
        except Exception as error:  # a decider is a plug-in: whatever it raises fails its target
            ruling = Ruling(failure=f"{type(error).__name__}: {error}", calls=1)
        if ruling.failure is not None:
            # It may quote what was remembered; the ledger keeps it, erasure reaches that.
            log.warning("the decider failed on a target of %s", chunk.scope.collection)
        return ruling


def _answered(rulings: Sequence[tuple[Case, Ruling]]) -> Answered:
    spent = [each for _, ruling in rulings for each in ruling.spent]
    return Answered(
        replies={case.target.id: _reply(ruling) for case, ruling in rulings},
        calls=sum(ruling.calls for _, ruling in rulings),
        tokens=sum(each.tokens_in + each.tokens_out for each in spent),
    )


def _reply(ruling: Ruling) -> Decision | str:
    if ruling.decision is not None:
        return ruling.decision
    return ruling.failure or "no decision came"


@dataclass(slots=True)
class _Lot:
    """Replies about one collection, and what they took, on their way to the store."""

    chunk: Cases
    decisions: dict[str, Decision] = field(default_factory=dict)
    spent: list[Spent] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def add(self, key: str, ruling: Ruling) -> None:
        if ruling.decision is not None:
            self.decisions[key] = ruling.decision
        self.spent += ruling.spent
        self.refused.update(ruling.refused)


class _Replies:
    """Keeps replies with what they took, those of a collection in one transaction."""

    def __init__(self, *, store: SleepStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._writing = asyncio.Lock()
        self._gathered: dict[tuple[Scope, int], _Lot] = {}

    async def keep(self, chunk: Cases, key: str, ruling: Ruling) -> None:
        """Returns when the reply is kept."""
        lot = self._gathered.setdefault((chunk.scope, chunk.through), _Lot(chunk=chunk))
        lot.add(key, ruling)
        async with self._writing:
            gathered, self._gathered = self._gathered, {}
            for each in gathered.values():
                await asyncio.to_thread(self._write, each)

    def _write(self, lot: _Lot) -> None:
        self._store.cache_decisions(
            lot.decisions,
            scope=lot.chunk.scope,
            through=lot.chunk.through,
            now=self._clock.now(),
            spent=lot.spent,
            refused=lot.refused,
        )


class _Loop:
    """An event loop on a thread of its own: a model's connections live as long as it does."""

    def __init__(self) -> None:
        loop = asyncio.new_event_loop()
        threading.Thread(target=_run, args=(loop,), name="asking", daemon=True).start()
        weakref.finalize(self, loop.call_soon_threadsafe, loop.stop)
        self._loop = loop

    def run(self, work: Coroutine[object, object, _T]) -> _T:
        """Its result, once it is done; it ends with its caller."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
