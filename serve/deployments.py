"""The model deployments: plain classes over the adapters, built inside their replica."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.ports import Vectors
from pipeline.state import Compressed
from serve.models import Purpose


class Embedder:
    """Texts to vectors. Loads its model once, in the replica."""

    def __init__(self, *, model: str, models_dir: Path, threads: int) -> None:
        from serve.loading import load_embedder

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
        from serve.loading import load_compressor

        self._compressor = load_compressor(model, models_dir=models_dir, threads=threads)

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """One compressed text per text."""
        return self._compressor.compress(texts, rate=rate)


class Segmenter:
    """Windows of turns to attention profiles."""

    def __init__(self, *, model: str, models_dir: Path, threads: int) -> None:
        from serve.loading import load_attention

        self._attention = load_attention(model, models_dir=models_dir, threads=threads)

    def profiles(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        """One profile per window, None where the model gives no attention."""
        return self._attention.profiles(windows)
