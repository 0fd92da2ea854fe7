"""Models behind Serve deployments."""

from collections.abc import Iterator, Sequence
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

    A query embedding waits at most for the slice in progress, never for a whole ingest batch. A
    slice holds texts of like length, so that a model pads little: twice as fast on chat messages.
    """

    def __init__(
        self,
        *,
        embedder: Handle,
        compressor: Handle | None = None,
        segmenter: Handle | None = None,
        slice_texts: int = 32,
        slice_chars: int = 8_192,
    ) -> None:
        self._embedder = embedder
        self._compressor = compressor
        self._segmenter = segmenter
        self._slice_texts = slice_texts
        self._slice_chars = slice_chars

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        vectors: NDArray[np.float32] | None = None
        for places in self._slices(texts):
            asked = [texts[i] for i in places]
            part = await self._embedder.embed.remote(asked, purpose=purpose)
            if vectors is None:
                vectors = np.empty((len(texts), part.shape[1]), np.float32)
            vectors[places] = part
        return vectors if vectors is not None else np.zeros((0, await self.dim()), np.float32)

    async def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        if self._compressor is None:
            return [Compressed(text=text) for text in texts]
        kept = [Compressed(text=text) for text in texts]
        for places in self._slices(texts):
            asked = [texts[i] for i in places]
            found = await self._compressor.compress.remote(asked, rate=rate)
            for i, result in zip(places, found, strict=True):
                kept[i] = result
        return kept

    async def boundaries(self, windows: Sequence[Sequence[str]]) -> list[list[int]]:
        if self._segmenter is None:
            raise ConfigError("expected a segmenter deployment, got none", field="Segmenter")
        found: list[list[int]] = await self._segmenter.boundaries.remote(
            [list(window) for window in windows]
        )
        return found

    def _slices(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Places of texts grouped by like length; a text over the bound goes alone."""
        places: list[int] = []
        chars = 0
        for i in sorted(range(len(texts)), key=lambda i: len(texts[i])):
            is_full = len(places) == self._slice_texts or chars + len(texts[i]) > self._slice_chars
            if places and is_full:
                yield places
                places, chars = [], 0
            places.append(i)
            chars += len(texts[i])
        if places:
            yield places

    async def dim(self) -> int:
        """The width of the embedder's vectors."""
        width: int = await self._embedder.width.remote()
        return width
