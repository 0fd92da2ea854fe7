"""Reading texts with the tokenizer of a model, and loading models for it."""

import itertools
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import nn
from transformers import AutoTokenizer

from actors.quiet import quiet_loading
from pipeline.awake.readings import Reading
from pipeline.errors import ConfigError, ModelError

Precision = Literal["int8", "float32", "bfloat16"]


class ModelTokenizer:
    """Counts with a loaded tokenizer; implements ``ports.Tokenizer``."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens; 0 for an empty text."""
        encoded = self._reader(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        return [len(ids) for ids in encoded]


def read(
    reader: Any, text: str, *, max_tokens: int, ends_chunk: Callable[[str], bool] = lambda _: False
) -> Reading:
    """The tokens of a text in chunks of at most ``max_tokens``.

    Args:
        ends_chunk: whether a chunk may rather end with the token of this text; the last such
            token of a chunk ends it where the text does not fit one chunk.

    Raises:
        ModelError: the tokenizer cannot read it.
    """
    try:
        encoded = reader(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    except (TypeError, UnicodeError) as error:
        raise ModelError(f"the tokenizer failed: {error}") from error
    ids: list[int] = encoded["input_ids"]
    spans = np.array(encoded["offset_mapping"], dtype=np.int64).reshape(-1, 2)
    is_end = [ends_chunk(text[start:end]) for start, end in spans] if len(ids) > max_tokens else []
    cuts = _cuts(is_end, len(ids), max_tokens)
    return Reading(
        text=text,
        starts=spans[:, 0],
        ends=spans[:, 1],
        chunks=tuple(ids[a:b] for a, b in itertools.pairwise(cuts)),
    )


def _cuts(is_end: Sequence[bool], size: int, most: int) -> list[int]:
    cuts = [0] if size else []
    while cuts and cuts[-1] < size:
        last = min(cuts[-1] + most, size)
        if last < size:
            ends = (i + 1 for i in range(last - 1, cuts[-1], -1) if is_end[i])
            last = next(ends, last)
        cuts.append(last)
    return cuts or [0]


def load_reader(path: str) -> Any:
    """The fast tokenizer of a folder or hub name. Raises ConfigError."""
    try:
        with quiet_loading():
            reader: Any = AutoTokenizer.from_pretrained(path, local_files_only=Path(path).is_dir())
    except (OSError, ValueError) as error:
        raise ConfigError(f"no tokenizer at {path}: {error}", field="compressor") from error
    if not reader.is_fast:
        raise ConfigError(f"{path} has no fast tokenizer, which tells places", field="compressor")
    return reader


def device_of(asked: str | None) -> str:
    """The device asked for, else a GPU where there is one."""
    return asked or ("cuda" if torch.cuda.is_available() else "cpu")


def precision_of(asked: Precision | None, device: str) -> Precision:
    """The precision asked for, else int8 on a CPU (about twice as fast) and bfloat16 elsewhere."""
    return asked or ("int8" if device == "cpu" else "bfloat16")


def dtype_of(precision: Precision) -> torch.dtype:
    """The type of the weights as they are loaded."""
    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def quantised(model: Any) -> Any:
    """Linear layers with 8-bit weights; activations are quantised as they come."""
    with warnings.catch_warnings():
        # The eager quantiser is marked for a package of its own; it is part of the pinned torch.
        warnings.filterwarnings("ignore", message=".*torch.ao.quantization is deprecated.*")
        warnings.filterwarnings("ignore", message=".*quantized tensor creation functions.*")
        quantise: Any = torch.ao.quantization.quantize_dynamic
        return quantise(model, {nn.Linear}, dtype=torch.qint8)
