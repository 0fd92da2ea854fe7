"""Windows of turns to topic boundaries: turn vectors, attention where the rule asks for it."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Protocol

from pipeline.awake.segment import Rule, boundaries
from pipeline.errors import ConfigError
from pipeline.ports import AttentionModel, Purpose, Vectors


class Embed(Protocol):
    """Texts to vectors, wherever the embedder runs."""

    def __call__(
        self, texts: Sequence[str], *, purpose: Purpose, owners: Sequence[str] = ()
    ) -> Awaitable[Vectors]:
        """``(len(texts), dim)``, L2-normalised."""
        ...


class Segmenting:
    """One rule with one threshold over the vectors of one embedder."""

    def __init__(
        self,
        *,
        embed: Embed,
        attention: AttentionModel | None,
        rule: Rule,
        max_similarity: float,
    ) -> None:
        """Raises ConfigError where the rule needs attention and there is none."""
        if rule is not Rule.SIMILARITY and attention is None:
            raise ConfigError(
                f"the rule {rule} needs models.attention, got none", field="segmentation.rule"
            )
        self._embed = embed
        self._attention = None if rule is Rule.SIMILARITY else attention
        self._rule = rule
        self._max_similarity = max_similarity

    async def boundaries(
        self, windows: Sequence[Sequence[str]], *, owners: Sequence[str] = ()
    ) -> list[list[int]]:
        """Per window the turns before which a new topic starts; all windows in one batch."""
        profiles = await self._profiles(windows)
        vectors = await self._embed(
            [turn for window in windows for turn in window],
            purpose="topic",
            owners=_per_turn(windows, owners),
        )
        found: list[list[int]] = []
        start = 0
        for window, profile in zip(windows, profiles, strict=True):
            found.append(self._cuts(profile, vectors[start : start + len(window)]))
            start += len(window)
        return found

    def _cuts(self, profile: Vectors | None, vectors: Vectors) -> list[int]:
        return boundaries(profile, vectors, max_similarity=self._max_similarity, rule=self._rule)

    async def _profiles(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        if self._attention is None:
            return [None] * len(windows)
        return await asyncio.to_thread(self._attention.profiles, windows)


def _per_turn(windows: Sequence[Sequence[str]], owners: Sequence[str]) -> list[str]:
    """The owner of every turn; empty where none is named."""
    pairs = zip(windows, owners, strict=True) if owners else ()
    return [owner for window, owner in pairs for _ in window]
