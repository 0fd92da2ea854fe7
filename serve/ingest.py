"""The ingest worker: leases collections, walks their messages in, commits behind the fence.

State between steps is rows; a step that dies costs repeated model calls and nothing else. After
two deaths or failures in a row the messages concerned are taken one by one, each attempt counted
before it begins: the one that is deadly ends in quarantine, and its collection goes on.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Protocol

from pipeline.awake.shares import shares
from pipeline.errors import SlowwaveError, StoreError
from pipeline.ids import MessageId
from pipeline.messages import Scope
from pipeline.ports import AwakeStore, Clock
from pipeline.state import AwakeCommit, AwakeState, Lease
from serve.walk import Walk

log = logging.getLogger("slowwave.ingest")

_FIRST_STEP = 64
"""Messages of a worker's first step, before it knows how fast its models are."""

_FOLLOW_S = 1.0
"""How often a worker without work asks the index to follow: who writes asks at once, this is for
what was written by a process that died before it could."""

_LONG_CHARS = 2_048
_MOST_LONG_CHARS = 16_384
"""Characters beyond the first ones of each message that a step with others holds at most."""

_MOST_ROUNDS = 8
"""Rounds of one worker at once, where the earlier ones wait for their models."""

_PATIENCE = 3.0
"""Another round begins where one takes so many times what a step is meant to."""


class _NotWritten(StoreError):
    """A step was made and the record store did not take it: no fault of its messages."""


class _NoProgress(SlowwaveError):
    """A step moved nothing on; done again it would go on for ever."""


class Follow(Protocol):
    """How the index is told that there is something to follow."""

    async def follow(self) -> None:
        """Returns when the index has taken what the outbox held at the call."""
        ...


