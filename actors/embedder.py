"""Sentence embeddings by any SentenceTransformer: a packaged model, a local folder or a hub name.

Knows nothing of entries and messages. Texts longer than the model reads are cut into pieces at
token boundaries and their vectors averaged by length, so that no text is silently cut short.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from actors.models import packaged
from actors.quiet import quiet_loading
from actors.samples import CHINESE, ENGLISH
from pipeline.errors import ConfigError, ModelError
from pipeline.ports import Purpose, Vectors
from pipeline.vectors import common_directions, distinct

_SPARE_TOKENS = 8
"""A piece read on its own can take a few tokens more than it took inside the text."""


class SentenceEmbedder:
    """Texts to unit vectors; implements ``ports.Embedder``."""

    def __init__(
        self,
        path: str,
        *,
        name: str | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        threads: int | None = None,
        batch_size: int = 32,
        device: str | None = None,
    ) -> None:
        """Loads the model; a local folder is read without asking any hub.

        Args:
            path: a prepared or other local folder, or a hub name.
            name: what is stored beside every vector; a packaged model's own name or ``path``.
            query_prefix: put before queries; None takes the packaged model's or the folder's.
            passage_prefix: the same for passages.
            threads: torch threads of this process; None leaves them as they are.

        Raises:
            ConfigError: there is no such model.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        self._encoder = _load(path, device)
        known = packaged(path)
        self._name = name or (known.name if known else path)
        prompts = self._encoder.prompts
        default_query = known.query_prefix if known else prompts.get("query") or ""
        default_passage = known.passage_prefix if known else prompts.get("document") or ""
        self._query = default_query if query_prefix is None else query_prefix
        self._passage = default_passage if passage_prefix is None else passage_prefix
        self._batch_size = batch_size
        self._common: Vectors | None = None
        self._dim = int(self.embed(["width"], purpose="passage").shape[1])

    @property
    def model(self) -> str:
        """Its name, stored beside every vector."""
        return self._name

    @property
    def dim(self) -> int:
        """The width of its vectors."""
        return self._dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """``(len(texts), dim)``, L2-normalised. Raises ModelError when the model fails."""
        if not texts:
            return np.zeros((0, self._dim), dtype=np.float32)
        prefix = self._query if purpose == "query" else self._passage
        vectors = self._whole(texts, prefix)
        return distinct(vectors, self.common()) if purpose == "topic" else vectors

    def common(self) -> Vectors:
        """``(2, dim)``: what all English and all Chinese passages share in this model."""
        if self._common is None:
            samples = (ENGLISH, CHINESE)
            means = [self.embed(texts, purpose="passage").mean(axis=0) for texts in samples]
            self._common = common_directions(np.stack(means))
        return self._common

    def _whole(self, texts: Sequence[str], prefix: str) -> Vectors:
        pieces, owners, lengths = self._pieces(texts, prefix)
        vectors = self._encode(pieces, prefix)
        if len(pieces) == len(texts):
            return vectors
        return _averaged(vectors, np.array(owners), np.array(lengths), len(texts))

    def _encode(self, pieces: list[str], prefix: str) -> Vectors:
        try:
            vectors = self._encoder.encode(
                pieces,
                prompt=prefix or None,
                batch_size=self._batch_size,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        except RuntimeError as error:
            raise ModelError(f"{self._name} failed on {len(pieces)} texts: {error}") from error
        return np.asarray(vectors, dtype=np.float32)

    def _pieces(self, texts: Sequence[str], prefix: str) -> tuple[list[str], list[int], list[int]]:
        pieces, owners, lengths = [], [], []
        for owner, text in enumerate(texts):
            for piece in self._split(text, prefix):
                pieces.append(piece)
                owners.append(owner)
                lengths.append(max(1, len(piece)))
        return pieces, owners, lengths

    def _split(self, text: str, prefix: str) -> list[str]:
        limit = (self._encoder.max_seq_length or 512) - _SPARE_TOKENS - len(prefix)
        # No tokenizer makes more tokens than there are bytes: short texts need no counting.
        if len(text.encode()) <= limit:
            return [text]
        encoded = self._encoder.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        spans = encoded["offset_mapping"]
        starts = [spans[i][0] for i in range(0, len(spans), limit)]
        return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)] or [text]


def _load(path: str, device: str | None) -> SentenceTransformer:
    is_local = Path(path).is_dir()
    try:
        with quiet_loading():
            return SentenceTransformer(path, device=device, local_files_only=is_local)
    except (OSError, ValueError) as error:
        raise ConfigError(f"no embedding model at {path}: {error}", field="embedder") from error


def _averaged(
    vectors: Vectors, owners: NDArray[np.int_], lengths: NDArray[np.int_], count: int
) -> Vectors:
    """Per text the length-weighted mean of its pieces' vectors, normalised again."""
    totals = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    np.add.at(totals, owners, vectors * lengths[:, None].astype(np.float32))
    norms = np.linalg.norm(totals, axis=1, keepdims=True)
    unit: Vectors = totals / np.maximum(norms, np.float32(1e-12))
    return unit
