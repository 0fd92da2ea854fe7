"""What an endpoint lets a service have: token buckets of requests and of tokens, and pauses.

One holder serves every caller of an endpoint, wherever they run. Places are booked ahead: a caller
is told how long to wait and waits by itself, so the holder never does. Knows nothing of HTTP.
"""

import random
import time
from collections.abc import Callable
from typing import Protocol

from pipeline.errors import LimitError

BURST_S = 10.0
"""A bucket holds what is earned in this time, so a quiet minute is not made up for at once."""

_MINUTE_S = 60.0
_SPREAD = 0.2
_LONGEST_SPREAD_S = 10.0


def spread_s(pause_s: float, chance: float) -> float:
    """Never less than a pause that was asked for, and up to a fifth of it more.

    Else all who were told to wait would come back at one instant.

    Args:
        chance: a number in 0..1.
    """
    return pause_s + chance * min(_LONGEST_SPREAD_S, _SPREAD * pause_s)


class ChatLimits(Protocol):
    """The room of one endpoint, shared by all that ask it."""

    async def reserve(self, tokens: int, *, patience_s: float) -> float:
        """Books one request of about so many tokens; seconds until it may be sent.

        Raises:
            LimitError: it would have to wait longer than ``patience_s``; nothing is booked.
        """
        ...

    async def settle(self, tokens: int) -> None:
        """Books what a request took more (or, below 0, less) than was reserved for it."""
        ...

    async def pause(self, seconds: float) -> None:
        """Nothing booked from now on is sent before so many seconds have passed; then not all
        that waited is sent at once."""
        ...


class EndpointLimits:
    """Implements ChatLimits in this process; None means no limit of that sort."""

    def __init__(
        self,
        *,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        now: Callable[[], float] = time.monotonic,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """
        Args:
            now: seconds of a clock that never jumps.
            draw: a number in 0..1 for what a pause is longer for one than for another.
        """
        self._now = now
        self._draw = draw
        self._pause = 0.0
        self._requests = _Bucket(requests_per_minute, now())
        self._tokens = _Bucket(tokens_per_minute, now())
        self._paused_until = now()

    async def reserve(self, tokens: int, *, patience_s: float) -> float:
        now = self._now()
        waits = (self._requests.wait(1, now), self._tokens.wait(tokens, now))
        paused = max(0.0, self._paused_until - now)
        wait = max(paused, *waits)
        if wait > patience_s:
            raise LimitError(
                f"the chat endpoint has room in {wait:.0f} s, waited are at most {patience_s:.0f}",
                retry_after_s=wait,
                field="chat",
            )
        self._requests.take(1)
        self._tokens.take(tokens)
        return max(wait, paused + self._spread_s()) if paused else wait

    async def settle(self, tokens: int) -> None:
        self._tokens.wait(0, self._now())
        self._tokens.take(tokens)

    async def pause(self, seconds: float) -> None:
        until = self._now() + seconds
        if until > self._paused_until:
            self._paused_until, self._pause = until, seconds

    def _spread_s(self) -> float:
        """By how much one caller's pause is longer than what was asked for."""
        return spread_s(self._pause, self._draw()) - self._pause


class _Bucket:
    """Filled steadily up to what ``BURST_S`` earns, at least one; bookings may take it below 0."""

    def __init__(self, per_minute: float | None, now: float) -> None:
        self._rate = None if per_minute is None else per_minute / _MINUTE_S
        self._most = 0.0 if self._rate is None else max(1.0, self._rate * BURST_S)
        self._level = self._most
        self._filled_at = now

    def wait(self, amount: float, now: float) -> float:
        """Seconds until the amount is there; one larger than the bucket waits for a full one."""
        if self._rate is None:
            return 0.0
        gained = max(0.0, now - self._filled_at) * self._rate
        self._level = min(self._most, self._level + gained)
        self._filled_at = now
        return max(0.0, (min(amount, self._most) - self._level) / self._rate)

    def take(self, amount: float) -> None:
        """Takes it out, or puts it back where it is below 0."""
        self._level = min(self._most, self._level - amount)
