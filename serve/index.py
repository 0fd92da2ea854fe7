"""The vector index as the service reaches it, and how it follows the record store."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from pipeline.messages import Scope
from pipeline.ports import Outbox, VectorIndex
from pipeline.recall.points import points
from pipeline.state import IndexHits, IndexQuery


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


def drain(index: VectorIndex, outbox: Outbox, *, limit: int = 256) -> int:
    """Takes the oldest ``limit`` changes into the index; returns how many entries that were."""
    items = outbox.pending(limit=limit)
    index.upsert([point for item in items for point in points(item)])
    index.delete([gone for item in items for gone in item.removed])
    outbox.done(items)
    return len(items)


class InlineIndex:
    """The index in this process: for tests and single-process runs."""

    def __init__(self, index: VectorIndex, outbox: Outbox) -> None:
        self._index = index
        self._outbox = outbox

    async def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        return await asyncio.to_thread(self._index.search, queries)

    async def follow(self) -> None:
        while await asyncio.to_thread(drain, self._index, self._outbox):
            pass

    async def count(self, scope: Scope | None = None) -> int:
        return await asyncio.to_thread(self._index.count, scope)
