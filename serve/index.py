"""The vector index as the service reaches it, and how it follows the record store."""

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pipeline.messages import Scope, TenantId
from pipeline.ports import EntryKey, IndexSource, Outbox, VectorIndex
from pipeline.recall.compare import differences, unusable
from pipeline.recall.points import fitting, points
from pipeline.state import Difference, IndexHits, IndexPoint, IndexQuery, OutboxItem, StoredPoint

log = logging.getLogger("slowwave.index")

T = TypeVar("T")

PAGE = 500
"""Entries or points in one step of a rebuild or a check; searches pass in between."""


class AsyncIndex(Protocol):
    """The index as the service reaches it."""

    async def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        """As VectorIndex.search."""
        ...

    async def follow(self) -> None:
        """Returns when the index has taken what the outbox held at the call."""
        ...

    async def count(self, scope: Scope | None = None) -> int:
        """Points of one scope, or of all."""
        ...

    async def rebuild(self) -> None:
        """Returns when the index holds what the record store says, and no byte of anything else.

        Searchable meanwhile; a second one asked for during the first begins after it.
        """
        ...

    async def check(
        self, whose: Scope | TenantId | None = None, *, repair: bool = False
    ) -> list[Difference]:
        """Where index and record store differ; what was repaired says so.

        Of a tenant only points are looked at, also those of collections that are no more.
        """
        ...


def drain(index: VectorIndex, outbox: Outbox, *, limit: int = 256) -> bool:
    """Takes the oldest ``limit`` changes into the index; whether there may be more."""
    items = outbox.pending(limit=limit)
    if not items:
        return False
    index.upsert(_taken(items, dim=index.dim))
    removed = [gone for item in items for gone in item.removed]
    if removed:
        index.delete(removed)
    outbox.done(items)
    return sum(len(item.ids) for item in items) >= limit


def _taken(items: Sequence[OutboxItem], *, dim: int) -> list[IndexPoint]:
    """The points of the entries; one whose vector is damaged is named and holds nothing else up."""
    fit, unfit = fitting([point for item in items for point in points(item)], dim=dim)
    for each in unusable(unfit, dim=dim):
        where = f"collection {each.scope.collection!r} of tenant {each.scope.tenant!r}"
        log.error("%s of %s is left out of the index: %s", each.subject, where, each.detail)
    return fit


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A rebuild that was asked for: the ``number``-th of the keeper that ``keeper`` names."""

    keeper: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Some of a check: its differences and where it goes on; None at the end."""

    differences: tuple[Difference, ...]
    cursor: EntryKey | str | None