class IngestWorker:
    """The loop: lease, load, step, commit, release; the index follows after each commit.

    ``messages`` bounds a step over all its collections, which otherwise holds what the models do
    in about ``step_s``: slow ones keep nobody waiting long, quick ones are not slowed by many
    small commits. ``attempts`` is how often a message may be at hand when a worker dies or fails.
    """

    def __init__(
        self,
        *,
        name: str,
        store: AwakeStore,
        walk: Walk,
        clock: Clock,
        follow_index: Follow,
        leases: int,
        messages: int,
        step_s: float,
        ttl_s: float,
        idle_s: float,
        poll_s: float,
        attempts: int,
    ) -> None:
        self._name = name
        self._store = store
        self._walk = walk
        self._clock = clock
        self._follow_index = follow_index
        self._leases = leases
        self._most = messages
        self._size = min(_FIRST_STEP, messages)
        self._step_s = step_s
        self._ttl_s = ttl_s
        self._idle_s = idle_s
        self._poll_s = poll_s
        self._attempts = attempts
        self._followed_at = -_FOLLOW_S
        self._aside: set[asyncio.Task[int]] = set()

    async def run(self) -> None:
        """Works until cancelled. A failing round is logged, counted and tried again later.

        One that waits long for its models goes on beside the next ones, a few at most.
        """
        delay = self._poll_s
        running: set[asyncio.Task[int]] = set()
        try:
            while True:
                running.add(asyncio.create_task(self._round()))
                wait_s = None if len(running) == _MOST_ROUNDS else _PATIENCE * self._step_s
                done, running = await asyncio.wait(
                    running, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED
                )
                worked, has_failed = _outcome([*done, *self._ended()])
                delay = min(delay * 2, 30.0) if has_failed else self._poll_s
                if done and not worked:
                    await asyncio.sleep(delay)
        finally:
            left = [*running, *self._aside]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def round(self) -> int:
        """One step of every leased collection; returns how many committed."""
        committed = await self._round()
        if self._aside:
            await asyncio.wait(self._aside)
        return committed + sum(task.result() for task in self._ended())

    def _ended(self) -> list[asyncio.Task[int]]:
        """The long steps that ended; they are kept no longer."""
        ended = [task for task in self._aside if task.done()]
        self._aside.difference_update(ended)
        return ended

    async def _round(self) -> int:
        """As ``round``, without waiting for those that are stepped aside."""
        if len(self._aside) >= self._leases:
            await asyncio.wait(self._aside, return_when=asyncio.FIRST_COMPLETED)
            return 0
        held = await asyncio.to_thread(
            self._store.lease,
            self._name,
            limit=self._leases - len(self._aside),
            now=self._clock.now(),
            ttl_s=self._ttl_s,
            idle_s=self._idle_s,
        )
        if not held:
            await self._follow_now_and_then()
            return 0
        waiting = {lease.scope: lease.waiting for lease in held}
        limits = shares(waiting, total=self._size)
        async with self._holding(held) as staying:
            states = {
                lease: await asyncio.to_thread(self._load, lease, limits[lease.scope])
                for lease in held
            }
            for lease in [lease for lease in held if _is_long(states[lease])]:
                staying.remove(lease)
                self._begin_aside(lease, states.pop(lease))
            return await self._work(states) if states else 0

    async def _follow_now_and_then(self) -> None:
        now = time.monotonic()
        if now - self._followed_at >= _FOLLOW_S:
            self._followed_at = now
            await self._follow_index.follow()

    @asynccontextmanager
    async def _holding(self, held: Sequence[Lease]) -> AsyncIterator[list[Lease]]:
        """Keeps the leases fresh inside, and gives those back that are still in the list."""
        staying = list(held)
        beat = asyncio.create_task(self._beat(staying))
        try:
            yield staying
        finally:
            beat.cancel()
            if staying:
                await asyncio.to_thread(self._store.release, staying)

    def _begin_aside(self, lease: Lease, state: AwakeState) -> None:
        self._aside.add(asyncio.create_task(self._work_aside(lease, state)))

    async def _work_aside(self, lease: Lease, state: AwakeState) -> int:
        async with self._holding([lease]):
            return await self._work({lease: state})

    async def _work(self, states: Mapping[Lease, AwakeState]) -> int:
        """Ordinary collections in one step together, those to be careful with one by one."""
        plain = [lease for lease, state in states.items() if not state.is_careful]
        groups = [plain] if plain else []
        groups += [[lease] for lease, state in states.items() if state.is_careful]
        committed = 0
        failures: list[SlowwaveError] = []
        for group in groups:
            try:
                committed += await self._step({lease: states[lease] for lease in group})
            except _NotWritten as error:
                failures.append(error)
            except SlowwaveError as error:
                await self._failed(group, error)
                failures.append(error)
            except Exception as error:
                # Not foreseen: the worker ends with it, but first it is known where.
                await self._failed(group, error)
                raise
        await self._follow_index.follow()
        if failures:
            raise failures[-1]
        return committed

    async def _failed(self, group: Sequence[Lease], error: Exception) -> None:
        """The other collections of the round go on; these are stepped with care the second time."""
        reason = f"{type(error).__name__}: {error}"
        log.warning("a step of %d collections failed: %s", len(group), reason)
        await asyncio.to_thread(self._store.fail, group, reason)

    async def _step(self, states: Mapping[Lease, AwakeState]) -> int:
        """One step of a group: ordinary collections, or a single one to be careful with."""
        for lease, state in states.items():
            if state.is_careful:
                return await self._careful(lease, state)
        began = time.monotonic()
        committed = await self._steps(states)
        if not any(_is_long(state) for state in states.values()):
            taken = sum(_work(state) for state in states.values())
            self._learn(taken, time.monotonic() - began)
        return committed

    async def _steps(self, states: Mapping[Lease, AwakeState]) -> int:
        """Commits each collection as soon as it is done; those before a slow one are given back."""
        leases = {lease.scope: lease for lease in states}
        committed = 0
        steps = self._walk.steps({scope: states[lease] for scope, lease in leases.items()})
        async with aclosing(steps):
            async for commits in steps:
                done = [leases.pop(scope) for scope in commits]
                for lease in done:
                    committed += await self._commit(lease, commits[lease.scope])
                if leases:
                    await asyncio.to_thread(self._store.release, done)
        return committed

    def _learn(self, messages: int, seconds: float) -> None:
        """Moves the size of a step half way to what fits the wanted time."""
        if messages * 2 >= self._size:  # a small step says little about a large one
            fitting = messages * self._step_s / max(seconds, 1e-3)
            self._size = max(1, min(self._most, round((self._size + fitting) / 2)))

    async def _careful(self, lease: Lease, state: AwakeState) -> int:
        """One piece of work, its attempt counted first; the piece that failed too often goes."""
        part = self._walk.part(lease.scope, state)
        if part is None:
            return await self._commit(lease, await self._one(lease.scope, state))
        counts = await asyncio.to_thread(self._store.claim, lease, part.messages)
        if counts is None:
            return 0
        worn = [message for message, count in counts.items() if count > self._attempts]
        if worn:
            return await self._commit(lease, self._given_up(state, worn))
        commits = await self._walk.step({lease.scope: part.state}, last=part.last)
        commit = replace(commits[lease.scope], survived=part.messages)
        commit = replace(commit, flushed_through=None, ended={})
        if commit.retry_after_s is not None:
            await asyncio.to_thread(self._store.unclaim, lease, part.messages)
            return await self._commit(lease, replace(commit, survived=()))
        if not commit.moves_on:
            raise _NoProgress(f"a step of {len(part.messages)} messages moved none of them on")
        try:
            return await self._commit(lease, commit)
        except _NotWritten:
            await asyncio.to_thread(self._store.unclaim, lease, part.messages)
            raise

    async def _one(self, scope: Scope, state: AwakeState) -> AwakeCommit:
        return (await self._walk.step({scope: state}))[scope]

    def _given_up(self, state: AwakeState, worn: Sequence[MessageId]) -> AwakeCommit:
        why = state.failure or "its worker died"
        log.warning("%d messages failed %d times: quarantined", len(worn), self._attempts)
        reason = f"{self._attempts} attempts, the last one: {why}"
        return AwakeCommit(start_step=state.step, quarantined=dict.fromkeys(worn, reason))

    async def _commit(self, lease: Lease, commit: AwakeCommit) -> bool:
        now = self._clock.now()
        try:
            return await asyncio.to_thread(self._store.commit, lease, commit, now=now)
        except StoreError as error:
            raise _NotWritten(error.message) from error

    def _load(self, lease: Lease, limit: int) -> AwakeState:
        return self._store.load(lease, limit=limit, now=self._clock.now(), idle_s=self._idle_s)

    async def _beat(self, held: Sequence[Lease]) -> None:
        while True:
            await asyncio.sleep(self._ttl_s / 3)
            try:
                await asyncio.to_thread(
                    self._store.heartbeat, list(held), now=self._clock.now(), ttl_s=self._ttl_s
                )
            except SlowwaveError as error:
                # The next beat may still come in time; a lease that is lost commits nothing.
                log.warning("a heartbeat failed: %s: %s", type(error).__name__, error)


def _is_long(state: AwakeState) -> bool:
    """Whether its texts would keep others of the same step waiting."""
    beyond = sum(max(0, len(message.content) - _LONG_CHARS) for message in state.accepted)
    return beyond > _MOST_LONG_CHARS


def _outcome(rounds: Iterable[asyncio.Task[int]]) -> tuple[int, bool]:
    """How many steps of the ended rounds committed, and whether one failed.

    Raises what a round did not foresee.
    """
    worked, has_failed = 0, False
    for each in rounds:
        try:
            worked += each.result()
        except SlowwaveError as error:
            log.error("ingest round failed: %s: %s", type(error).__name__, error)
            has_failed = True
    return worked, has_failed


def _work(state: AwakeState) -> int:
    """The messages that a step moves on."""
    held = sum(len(window) for window in state.windows.values()) if state.flush else 0
    return len(state.accepted) + held
