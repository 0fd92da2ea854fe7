"""Compression by surprisal under a causal language model, and the compressor that keeps all.

Knows nothing of messages; which words stay is decided in ``pipeline.awake.compress``.

Source: arXiv 2510.18866, section 3.1 (the entropy variant); upstream entropy_compress.py@8fc9a91.
There one text goes through the model at a time, its first token is lost and the rate counts words;
here texts share batches, the first token is judged after the begin-of-text token, and the rate
counts tokens.
"""

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from actors.models import SMOLLM2, packaged
from actors.quiet import quiet_loading
from pipeline.awake.compress import WHOLE_BELOW_WORDS, choose, join
from pipeline.awake.words import Word, words
from pipeline.errors import ConfigError
from pipeline.ports import Tokenizer
from pipeline.state import Compressed

Precision = Literal["int8", "float32", "bfloat16"]

_MEASURED_LAYERS = {SMOLLM2.name: 12}
"""Of 30. What the lower layers do not foresee is what is rare, what the upper ones do not foresee
is also what is worded oddly: answers keep more of their words, at half the time."""

_AGAIN_RATE = 0.5
_AGAIN_PASSES = 2
_LOGIT_ROWS = 256
"""Rows of logits held at once: vocabulary times rows times 4 bytes, 50 MB for 49,152 tokens."""


