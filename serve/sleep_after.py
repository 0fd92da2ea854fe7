"""The ``after`` step of a sleep run: merging, forgetting and the scratchpad, collection by
collection, without Ray (``sleep_tending`` has the operator).

Each change is written by compare-and-set with a ledger row; a dry run writes none.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from actors.clock import SystemClock
from pipeline.chat import Spent
from pipeline.errors import InputError
from pipeline.ids import ItemId
from pipeline.messages import Scope
from pipeline.ports import ChatModel, Clock, TendingStore, Tokenizer
from pipeline.runs import DueCollection, SleepRun, Stop
from pipeline.scratchpad import Item, ItemStatus, ItemWrite, slot_of_kind
from pipeline.settings import (
    CollectionSettings,
    ForgettingSettings,
    ScratchpadSettings,
    collection_settings,
    slots_of,
)
from pipeline.sleep.chat_shorten import Chunk, Shortened, chunks, shorten
from pipeline.sleep.forgetting import faded_before
from pipeline.sleep.shorten import Overfull, best, left_out, overfull, taken_in
from pipeline.sleep.tending import ChangeKind, Kept, Tending, tending
from serve.sleep_limits import Limits

log = logging.getLogger("slowwave.sleep")

COUNTS = ("archived", "merged", "items", "shortened", "shorten_failed")
"""What the step counts, in the totals of a run: things changed, and calls of no use."""

MOST_BY_CHAT = 4
"""The most that a chat model is given to shorten, in thresholds; what is beyond is left out."""

_BY_RULE = "left out: the scratchpad had grown beyond its tokens"
_BY_CHAT = "shortened by the chat model: the scratchpad had grown beyond its tokens"
_UNUSED = "left out by the chat model, which shortened the scratchpad"


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterParts:
    """What the step works with: factories that travel to wherever it runs, and settings.

    Without ``open_chat`` the scratchpad is shortened by a rule.
    """

    open_store: Callable[[], TendingStore]
    open_tokenizer: Callable[[], Tokenizer]
    open_chat: Callable[[], ChatModel] | None = None
    open_clock: Callable[[], Clock] = SystemClock
    scratchpad: ScratchpadSettings
    forgetting: ForgettingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Untended:
    """A collection on its way to be tended."""

    scope: Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Tended:
    """What tending a collection came to, by ``COUNTS``; ``stop`` says why some of it is left."""

    scope: Scope
    counts: dict[str, int]
    stop: Stop | None = None


def to_tend(
    run: SleepRun, parts: AfterParts, *, collection: str | None = None
) -> list[DueCollection]:
    """Collections that were written to, have faded entries or hold too many, by name."""
    now = parts.open_clock().now()
    return parts.open_store().untended(
        run.tenant,
        collection=collection,
        faded_before=faded_before(parts.forgetting.policy(capacity=None), now),
        capacity=parts.forgetting.capacity_entries,
    )


class Tender:
    """One worker of the step; what it needs is opened once, models when they are first asked."""

    def __init__(self, parts: AfterParts, limits: Limits) -> None:
        self.parts = parts
        self.limits = limits
        self.store = parts.open_store()
        self.clock = parts.open_clock()

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """What lengths are counted with."""
        return self.parts.open_tokenizer()

    @cached_property
    def chat(self) -> ChatModel | None:
        """What shortens; None leaves it to a rule."""
        return None if self.parts.open_chat is None else self.parts.open_chat()

    def tend(self, run: SleepRun, scope: Scope) -> Tended:
        """Merges, archives, reconciles and shortens one collection.

        Doing it twice changes nothing the second time, and counts the same. A dry run counts what
        it would merge, archive and reconcile, asks no model and writes nothing. Once the run's time
        is over or its tokens are used up no model is asked: the scratchpad is left as long as it
        is.

        Raises:
            NotFound: there is no such collection.
            StoreError: the store refused.
        """
        return _Tending(run, scope, self).tend()


class _Tending:
    """One collection on its way through the step."""

    def __init__(self, run: SleepRun, scope: Scope, tender: Tender) -> None:
        self._run = run
        self._scope = scope
        self._tender = tender
        self._parts = tender.parts
        self._store = tender.store
        self._clock = tender.clock
        self._failed = 0
        self._stop: Stop | None = None

    def tend(self) -> Tended:
        kept = self._kept()
        own = _own(kept)
        plan = self._plan(kept, own)
        if self._run.dry_run:
            return self._done(_planned(plan))
        is_long = self._overfull(_items_after(kept, plan), own) is not None
        self._write(plan, kept, is_done=not is_long)
        if is_long:
            self._shorten(self._kept(), own)
            # What gave way contradicts nothing any more: the marks follow in the same run.
            kept = self._kept()
            self._write(self._plan(kept, own), kept, is_done=not self._is_unfinished)
        scope = self._scope
        return self._done(
            self._store.changed(scope.tenant, self._run.id, collection=scope.collection)
        )

    def _done(self, counts: dict[str, int]) -> Tended:
        own = {**dict.fromkeys(COUNTS, 0), **counts, "shorten_failed": self._failed}
        return Tended(scope=self._scope, counts=own, stop=self._stop)

    @property
    def _is_unfinished(self) -> bool:
        return bool(self._failed) or self._stop is not None

    def _kept(self) -> Kept:
        return self._store.kept(self._scope, run=self._run.id)

    def _plan(self, kept: Kept, own: CollectionSettings) -> Tending:
        forgetting = self._parts.forgetting
        return tending(
            kept,
            forgetting.policy(capacity=own.capacity_entries),
            slot_of_kind(slots_of(own.slots or self._parts.scratchpad.slots)),
            merges=forgetting.merge_duplicates,
            now=self._clock.now(),
        )

    def _write(self, plan: Tending, kept: Kept, *, is_done: bool) -> None:
        """Writes the plan; a collection that is not done is looked at again the next night."""
        self._store.tend(
            self._run.id,
            self._scope,
            plan,
            through=kept.through,
            now=self._clock.now(),
            is_done=is_done,
        )

    # Shortening -----------------------------------------------------------------------------

    def _shorten(self, kept: Kept, own: CollectionSettings) -> None:
        found = self._overfull(kept.items, own)
        if found is None:
            return
        if self._tender.chat is not None:
            self._by_chat(found, kept, self._tender.chat)
            if self._is_unfinished:
                return
            kept = self._kept()
            found = self._overfull(kept.items, own)
        if found is not None:
            self._leave_out(found, kept, room_tokens=found.overfull.room_tokens)

    def _by_chat(self, found: "_Found", kept: Kept, chat: ChatModel) -> None:
        most = self._parts.scratchpad.threshold_tokens * MOST_BY_CHAT
        # What is far too much goes first, so that what a night costs is bounded.
        self._leave_out(found, kept, room_tokens=most)
        shortener = _Shortener(self._run, found, self._tender, chat)
        results = asyncio.run(shortener.results(room_tokens=most))
        self._stop = next((one for one in results if isinstance(one, Stop)), None)
        self._take([one for one in results if isinstance(one, Shortened)], kept)

    def _overfull(self, items: Iterable[Item], own: CollectionSettings) -> "_Found | None":
        settings = self._parts.scratchpad
        active = [item for item in items if item.status is ItemStatus.ACTIVE]
        if sum(len(item.text.encode()) for item in active) <= settings.threshold_tokens:
            return None  # no tokenizer makes more tokens than bytes, and loading one takes time
        tokenizer = self._tender.tokenizer
        counted = tokenizer.count([item.text for item in active])
        tokens = {item.id: count for item, count in zip(active, counted, strict=True)}
        found = overfull(
            active,
            tokens,
            slots_of(own.slots or settings.slots),
            threshold_tokens=settings.threshold_tokens,
            target_tokens=settings.target_tokens,
        )
        if found is None:
            return None
        return _Found(overfull=found, tokens=tokens, tokenizer=tokenizer)

    def _leave_out(self, found: "_Found", kept: Kept, *, room_tokens: int) -> None:
        items = found.overfull.items
        stays = best(items, found.tokens, room_tokens=room_tokens)
        going = [item for item in items if item.id not in stays]
        writes = left_out(going, why=_BY_RULE, now=self._clock.now())
        self._give_way([[write] for write in writes], kept)

    def _take(self, done: Sequence[Shortened], kept: Kept) -> None:
        """Writes all at once: of what is half written other calls would be made the next time."""
        now, groups = self._clock.now(), list[Sequence[ItemWrite]]()
        for each in done:
            if each.failure is not None:
                self._failed += 1
                log.warning("a scratchpad was not shortened: %s", each.failure.partition(":")[0])
            groups += [taken_in(one, self._run.id, why=_BY_CHAT, now=now) for one in each.shorter]
            groups += [[write] for write in left_out(each.left_out, why=_UNUSED, now=now)]
        self._give_way(groups, kept, spent=[spent for each in done for spent in each.spent])

    def _give_way(
        self, groups: Sequence[Sequence[ItemWrite]], kept: Kept, *, spent: Sequence[Spent] = ()
    ) -> None:
        if not groups and not spent:
            return
        self._store.shorten(
            self._run.id,
            self._scope,
            groups,
            spent=spent,
            through=kept.through,
            now=self._clock.now(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """An overfull scratchpad with the tokens of each of its items."""

    overfull: Overfull
    tokens: dict[ItemId, int]
    tokenizer: Tokenizer


class _Shortener:
    """The calls that shorten one scratchpad, several at once."""

    def __init__(self, run: SleepRun, found: _Found, tender: Tender, chat: ChatModel) -> None:
        self._run = run
        self._found = found
        self._settings = tender.parts.scratchpad
        self._limits = tender.limits
        self._chat = chat

    async def results(self, *, room_tokens: int) -> list[Shortened | Stop]:
        """What became of each chunk of the items that are the best within the room, in order."""
        found, tokens = self._found.overfull, self._found.tokens
        stays = best(found.items, tokens, room_tokens=room_tokens)
        parts = chunks(
            [item for item in found.items if item.id in stays],
            tokens,
            room_tokens=found.room_tokens,
            request_tokens=self._settings.request_tokens,
        )
        turns = asyncio.Semaphore(self._settings.calls)
        return list(await asyncio.gather(*(self._one(chunk, turns) for chunk in parts)))

    async def _one(self, chunk: Chunk, turns: asyncio.Semaphore) -> Shortened | Stop:
        """The chunk shortened, unless the run must begin nothing more."""
        tenant = self._run.tenant
        async with turns:
            stop = await asyncio.to_thread(self._limits.stop, tenant)
            if stop is not None:
                return stop
            done = await shorten(
                chunk,
                tenant=tenant,
                ask=self._chat.reply,
                measure=lambda text: self._found.tokenizer.count([text])[0],
                attempts=self._settings.attempts,
            )
            tokens = sum(each.tokens_in + each.tokens_out for each in done.spent)
            await asyncio.to_thread(self._limits.spend, tenant, tokens)
            return done


def _own(kept: Kept) -> CollectionSettings:
    """What the collection sets itself; a damaged row keeps to the service's settings."""
    try:
        return collection_settings(kept.settings)
    except InputError as error:
        log.error("a collection is tended by the service's settings: %s", error)
        return CollectionSettings()


def _items_after(kept: Kept, plan: Tending) -> list[Item]:
    """The collection's items once the plan is written."""
    items = {item.id: item for item in kept.items}
    items |= {write.after.id: write.after for write in plan.items}
    return list(items.values())


def _planned(plan: Tending) -> dict[str, int]:
    turns = [turn for group in plan.turns for turn in group]
    return {
        "archived": sum(turn.kind is ChangeKind.ARCHIVE for turn in turns),
        "merged": sum(turn.partner is not None for turn in turns),
        "items": len(plan.items),
    }
