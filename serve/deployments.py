"""The model deployments: plain classes over the adapters, built inside their replica.

Each asks its model through a fair batcher, so a replica must take more calls at once than all
ingest workers make: what waits in front of it in Serve's own queue has no priority.
"""

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pipeline.awake.segment import Rule
from pipeline.ports import Purpose, Vectors
from pipeline.state import Compressed
from serve.batching import MOST_TEXTS, Batcher
from serve.handles import Handle, ServeModels
from serve.loading import load_attention, load_compressor, load_embedder
from serve.segmenting import Segmenting

COMPRESSED_TEXTS = 2 * MOST_TEXTS
"""The compressor cuts its own batches by tokens; twice the texts fill them with short messages."""


class Embedder:
    """Texts to vectors. Loads its model once, in the replica."""

    def __init__(self, *, model: str, models_dir: Path, threads: int) -> None:
        self._embedder = load_embedder(model, models_dir=models_dir, threads=threads)
        self._batcher: Batcher[NDArray[np.float32]] = Batcher(self._run)

    def _run(self, purpose: Hashable, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        return list(self._embedder.embed(texts, purpose=cast(Purpose, purpose)))

    async def embed(
        self,
        texts: Sequence[str],
        *,
        purpose: Purpose,
        owners: Sequence[str] = (),
        is_urgent: bool = False,
    ) -> Vectors:
        """``(len(texts), dim)``, L2-normalised; questions go first. Raises LimitError."""
        is_first = is_urgent or purpose == "query"
        rows = await self._batcher.ask(texts, group=purpose, owners=owners, is_urgent=is_first)
        return np.stack(rows) if rows else np.zeros((0, self._embedder.dim), np.float32)

    async def width(self) -> int:
        """The width of its vectors."""
        return self._embedder.dim


class Compressor:
    """Texts to the words worth keeping."""

    def __init__(self, *, model: str, models_dir: Path, threads: int) -> None:
        self._compressor = load_compressor(model, models_dir=models_dir, threads=threads)
        self._batcher: Batcher[Compressed] = Batcher(self._run, max_texts=COMPRESSED_TEXTS)

    def _run(self, rate: Hashable, texts: Sequence[str]) -> Sequence[Compressed]:
        return self._compressor.compress(texts, rate=cast(float, rate))

    async def compress(
        self, texts: Sequence[str], *, rate: float, owners: Sequence[str] = ()
    ) -> list[tuple[str, str | None]]:
        """Per text the compressed one and its fallback; pairs travel cheaper than objects."""
        kept = await self._batcher.ask(texts, group=rate, owners=owners)
        return [(each.text, each.fallback) for each in kept]


class Segmenter:
    """Windows of turns to topic boundaries; hosts an attention model only for a rule that asks."""

    def __init__(
        self,
        *,
        embedder: Handle,
        attention: str | None,
        rule: Rule,
        max_similarity: float,
        models_dir: Path,
        threads: int,
    ) -> None:
        model = None
        if rule is not Rule.SIMILARITY and attention is not None:
            model = load_attention(attention, models_dir=models_dir, threads=threads)
        self._segmenting = Segmenting(
            embed=ServeModels(embedder=embedder).embed,
            attention=model,
            rule=rule,
            max_similarity=max_similarity,
        )

    async def boundaries(
        self, windows: Sequence[Sequence[str]], *, owners: Sequence[str] = ()
    ) -> list[list[int]]:
        """Per window of turns those before which a new topic starts."""
        return await self._segmenting.boundaries(windows, owners=owners)
