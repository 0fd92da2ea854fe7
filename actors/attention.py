"""How much each turn of a window looks back at the turn before it, by an encoder's attention.

Knows nothing of topics; what the profile means for boundaries is decided in
``pipeline.awake.segment``.

Source: arXiv 2510.18866, section 3.2; upstream topic_segmenter/llmlingua_2.py@8fc9a91. Where we
differ: attention is asked for in eager mode (the default kernel of transformers 5 gives none);
special tokens and punctuation, where attention pools whatever the topic, are masked everywhere
instead of three tokens at each end; the decay is removed: attention is divided by what the same
window gives on average over the same distances, instead of by the sum over earlier turns; and it
is taken from the lower half of the layers, which says more beside similarity than the last four
(docs/decisions/0007-topic-shifts.md) and costs half.
"""

import itertools
import string
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoModel, AutoTokenizer

from actors.quiet import quiet_loading
from pipeline.errors import ConfigError
from pipeline.ports import Vectors

_MAX_TOKENS = 512
_BATCH_CELLS = 2 * _MAX_TOKENS**2
_BINS_PER_OCTAVE = 4
_NO_TURN = -1


class EncoderAttention:
    """Attention profiles of windows of turns; implements ``ports.AttentionModel``.

    A window longer than the encoder reads loses the ends of its longest turns: all turns are cut
    to one common length, the largest that fits, so that short turns stay whole.
    """

    def __init__(self, path: str, *, device: str | None = None, threads: int | None = None) -> None:
        """Loads the encoder of a prepared or other local folder, or of a hub name.

        Args:
            threads: torch threads of this process; None leaves them as they are.

        Raises:
            ConfigError: there is no such model.
        """
        if threads is not None:
            torch.set_num_threads(threads)
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._reader, self._model = _load(path, self._device)
        positions = getattr(self._model.config, "max_position_embeddings", _MAX_TOKENS)
        self._max_tokens = min(_MAX_TOKENS, int(positions)) - 2
        self._sinks = np.array(sorted(_sinks(self._reader)))

    def profiles(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        """Per window ``(n,)``: attention of turn i to turn i-1, entry 0 ignored.

        1 is the window's average over the same distances. None where the model gives none, and
        for a window of more turns than the model reads tokens.
        """
        cut = [_cut(self._ids(turns), self._max_tokens) for turns in windows]
        lengths = [sum(map(len, turns)) for turns in cut]
        readable = [i for i, length in enumerate(lengths) if length <= self._max_tokens]
        found: list[Vectors | None] = [None] * len(windows)
        for places in _batches([lengths[i] + 2 for i in readable]):
            batch = [readable[place] for place in places]
            for i, seen in zip(batch, self._batch([cut[i] for i in batch]), strict=True):
                found[i] = seen
        return found

    def _ids(self, turns: Sequence[str]) -> list[list[int]]:
        if not turns:
            return []
        encoded = self._reader(list(turns), add_special_tokens=False, verbose=False)
        return [list(ids) for ids in encoded["input_ids"]]

    def _batch(self, windows: list[list[list[int]]]) -> Iterator[Vectors | None]:
        begin, end = self._reader.cls_token_id, self._reader.sep_token_id
        flat = [[begin, *itertools.chain.from_iterable(turns), end] for turns in windows]
        attention = self._attention(flat)
        for row, (ids, turns) in enumerate(zip(flat, windows, strict=True)):
            if attention is None:
                yield None
                continue
            owner = np.full(len(ids), _NO_TURN)
            owner[1:-1] = np.repeat(np.arange(len(turns)), [len(turn) for turn in turns])
            owner[np.isin(ids, self._sinks)] = _NO_TURN
            yield profile(attention[row, : len(ids), : len(ids)], owner, count=len(turns))

    @torch.inference_mode()
    def _attention(self, flat: list[list[int]]) -> Vectors | None:
        """``(windows, T, T)``: mean over the layers and their heads; None without any."""
        width = max(map(len, flat))
        ids = torch.zeros((len(flat), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, line in enumerate(flat):
            ids[row, : len(line)] = torch.tensor(line)
            mask[row, : len(line)] = 1
        given = self._model(
            ids.to(self._device), attention_mask=mask.to(self._device), output_attentions=True
        ).attentions
        if not given or any(layer is None for layer in given):
            return None
        mean = torch.stack([layer.mean(1) for layer in given]).mean(0)
        return mean.float().cpu().numpy()


def profile(attention: Vectors, owner: NDArray[np.int_], *, count: int) -> Vectors:
    """``(count,)`` attention of each turn to the one before, free of the decay with distance.

    Args:
        attention: ``(T, T)``; row i is how token i looks at all tokens.
        owner: ``(T,)``; the turn of each token, -1 for tokens that are masked.
        count: turns in the window.
    """
    back = (owner[:, None] > owner[None, :]) & (owner[None, :] > _NO_TURN)  # (T, T)
    query, key = np.nonzero(back)
    if not len(query):
        return np.ones(count, dtype=np.float32)
    bins = (np.log2(query - key) * _BINS_PER_OCTAVE).astype(int)
    values = attention[query, key].astype(np.float64)
    typical = np.bincount(bins, values) / np.maximum(np.bincount(bins), 1)
    is_next = owner[key] == owner[query] - 1
    turns = owner[query][is_next]
    seen = np.bincount(turns, values[is_next], minlength=count)
    expected = np.bincount(turns, typical[bins[is_next]], minlength=count)
    ratio = np.divide(seen, expected, out=np.ones(count), where=expected > 0)
    return ratio.astype(np.float32)


def _cut(turns: list[list[int]], limit: int) -> list[list[int]]:
    """The turns, the longest of them cut to one length, so that all fit."""
    longest = limit
    while turns and sum(min(len(turn), longest) for turn in turns) > limit and longest > 1:
        spare = sum(len(turn) for turn in turns if len(turn) < longest)
        long = sum(len(turn) >= longest for turn in turns)
        longest = min(longest - 1, max(1, (limit - spare) // max(1, long)))
    return [turn[:longest] for turn in turns]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices grouped by like length, so that a batch's attention stays within memory."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and lengths[i] ** 2 * (len(batch) + 1) > _BATCH_CELLS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _sinks(reader: Any) -> set[int]:
    """Ids of special tokens and of tokens of punctuation only."""
    marks = {
        i
        for token, i in reader.get_vocab().items()
        if all(c in string.punctuation + "▁Ġ" or unicodedata.category(c)[0] == "P" for c in token)
    }
    return marks | set(reader.all_special_ids)


def _load(path: str, device: str) -> tuple[Any, Any]:
    """The tokenizer, and the lower half of the model in eager mode."""
    is_local = Path(path).is_dir()
    try:
        with quiet_loading():
            reader = AutoTokenizer.from_pretrained(path, local_files_only=is_local)
            config = AutoConfig.from_pretrained(path, local_files_only=is_local)
            config.num_hidden_layers = max(1, config.num_hidden_layers // 2)
            model = AutoModel.from_pretrained(
                path, config=config, attn_implementation="eager", local_files_only=is_local
            )
    except (OSError, ValueError) as error:
        raise ConfigError(f"no encoder at {path}: {error}", field="attention") from error
    return reader, model.eval().to(device)
