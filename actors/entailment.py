"""Natural language inference by a cross-encoder: a local folder or a hub name.

Which output is which label stands in the model's configuration; models order them differently.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import CrossEncoder

from actors.quiet import quiet_loading
from pipeline.entailment import Entailment
from pipeline.errors import ConfigError, ModelError

LABELS = ("entailment", "neutral", "contradiction")


class CrossEncoderEntailment:
    """Pairs of texts to probabilities; implements ``ports.EntailmentModel``."""

    def __init__(
        self,
        path: str,
        *,
        name: str | None = None,
        threads: int | None = None,
        batch_size: int = 16,
    ) -> None:
        """Loads the model; a local folder is read without asking any hub.

        Args:
            path: a local folder or a hub name.
            name: what it is called; None is ``path``.
            threads: torch threads of this process; None leaves them as they are.

        Raises:
            ConfigError: there is no such model, or it has other labels.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        self._name = name or path
        self._batch_size = batch_size
        self._model = _load(path)
        self._columns = _columns(_labels(self._model), path)

    @property
    def name(self) -> str:
        """Which model."""
        return self._name

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """One judgement per pair of a premise and a hypothesis. Raises ModelError."""
        if not pairs:
            return []
        try:
            scores = self._model.predict(
                list(pairs),
                batch_size=self._batch_size,
                apply_softmax=True,
                show_progress_bar=False,
            )
        except RuntimeError as error:
            raise ModelError(f"{self._name} failed on {len(pairs)} pairs: {error}") from error
        rows = np.asarray(scores, dtype=np.float64)  # (n, 3)
        return [
            Entailment(**{label: float(row[self._columns[label]]) for label in LABELS})
            for row in rows
        ]


def _load(path: str) -> CrossEncoder:
    is_local = Path(path).is_dir()
    try:
        with quiet_loading():
            model: CrossEncoder = CrossEncoder(path, local_files_only=is_local)
            return model
    except (OSError, ValueError) as error:
        raise ConfigError(f"no model of inference at {path}: {error}", field="nli") from error


def _labels(model: CrossEncoder) -> Mapping[int, str]:
    """The label of each output, as the configuration names them; empty where it names none."""
    named = model.config.id2label if model.config is not None else None
    return {int(column): str(label) for column, label in (named or {}).items()}


def _columns(labels: Mapping[int, str], path: str) -> dict[str, int]:
    """The output of each label, whatever the order."""
    found = {label.lower(): column for column, label in labels.items()}
    if set(found) != set(LABELS):
        raise ConfigError(
            f"expected the labels {', '.join(LABELS)} of {path}, got {', '.join(found)}",
            field="nli",
        )
    return found