class NoCompressor:
    """Keeps every text as it is."""

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """The texts themselves, whatever the rate."""
        return [Compressed(text=text) for text in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A text as the model reads it: token ids ``(n,)`` with ``(n,)`` starts and ends."""

    ids: list[int]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class SurprisalCompressor:
    """Keeps the words that the model could not foresee; implements ``ports.Compressor``.

    Texts are read in chunks of at most ``max_tokens``. A result still longer than that is chosen
    again at half the rate, at most twice; the surprisals are those of the first reading.
    """

    def __init__(
        self,
        path: str,
        *,
        tokenizer: Tokenizer | None = None,
        precision: Precision | None = None,
        layers: int | None = None,
        device: str | None = None,
        threads: int | None = None,
        max_tokens: int = 512,
        batch_tokens: int = 2048,
    ) -> None:
        """Loads the model.

        Args:
            path: a prepared or other local folder, or a hub name.
            tokenizer: counts the tokens of the rate; None counts those of the model.
            precision: None takes int8 on a CPU (about twice as fast), else bfloat16.
            layers: how many to compute before predicting; None takes what was measured for a
                packaged model, else all.
            threads: torch threads of this process; None leaves them as they are.
            batch_tokens: tokens, padding included, that go through the model together.

        Raises:
            ConfigError: there is no such model, or its tokenizer tells no places.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        kind = precision or ("int8" if self._device == "cpu" else "bfloat16")
        known = packaged(path)
        depth = layers or (_MEASURED_LAYERS.get(known.name) if known else None)
        self._model, self._reader = _load(path, kind, depth, self._device)
        self._tokenizer = tokenizer
        positions = getattr(self._model.config, "max_position_embeddings", max_tokens)
        self._max_tokens = min(max_tokens, int(positions))
        self._batch_tokens = batch_tokens
        begin = self._reader.bos_token_id
        self._begin = int(self._reader.eos_token_id or 0) if begin is None else int(begin)

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """About ``rate`` (0..1] of each text's tokens; a text that fails keeps its original."""
        if rate >= 1.0:
            return [Compressed(text=text) for text in texts]
        found = [words(text) for text in texts]
        judged = self.surprisals(
            [
                text if len(w) >= WHOLE_BELOW_WORDS else ""
                for text, w in zip(texts, found, strict=True)
            ]
        )
        triples = zip(texts, found, judged, strict=True)
        return [self._compressed(text, of, reading, rate) for text, of, reading in triples]

    def surprisals(self, texts: Sequence[str]) -> list[tuple[_Reading, NDArray[np.float32]] | str]:
        """Per text its reading with ``(n,)`` bits per token, or why there is none."""
        readings = [self._read(text) for text in texts]
        chunks = [
            (owner, at, reading.ids[at : at + self._max_tokens])
            for owner, reading in enumerate(readings)
            if not isinstance(reading, str)
            for at in range(0, len(reading.ids), self._max_tokens)
        ]
        bits = self._chunk_bits([ids for _, _, ids in chunks])
        parts: dict[int, list[NDArray[np.float32] | str]] = {}
        for (owner, _, _), values in zip(chunks, bits, strict=True):
            parts.setdefault(owner, []).append(values)
        return [_joined(reading, parts.get(i, [])) for i, reading in enumerate(readings)]

    def _read(self, text: str) -> _Reading | str:
        try:
            encoded = self._reader(
                text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
            )
        except (TypeError, UnicodeError) as error:
            return f"the tokenizer failed: {error}"
        spans = np.array(encoded["offset_mapping"], dtype=np.int64).reshape(-1, 2)
        return _Reading(ids=encoded["input_ids"], starts=spans[:, 0], ends=spans[:, 1])

    def _chunk_bits(self, chunks: Sequence[list[int]]) -> list[NDArray[np.float32] | str]:
        found: list[NDArray[np.float32] | str] = [""] * len(chunks)
        for batch in _batches([len(ids) for ids in chunks], self._batch_tokens):
            for i, values in zip(batch, self._safe_bits([chunks[i] for i in batch]), strict=True):
                found[i] = values
        return found

    def _safe_bits(self, batch: list[list[int]]) -> list[NDArray[np.float32] | str]:
        """A batch that fails is tried one by one, so that one text never takes others along."""
        try:
            return list(self._bits(batch))
        except RuntimeError as error:
            if len(batch) == 1:
                return [f"the model failed: {error}"]
            return list(itertools.chain.from_iterable(self._safe_bits([ids]) for ids in batch))

    @torch.inference_mode()
    def _bits(self, batch: list[list[int]]) -> list[NDArray[np.float32]]:
        width = max(len(ids) for ids in batch)
        inputs = torch.zeros((len(batch), width), dtype=torch.long)
        for row, ids in enumerate(batch):
            inputs[row, : len(ids)] = torch.tensor([self._begin, *ids[:-1]])
        # Padding is on the right and the model looks left only: it needs no mask.
        hidden = self._model.base_model(inputs.to(self._device), use_cache=False)[0]
        rows = torch.cat([hidden[row, : len(ids)] for row, ids in enumerate(batch)])
        targets = torch.tensor(list(itertools.chain.from_iterable(batch)), device=self._device)
        bits = self._surprisal(rows, targets)
        return list(np.split(bits, np.cumsum([len(ids) for ids in batch])[:-1]))

    def _surprisal(self, rows: torch.Tensor, targets: torch.Tensor) -> NDArray[np.float32]:
        head = self._model.get_output_embeddings()
        parts = []
        for at in range(0, len(rows), _LOGIT_ROWS):
            logits = head(rows[at : at + _LOGIT_ROWS]).float()  # (rows, vocabulary)
            wanted = logits.gather(1, targets[at : at + _LOGIT_ROWS, None])[:, 0]
            parts.append(torch.logsumexp(logits, dim=1) - wanted)
        return (torch.cat(parts) / math.log(2)).cpu().numpy().astype(np.float32)

    def _compressed(
        self,
        text: str,
        found: list[Word],
        judged: tuple[_Reading, NDArray[np.float32]] | str,
        rate: float,
    ) -> Compressed:
        if len(found) < WHOLE_BELOW_WORDS:
            return Compressed(text=text)
        if isinstance(judged, str):
            return Compressed(text=text, fallback=judged)
        bits, counts = _per_word(found, *judged)
        tokens = self._counted(text, found, counts)
        kept = choose(found, bits, tokens, rate=rate)
        for _ in range(_AGAIN_PASSES):
            if sum(tokens[i] for i in kept) <= self._max_tokens:
                break
            rate *= _AGAIN_RATE
            kept = choose(found, bits, tokens, rate=rate)
        if not kept:
            return Compressed(text=text, fallback="no word would be left")
        return Compressed(text=join(text, found, kept))

    def _counted(self, text: str, found: list[Word], counts: list[int]) -> list[int]:
        """Tokens of each word in the tokenizer of the rate, at least one."""
        if self._tokenizer is None:
            return counts
        return [max(1, n) for n in self._tokenizer.count([word.text for word in found])]


def _joined(
    reading: _Reading | str, parts: Sequence[NDArray[np.float32] | str]
) -> tuple[_Reading, NDArray[np.float32]] | str:
    if isinstance(reading, str):
        return reading
    values: list[NDArray[np.float32]] = []
    for part in parts:
        if isinstance(part, str):
            return part
        values.append(part)
    return reading, np.concatenate([np.zeros(0, dtype=np.float32), *values])


def _per_word(
    found: Sequence[Word], reading: _Reading, bits: NDArray[np.float32]
) -> tuple[list[float], list[int]]:
    """Mean bits per token of each word, and its tokens; a token across two words is in both."""
    sums = np.concatenate([[0.0], np.cumsum(bits, dtype=np.float64)])
    first = np.searchsorted(reading.ends, [word.start for word in found], side="right")
    last = np.searchsorted(reading.starts, [word.end for word in found], side="left")
    counts = np.maximum(last - first, 1)
    means = (sums[np.maximum(last, first)] - sums[first]) / counts
    return means.tolist(), counts.tolist()


def _batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Indices grouped by like length, each group within the budget once padded."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and lengths[i] * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _load(path: str, precision: Precision, layers: int | None, device: str) -> tuple[Any, Any]:
    is_local = Path(path).is_dir()
    dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
    try:
        with quiet_loading():
            reader: Any = AutoTokenizer.from_pretrained(path, local_files_only=is_local)
            model: Any = AutoModelForCausalLM.from_pretrained(
                path, dtype=dtype, local_files_only=is_local
            )
    except (OSError, ValueError) as error:
        raise ConfigError(f"no causal model at {path}: {error}", field="compressor") from error
    if not reader.is_fast:
        raise ConfigError(f"{path} has no fast tokenizer, which tells places", field="compressor")
    if layers is not None:
        _shorten(model, layers)
    model = model.eval().to(device)
    return (_quantised(model) if precision == "int8" else model), reader


def _shorten(model: Any, layers: int) -> None:
    """Leaves the first layers; their output goes through the last norm as if they were all."""
    stack = getattr(model.base_model, "layers", None)
    if stack is None or not 0 < layers <= len(stack):
        raise ConfigError(f"the model has no first {layers} layers to predict from", field="layers")
    model.base_model.layers = stack[:layers]
    model.config.num_hidden_layers = layers


def _quantised(model: Any) -> Any:
    """Linear layers with 8-bit weights; activations are quantised as they come."""
    with warnings.catch_warnings():
        # The eager quantiser is marked for a package of its own; it is part of the pinned torch.
        warnings.filterwarnings("ignore", message=".*torch.ao.quantization is deprecated.*")
        warnings.filterwarnings("ignore", message=".*quantized tensor creation functions.*")
        quantise: Any = torch.ao.quantization.quantize_dynamic
        return quantise(model, {nn.Linear}, dtype=torch.qint8)
