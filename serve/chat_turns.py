"""Whose request a chat model takes next: those a person waits for first, then tenant by tenant.

Used on one event loop.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_URGENT = 0
_PATIENT = 1


class Turns:
    """At most ``places`` at once; a free place goes to the tenant that holds the fewest."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._held: Counter[str] = Counter()
        self._waiting: dict[tuple[int, str], deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def taken(self, owner: str, *, is_urgent: bool = False) -> AsyncIterator[None]:
        """A place for as long as the block lasts.

        Args:
            owner: whose request it is.
            is_urgent: a person waits for the answer.
        """
        await self._take(owner, _URGENT if is_urgent else _PATIENT)
        try:
            yield
        finally:
            self._give_back(owner)

    async def _take(self, owner: str, rank: int) -> None:
        if self._free > 0:
            self._free -= 1
            self._held[owner] += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault((rank, owner), deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # Its turn may have come in the moment in which its caller went away.
            if turn.done() and not turn.cancelled():
                self._give_back(owner)
            raise

    def _give_back(self, owner: str) -> None:
        self._held -= Counter({owner: 1})
        while self._waiting:
            rank, chosen = min(self._waiting, key=lambda each: (each[0], self._held[each[1]]))
            queue = self._waiting[rank, chosen]
            turn = queue.popleft()
            if not queue:
                del self._waiting[rank, chosen]
            if not turn.done():
                self._held[chosen] += 1
                turn.set_result(None)
                return
        self._free += 1
