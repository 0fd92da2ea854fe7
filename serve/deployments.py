"""The model deployments: plain classes over the adapters, built inside their replica."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.awake.segment import Rule
from pipeline.ports import Vectors
from pipeline.state import Compressed
from serve.handles import Handle, ServeModels
from serve.loading import load_attention, load_compressor, load_embedder
from serve.models import Purpose
from serve.segmenting import Segmenting


class Embedder:
    """Texts to vectors. Loads its model once, in the replica."""

    def __init__(self, *, model: str, models_dir: Path, threads: int) -> None:
        self._embedder = load_embedder(model, models_dir=models_dir, threads=threads)

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """``(len(texts), dim)``, L2-normalised."""
        return self._embedder.embed(texts, purpose=purpose)

    def width(self) -> int:
        """The width of its vectors."""
        return self._embedder.dim


class Compressor:
    """Texts to the words worth keeping."""

    def __init__(self, *, model: str, models_dir: Path, threads: int) -> None:
        self._compressor = load_compressor(model, models_dir=models_dir, threads=threads)

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """One compressed text per text."""
        return self._compressor.compress(texts, rate=rate)


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

    async def boundaries(self, windows: Sequence[Sequence[str]]) -> list[list[int]]:
        """Per window of turns those before which a new topic starts."""
        return await self._segmenting.boundaries(windows)
