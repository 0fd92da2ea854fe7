"""Models behind Serve deployments."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ray.serve.handle import DeploymentHandle

from pipeline.errors import ConfigError
from pipeline.ports import Vectors
from pipeline.state import Compressed
from serve.models import Purpose

Handle = DeploymentHandle[Any]
"""A deployment as another one reaches it; what it answers is typed where it is called."""


class ServeModels:
    """Models behind Serve deployments; long inputs travel in slices so that readers get through.

    A query embedding waits at most for the slice in progress, never for a whole ingest batch.
    """

    def __init__(
        self,
        *,
        embedder: Handle,
        compressor: Handle | None = None,
        segmenter: Handle | None = None,
        slice_texts: int = 32,
    ) -> None:
        self._embedder = embedder
        self._compressor = compressor
        self._segmenter = segmenter
        self._slice = slice_texts

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        if not texts:
            return np.zeros((0, await self.dim()), np.float32)
        parts: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), self._slice):
            part = list(texts[start : start + self._slice])
            parts.append(await self._embedder.embed.remote(part, purpose=purpose))
        return np.concatenate(parts)

    async def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        if self._compressor is None:
            return [Compressed(text=text) for text in texts]
        kept: list[Compressed] = []
        for start in range(0, len(texts), self._slice):
            part = list(texts[start : start + self._slice])
            kept += await self._compressor.compress.remote(part, rate=rate)
        return kept

    async def boundaries(self, windows: Sequence[Sequence[str]]) -> list[list[int]]:
        if self._segmenter is None:
            raise ConfigError("expected a segmenter deployment, got none", field="Segmenter")
        found: list[list[int]] = await self._segmenter.boundaries.remote(
            [list(window) for window in windows]
        )
        return found

    async def dim(self) -> int:
        """The width of the embedder's vectors."""
        width: int = await self._embedder.width.remote()
        return width
