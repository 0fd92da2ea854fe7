"""The models as the service reaches them: asynchronous, wherever they run."""

import asyncio
from collections.abc import Sequence
from typing import Literal, Protocol

from pipeline.ports import AttentionModel, Compressor, Embedder, Vectors
from pipeline.state import Compressed

Purpose = Literal["query", "passage", "topic"]


class AsyncModels(Protocol):
    """What the ingest walk and the read side ask of models."""

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """``(len(texts), dim)``, L2-normalised."""
        ...

    async def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """One compressed text per text."""
        ...

    async def attention(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        """One attention profile per window, None where there is none."""
        ...


class InlineModels:
    """Models in this process, called in threads: for tests and single-process runs."""

    def __init__(
        self, *, embedder: Embedder, compressor: Compressor, attention: AttentionModel
    ) -> None:
        self._embedder = embedder
        self._compressor = compressor
        self._attention = attention

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        return await asyncio.to_thread(self._embedder.embed, texts, purpose=purpose)

    async def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        return await asyncio.to_thread(self._compressor.compress, texts, rate=rate)

    async def attention(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        return await asyncio.to_thread(self._attention.profiles, windows)
