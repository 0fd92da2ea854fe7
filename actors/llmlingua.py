"""What each token tells: the probability that LLMLingua-2 keeps it.

Source: LLMLingua-2 (arXiv 2403.12968), a token classifier over an encoder; package llmlingua
0.2.2, which reads one text at a time in chunks padded to 512. Here chunks of many texts share
batches, padded to the longest of them. ``actors.llmlingua_published`` keeps the package's words.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForTokenClassification

from actors.quiet import quiet_loading
from actors.reading import (
    ModelTokenizer,
    Precision,
    device_of,
    dtype_of,
    load_reader,
    precision_of,
    quantised,
    read,
)
from pipeline.awake.readings import Chunk, Reading, Values
from pipeline.errors import ConfigError

_MAX_TOKENS = 512
_SENTENCE_ENDS = frozenset(".!?。！？\n")


class TokenClassifier:
    """Keep-probabilities in 0..1; an ``actors.compressor.TokenModel``."""

    small_word_weight = 1.0

    def __init__(
        self,
        path: str,
        *,
        precision: Precision | None = None,
        device: str | None = None,
        threads: int | None = None,
    ) -> None:
        """Loads the model of a local folder or a hub name; class 1 means that a token stays.

        Args:
            precision: None takes int8 on a CPU, else bfloat16.
            threads: torch threads of this process; None leaves them as they are.

        Raises:
            ConfigError: there is no such model, or its tokenizer tells no places.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        self._device = device_of(device)
        self.reader = load_reader(path)
        self.model = _load(path, precision_of(precision, self._device), self._device)
        self.tokenizer = ModelTokenizer(self.reader)
        self.max_tokens = _positions(self.model.config)

    def read(self, text: str) -> Reading:
        """The text as tokens in chunks that end with sentences. Raises ModelError."""
        return read(
            self.reader,
            text,
            max_tokens=self.max_tokens - 2,
            ends_chunk=_SENTENCE_ENDS.__contains__,
        )

    def values(self, batch: Sequence[Chunk]) -> list[Values]:
        """Keep-probabilities of each chunk, from one forward pass. Raises RuntimeError."""
        begin, end = self.reader.cls_token_id, self.reader.sep_token_id
        kept = self.probabilities([[begin, *ids, end] for ids in batch])
        return [row[1 : len(ids) + 1] for row, ids in zip(kept, batch, strict=True)]

    @torch.inference_mode()
    def forward(self, batch: Sequence[Chunk]) -> None:
        """The logits of every token, made and left."""
        begin, end = self.reader.cls_token_id, self.reader.sep_token_id
        self._logits([[begin, *ids, end] for ids in batch])

    @torch.inference_mode()
    def probabilities(self, batch: Sequence[Chunk]) -> list[Values]:
        """Per row of token ids, special ones included, the probability that each stays."""
        kept = self._logits(batch).softmax(dim=-1)[:, :, 1].float().cpu().numpy()
        return [kept[row, : len(ids)].astype(np.float32) for row, ids in enumerate(batch)]

    def _logits(self, batch: Sequence[Chunk]) -> torch.Tensor:
        width = max(len(ids) for ids in batch)
        inputs = torch.full((len(batch), width), self.reader.pad_token_id or 0, dtype=torch.long)
        mask = torch.zeros((len(batch), width), dtype=torch.long)
        for row, ids in enumerate(batch):
            inputs[row, : len(ids)] = torch.tensor(ids)
            mask[row, : len(ids)] = 1
        found: torch.Tensor = self.model(
            input_ids=inputs.to(self._device), attention_mask=mask.to(self._device)
        ).logits
        return found


def is_classifier(path: str) -> bool:
    """Whether the model of a folder or hub name classifies tokens. Raises ConfigError."""
    try:
        with quiet_loading():
            return _classifies(AutoConfig.from_pretrained(path))
    except (OSError, ValueError) as error:
        raise ConfigError(f"no model at {path}: {error}", field="compressor") from error


def _classifies(config: Any) -> bool:
    return any("ForTokenClassification" in kind for kind in config.architectures or ())


def _positions(config: Any) -> int:
    """Tokens that the encoder reads; the RoBERTa family counts places behind the padding token."""
    positions = int(getattr(config, "max_position_embeddings", _MAX_TOKENS))
    if "roberta" in str(config.model_type):
        positions -= int(config.pad_token_id or 0) + 1
    return min(_MAX_TOKENS, positions)


def _load(path: str, precision: Precision, device: str) -> Any:
    try:
        with quiet_loading():
            model: Any = AutoModelForTokenClassification.from_pretrained(
                path, dtype=dtype_of(precision), local_files_only=Path(path).is_dir()
            )
    except (OSError, ValueError) as error:
        raise ConfigError(f"no token classifier at {path}: {error}", field="compressor") from error
    # Another encoder would load as well, with a head that knows nothing.
    if not _classifies(model.config) or model.config.num_labels < 2:
        raise ConfigError(f"the model at {path} classifies no tokens", field="compressor")
    model = model.eval().to(device)
    return quantised(model) if precision == "int8" else model