class IndexKeeper:
    """The one that reads the outbox, writes the index and rebuilds it; one call at a time.

    A page is read and written in one call, so nothing newer is overwritten by what it read.
    """

    def __init__(self, index: VectorIndex, outbox: Outbox, source: IndexSource) -> None:
        self.index = index
        self._outbox = outbox
        self._source = source
        self._id = uuid.uuid4().hex
        self._finished = 0
        self._is_running = False
        self._after: EntryKey | None = None
        self._owe_a_new_one()

    def _owe_a_new_one(self) -> None:
        """An index that holds nothing, or points of an older version, takes everything again."""
        old = self.index.count_old()
        if self.index.count() and not old:
            return
        if owed := self._outbox.owe_all():
            why = "holds points of an earlier version" if old else "is empty"
            log.warning("the index %s: it takes %d entries from the record store", why, owed)

    def follow(self) -> bool:
        """Takes some of what is pending; whether there may be more."""
        return drain(self.index, self._outbox)

    def ask_rebuild(self) -> Ticket:
        """The next rebuild that begins after this call."""
        return Ticket(keeper=self._id, number=self._finished + (2 if self._is_running else 1))

    def rebuild_step(self, ticket: Ticket) -> bool | None:
        """Does one page of the present rebuild; whether the ticket's is done.

        Whoever waits for one drives it. None where the keeper began anew: ask again.
        """
        if ticket.keeper != self._id:
            return None
        if ticket.number <= self._finished:
            return True
        if not self._is_running:
            self.index.begin_rebuild(uuid.uuid4().hex)
            self._is_running, self._after = True, None
        items = self._source.page(after=self._after, limit=PAGE)
        if items:
            self.index.rebuild(_taken(items, dim=self.index.dim))
            self._after = _key(items[-1])
            return False
        self.index.end_rebuild()
        self._is_running = False
        self._finished += 1
        return ticket.number <= self._finished

    def check_step(
        self, whose: Scope | TenantId | None, cursor: EntryKey | str | None, *, repair: bool
    ) -> Checked:
        """Compares one page: entries with their points first, then points with their entries.

        Args:
            whose: of a tenant only the points are compared.
            cursor: None at the start, an entry's key among entries, a point's id among points.
        """
        if isinstance(cursor, str):
            return self._check_points(whose, cursor, repair=repair)
        if isinstance(whose, str):
            return self._check_points(whose, "", repair=repair)
        return self._check_entries(whose, cursor, repair=repair)

    def _check_entries(
        self, scope: Scope | None, after: EntryKey | None, *, repair: bool
    ) -> Checked:
        items = self._source.page(scope, after=after, limit=PAGE)
        late = self._source.pending(items)
        due = [item for item in items if _key(item) not in late]
        dim = self.index.dim
        wanted, unfit = fitting([point for item in due for point in points(item)], dim=dim)
        found = self.index.points([point.id for point in wanted])
        differing = differences(due, wanted, found, repaired=repair)
        if repair and differing:
            self.index.upsert(wanted)
        broken = unusable(unfit, dim=dim)
        return Checked(differences=(*differing, *broken), cursor=_key(items[-1]) if items else "")

    def _check_points(self, whose: Scope | TenantId | None, after: str, *, repair: bool) -> Checked:
        found = self.index.scan(whose, after=after or None, limit=PAGE)
        unknown = self._source.unknown(found)
        if repair:
            self.index.delete([point.id for point in unknown])
        return Checked(
            differences=tuple(_extra(point, repaired=repair) for point in unknown),
            cursor=found[-1].id if found else None,
        )


def _key(item: OutboxItem) -> EntryKey:
    return item.scope.tenant, item.entry


def _extra(point: StoredPoint, *, repaired: bool) -> Difference:
    return Difference(
        kind="extra point",
        scope=point.scope,
        subject=f"point {point.id}",
        detail=f"no version {point.version} of entry {point.entry}",
        repaired=repaired,
    )


class InlineIndex:
    """The index in this process: for tests and single-process runs."""

    def __init__(self, index: VectorIndex, outbox: Outbox, source: IndexSource) -> None:
        self._keeper = IndexKeeper(index, outbox, source)
        self._lock = threading.Lock()

    async def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        return await self._call(lambda: self._keeper.index.search(queries))

    async def follow(self) -> None:
        while await self._call(self._keeper.follow):
            pass

    async def count(self, scope: Scope | None = None) -> int:
        return await self._call(lambda: self._keeper.index.count(scope))

    async def rebuild(self) -> None:
        ticket = self._keeper.ask_rebuild()
        while not await self._call(lambda: self._keeper.rebuild_step(ticket)):
            pass

    async def check(
        self, whose: Scope | TenantId | None = None, *, repair: bool = False
    ) -> list[Difference]:
        found: list[Difference] = []
        cursor: EntryKey | str | None = None
        while True:
            checked = await self._call(self._checking(whose, cursor, repair))
            found += checked.differences
            cursor = checked.cursor
            if cursor is None:
                return found

    def _checking(
        self, whose: Scope | TenantId | None, cursor: EntryKey | str | None, repair: bool
    ) -> Callable[[], Checked]:
        return lambda: self._keeper.check_step(whose, cursor, repair=repair)

    async def _call(self, ask: Callable[[], T]) -> T:
        def alone() -> T:
            with self._lock:
                return ask()

        return await asyncio.to_thread(alone)
