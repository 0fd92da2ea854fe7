"""Compression by what a model says of each token, and the compressor that keeps all.

Knows nothing of messages; which words stay is decided in ``pipeline.awake.compress``, what a
token tells by a model of ``actors.surprisal`` or ``actors.llmlingua``. Texts share batches, and
one that fails takes none along.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Protocol

from pipeline.awake.compress import compressed, is_whole
from pipeline.awake.readings import Chunk, Reading, Values, unread
from pipeline.awake.words import words
from pipeline.errors import ModelError
from pipeline.ports import Tokenizer
from pipeline.state import Compressed


class NoCompressor:
    """Keeps every text as it is."""

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """The texts themselves, whatever the rate."""
        return [Compressed(text=text) for text in texts]


class TokenModel(Protocol):
    """A model that values the tokens of texts."""

    @property
    def small_word_weight(self) -> float:
        """How much of their value function words and marks have: 1 where the model learned it."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Its own tokens, counted."""
        ...

    def read(self, text: str) -> Reading:
        """The text as tokens in chunks, without its words. Raises ModelError."""
        ...

    def values(self, batch: Sequence[Chunk]) -> list[Values]:
        """One value per token of each chunk, from one forward pass. Raises RuntimeError."""
        ...

    def forward(self, batch: Sequence[Chunk]) -> None:
        """The same pass with nothing read off: what compression is measured against."""
        ...


class WordCompressor:
    """Keeps the words whose tokens tell most; implements ``ports.ChunkedCompressor``."""

    def __init__(
        self,
        model: TokenModel,
        *,
        tokenizer: Tokenizer | None = None,
        max_tokens: int = 512,
        batch_tokens: int = 2048,
        whole_below_tokens: int = 20,
    ) -> None:
        """
        Args:
            tokenizer: counts the tokens of the rate and the limit; None counts the model's own.
            max_tokens: a result that is longer is chosen again at half the rate, at most twice.
            batch_tokens: tokens, padding included, that go through the model together.
            whole_below_tokens: a shorter text stays as it is. There is little to save in it, and
                what it would lose is who did what, and where a topic ends
                (docs/decisions/0004-compression.md).
        """
        self._model = model
        self._tokenizer = tokenizer or model.tokenizer
        self._max_tokens = max_tokens
        self._batch_tokens = batch_tokens
        self._whole_below_tokens = whole_below_tokens

    @property
    def max_tokens(self) -> int:
        """How long a result may be before it is chosen again."""
        return self._max_tokens

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """``rate`` (0..1] of each text's tokens; a text that fails keeps its original."""
        readings = self.read(texts, rate=rate)
        judged = iter(self.judge([chunk for reading in readings for chunk in reading.chunks]))
        parts = [list(itertools.islice(judged, len(reading.chunks))) for reading in readings]
        return self.choose(readings, parts, rate=rate)

    def read(self, texts: Sequence[str], *, rate: float) -> list[Reading]:
        """Each text with its words and chunks; no chunks where every word stays."""
        return [self._read(text, rate) for text in texts]

    def judge(self, chunks: Sequence[Chunk]) -> list[Values | str]:
        """Per chunk a value per token, or why there is none; chunks of like length together."""
        found: list[Values | str] = [""] * len(chunks)
        for places in self.batches(chunks):
            judged = self._judge([chunks[i] for i in places])
            for i, values in zip(places, judged, strict=True):
                found[i] = values
        return found

    def choose(
        self, readings: Sequence[Reading], judged: Sequence[Sequence[Values | str]], *, rate: float
    ) -> list[Compressed]:
        """The texts that are left at the rate."""
        return [
            compressed(
                reading,
                parts,
                rate=rate,
                tokenizer=self._tokenizer,
                max_tokens=self._max_tokens,
                small_word_weight=self._model.small_word_weight,
            )
            for reading, parts in zip(readings, judged, strict=True)
        ]

    def batches(self, chunks: Sequence[Chunk]) -> Iterator[list[int]]:
        """Places of chunks by like length, each group within the budget once padded."""
        batch: list[int] = []
        for i in sorted(range(len(chunks)), key=lambda i: len(chunks[i])):
            if batch and len(chunks[i]) * (len(batch) + 1) > self._batch_tokens:
                yield batch
                batch = []
            batch.append(i)
        if batch:
            yield batch

    def forward(self, chunks: Sequence[Chunk]) -> None:
        """The bare passes over the same batches that ``judge`` makes of the chunks."""
        for places in self.batches(chunks):
            self._model.forward([chunks[i] for i in places])

    def _read(self, text: str, rate: float) -> Reading:
        found = tuple(words(text))
        if is_whole(found, rate=rate):
            return unread(text)
        try:
            reading = self._model.read(text)
        except ModelError as error:
            return unread(text, failure=str(error))
        if self._tokenizer.count([text])[0] < self._whole_below_tokens:
            return unread(text)
        return Reading(
            text=text,
            words=found,
            starts=reading.starts,
            ends=reading.ends,
            chunks=reading.chunks,
        )

    def _judge(self, batch: Sequence[Chunk]) -> list[Values | str]:
        """A batch that fails is tried one by one, so that one text never takes others along."""
        try:
            return list(self._model.values(batch))
        except RuntimeError as error:
            if len(batch) == 1:
                return [f"the model failed: {error}"]
            return list(itertools.chain.from_iterable(self._judge([chunk]) for chunk in batch))
