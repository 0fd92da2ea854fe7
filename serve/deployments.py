"""The model deployments: plain classes over the adapters, built inside their replica.

Each asks its model through a fair batcher, so a replica must take more calls at once than all
ingest workers make: what waits in front of it in Serve's own queue has no priority.
"""

import asyncio
import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pipeline.awake.readings import Chunk, Values
from pipeline.awake.segment import Rule
from pipeline.ports import Purpose, Vectors
from serve.batching import MOST_TEXTS, Batcher
from serve.handles import Handle, ServeModels
from serve.loading import load_attention, load_compressor, load_embedder, load_reranker
from serve.segmenting import Segmenting, needs_attention

COMPRESSED_TEXTS = 2 * MOST_TEXTS
"""Texts that the compressor reads together: its model cuts them into batches by tokens."""

_BATCH_TOKENS = 1_024
"""What a short text may have to wait for; a CPU reads no faster in larger batches."""

_PADDING_TOKENS = 32
_CHUNKS_IN_TURN = 2
"""Chunks of one text that wait for the model at once; more would let it hold up its own tenant."""


class Embedder:
    """Texts to vectors. Loads its model once, in the replica."""

    def __init__(self, *, model: str, models_dir: Path, threads: int) -> None:
        self._embedder = load_embedder(model, models_dir=models_dir, threads=threads)
        self._batcher: Batcher[str, NDArray[np.float32]] = Batcher(self._run)

    def _run(self, purpose: Hashable, texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        return list(self._embedder.embed(texts, purpose=cast(Purpose, purpose)))

    async def embed(
        self,
        texts: Sequence[str],
        *,
        purpose: Purpose,
        owners: Sequence[str] = (),
        is_urgent: bool = False,
    ) -> Vectors:
        """``(len(texts), dim)``, L2-normalised; questions go first. Raises LimitError."""
        is_first = is_urgent or purpose == "query"
        rows = await self._batcher.ask(texts, group=purpose, owners=owners, is_urgent=is_first)
        return np.stack(rows) if rows else np.zeros((0, self._embedder.dim), np.float32)

    async def width(self) -> int:
        """The width of its vectors."""
        return self._embedder.dim


@dataclass(frozen=True, slots=True)
class _Pair:
    """A question and a text, as long as both."""

    question: str
    text: str

    def __len__(self) -> int:
        return len(self.question) + len(self.text)


class Reranker:
    """Hits to judgements of how well each answers. Loads its model once, in the replica."""

    def __init__(self, *, model: str, models_dir: Path, threads: int) -> None:
        self._reranker = load_reranker(model, models_dir=models_dir, threads=threads)
        self._batcher: Batcher[_Pair, float] = Batcher(self._run)

    def _run(self, group: Hashable, pairs: Sequence[_Pair]) -> Sequence[float]:
        return self._reranker.scores([(pair.question, pair.text) for pair in pairs])

    async def scores(self, query: str, texts: Sequence[str], *, owner: str = "") -> list[float]:
        """One judgement in 0..1 per text. Raises LimitError."""
        pairs = [_Pair(query, text) for text in texts]
        owners = [owner] * len(pairs)
        return await self._batcher.ask(pairs, group="pairs", owners=owners, is_urgent=True)


class Compressor:
    """Texts to the words worth keeping.

    What waits for the model are chunks of texts, so that a long text lets others through between
    its chunks; its words are chosen when all of them are judged.
    """

    def __init__(self, *, model: str, tokenizer: str, models_dir: Path, threads: int) -> None:
        self._compressor = load_compressor(
            model, models_dir=models_dir, threads=threads, tokenizer=tokenizer
        )
        self._batcher: Batcher[Chunk, Values | str] = Batcher(
            self._run,
            max_texts=COMPRESSED_TEXTS,
            max_chars=_BATCH_TOKENS,
            padding=_PADDING_TOKENS,
        )

    def _run(self, group: Hashable, chunks: Sequence[Chunk]) -> Sequence[Values | str]:
        return self._compressor.judge(chunks)

    async def compress(
        self, texts: Sequence[str], *, rate: float, owners: Sequence[str] = ()
    ) -> list[tuple[str, str | None]]:
        """Per text the compressed one and its fallback; pairs travel cheaper than objects."""
        readings = await asyncio.to_thread(self._compressor.read, texts, rate=rate)
        whose = owners or [""] * len(texts)
        judged = await self._judged([reading.chunks for reading in readings], whose)
        kept = await asyncio.to_thread(self._compressor.choose, readings, judged, rate=rate)
        return [(each.text, each.fallback) for each in kept]

    async def _judged(
        self, chunks: Sequence[Sequence[Chunk]], owners: Sequence[str]
    ) -> list[list[Values | str]]:
        """Per text the judgements of its chunks: short texts together, each long one in turns."""
        short = [i for i, some in enumerate(chunks) if len(some) <= _CHUNKS_IN_TURN]
        long = [i for i, some in enumerate(chunks) if len(some) > _CHUNKS_IN_TURN]
        flat = [chunk for i in short for chunk in chunks[i]]
        whose = [owners[i] for i in short for _ in chunks[i]]
        quick, *slow = await asyncio.gather(
            self._ask(flat, whose), *(self._in_turns(chunks[i], owners[i]) for i in long)
        )
        left = iter(quick)
        found = {i: list(itertools.islice(left, len(chunks[i]))) for i in short}
        found |= dict(zip(long, slow, strict=True))
        return [found[i] for i in range(len(chunks))]

    async def _in_turns(self, chunks: Sequence[Chunk], owner: str) -> list[Values | str]:
        found: list[Values | str] = []
        for at in range(0, len(chunks), _CHUNKS_IN_TURN):
            some = chunks[at : at + _CHUNKS_IN_TURN]
            found += await self._ask(some, [owner] * len(some))
        return found

    async def _ask(self, chunks: Sequence[Chunk], owners: Sequence[str]) -> list[Values | str]:
        # Whatever the rate of its text, a chunk may share a batch: what it tells is the same.
        return await self._batcher.ask(chunks, group="chunks", owners=owners)


class Segmenter:
    """Windows of turns to topic boundaries; hosts an attention model for a rule that asks."""

    def __init__(
        self,
        *,
        embedder: Handle,
        attention: str | None,
        rule: Rule,
        min_shift: float,
        max_similarity: float,
        models_dir: Path,
        threads: int,
    ) -> None:
        model = None
        if needs_attention(rule) and attention is not None:
            model = load_attention(attention, models_dir=models_dir, threads=threads)
        self._segmenting = Segmenting(
            embed=ServeModels(embedder=embedder).embed,
            attention=model,
            rule=rule,
            min_shift=min_shift,
            max_similarity=max_similarity,
        )

    async def boundaries(
        self,
        windows: Sequence[Sequence[str]],
        *,
        owners: Sequence[str] = (),
        min_shift: float | None = None,
    ) -> list[list[int]]:
        """Per window of turns those before which a new topic starts."""
        return await self._segmenting.boundaries(windows, owners=owners, min_shift=min_shift)
