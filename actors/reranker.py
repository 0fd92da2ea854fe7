"""Judgements of (question, text) pairs by any cross-encoder that has one output.

Knows nothing of entries. What is longer than the model reads is cut by its tokenizer.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder

from actors.quiet import quiet_loading
from pipeline.errors import ConfigError, ModelError


class CrossEncoderReranker:
    """Pairs to judgements in 0..1; implements ``ports.Reranker``."""

    def __init__(
        self,
        path: str,
        *,
        threads: int | None = None,
        batch_size: int = 32,
        device: str | None = None,
    ) -> None:
        """Loads the model; a local folder is read without asking any hub.

        Args:
            threads: torch threads of this process; None leaves them as they are.

        Raises:
            ConfigError: there is no such model, or it gives more than one number for a pair.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        self._path = path
        self._model = _load(path, device)
        self._batch_size = batch_size
        if self._model.num_labels != 1:
            raise ConfigError(
                f"expected a cross-encoder with one output at {path}, got one with "
                f"{self._model.num_labels}",
                field="models.reranker",
            )

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One judgement in 0..1 per (question, text): the logistic of the model's output."""
        if not pairs:
            return []
        try:
            found = self._model.predict(
                list(pairs),
                batch_size=self._batch_size,
                activation_fn=torch.nn.Sigmoid(),
                show_progress_bar=False,
            )
        except RuntimeError as error:
            raise ModelError(f"{self._path} failed on {len(pairs)} pairs: {error}") from error
        return [float(value) for value in found]


def _load(path: str, device: str | None) -> CrossEncoder:
    is_local = Path(path).is_dir()
    try:
        with quiet_loading():
            found: CrossEncoder = CrossEncoder(path, device=device, local_files_only=is_local)
    except (OSError, ValueError) as error:
        told = f"no cross-encoder at {path}: {error}"
        raise ConfigError(told, field="models.reranker") from error
    return found
