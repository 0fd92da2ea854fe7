"""Models in this process, called in threads: for tests and single-process runs."""

import asyncio
from collections.abc import Sequence

from pipeline.awake.segment import TYPICAL_SHIFT, Rule
from pipeline.ports import AttentionModel, Compressor, Embedder, Purpose, Reranker, Vectors
from pipeline.state import Compressed
from serve.segmenting import Segmenting


class InlineReranker:
    """Implements serve.models.AsyncReranker."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker

    async def scores(self, query: str, texts: Sequence[str], *, owner: str) -> list[float]:
        pairs = [(query, text) for text in texts]
        return await asyncio.to_thread(self._reranker.scores, pairs)


class InlineModels:
    """Implements serve.models.AsyncModels."""

    def __init__(
        self,
        *,
        embedder: Embedder,
        compressor: Compressor,
        attention: AttentionModel | None = None,
        rule: Rule = Rule.SIMILARITY,
        min_shift: float = TYPICAL_SHIFT,
        max_similarity: float,
    ) -> None:
        self._embedder = embedder
        self._compressor = compressor
        self._segmenting = Segmenting(
            embed=self.embed,
            attention=attention,
            rule=rule,
            min_shift=min_shift,
            max_similarity=max_similarity,
        )

    async def embed(
        self, texts: Sequence[str], *, purpose: Purpose, owners: Sequence[str] = ()
    ) -> Vectors:
        return await asyncio.to_thread(self._embedder.embed, texts, purpose=purpose)

    async def compress(
        self, texts: Sequence[str], *, rate: float, owners: Sequence[str] = ()
    ) -> list[Compressed]:
        return await asyncio.to_thread(self._compressor.compress, texts, rate=rate)

    async def boundaries(
        self,
        windows: Sequence[Sequence[str]],
        *,
        owners: Sequence[str] = (),
        min_shift: float | None = None,
    ) -> list[list[int]]:
        return await self._segmenting.boundaries(windows, owners=owners, min_shift=min_shift)
