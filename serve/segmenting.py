"""Windows of turns to topic boundaries: turn vectors, attention where the rule asks for it."""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Sequence
from typing import Protocol

from pipeline.awake.cues import leanings
from pipeline.awake.segment import Rule, Signals, boundaries
from pipeline.ports import AttentionModel, Purpose, Vectors

log = logging.getLogger("slowwave")


class Embed(Protocol):
    """Texts to vectors, wherever the embedder runs."""

    def __call__(
        self, texts: Sequence[str], *, purpose: Purpose, owners: Sequence[str] = ()
    ) -> Awaitable[Vectors]:
        """``(len(texts), dim)``, L2-normalised."""
        ...


class Segmenting:
    """One rule with its thresholds over the vectors of one embedder."""

    def __init__(
        self,
        *,
        embed: Embed,
        attention: AttentionModel | None,
        rule: Rule,
        min_shift: float,
        max_similarity: float,
    ) -> None:
        """Without an attention model every rule is that of similarity."""
        self._embed = embed
        self._attention = attention if needs_attention(rule) else None
        self._rule = rule
        self._min_shift = min_shift
        self._max_similarity = max_similarity

    async def boundaries(
        self,
        windows: Sequence[Sequence[str]],
        *,
        owners: Sequence[str] = (),
        min_shift: float | None = None,
    ) -> list[list[int]]:
        """Per window the turns before which a new topic starts; all windows in one batch.

        ``min_shift`` takes the place of the threshold that this was made with.
        """
        signals = await self.signals(windows, owners=owners)
        return [self.cuts(each, min_shift=min_shift) for each in signals]

    async def signals(
        self, windows: Sequence[Sequence[str]], *, owners: Sequence[str] = ()
    ) -> list[Signals]:
        """What is known of each window."""
        profiles = await self._profiles(windows)
        vectors = await self._embed(
            [turn for window in windows for turn in window],
            purpose="topic",
            owners=_per_turn(windows, owners),
        )
        ends = list(itertools.accumulate(map(len, windows), initial=0))
        return [
            Signals(vectors=vectors[start:end], attention=profile, leanings=leanings(window))
            for window, profile, (start, end) in zip(
                windows, profiles, itertools.pairwise(ends), strict=True
            )
        ]

    def cuts(self, signals: Signals, *, min_shift: float | None = None) -> list[int]:
        """The boundaries of one window by its signals."""
        return boundaries(
            signals,
            rule=self._rule,
            min_shift=self._min_shift if min_shift is None else min_shift,
            max_similarity=self._max_similarity,
        )

    async def _profiles(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        if self._attention is None:
            return [None] * len(windows)
        found = await asyncio.to_thread(self._attention.profiles, windows)
        if lacking := sum(each is None for each in found):
            log.warning("no attention for %d of %d windows: similarity alone", lacking, len(found))
        return found


def needs_attention(rule: Rule) -> bool:
    """Whether the rule looks at attention."""
    return rule is not Rule.SIMILARITY


def _per_turn(windows: Sequence[Sequence[str]], owners: Sequence[str]) -> list[str]:
    """The owner of every turn; empty where none is named."""
    pairs = zip(windows, owners, strict=True) if owners else ()
    return [owner for window, owner in pairs for _ in window]
