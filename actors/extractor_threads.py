"""Extractors that compute, asked in threads of their own. Implements ``ports.Extractor``."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from pipeline.entries import Statement
from pipeline.extraction import SPEAKING, Extraction, ExtractionOptions
from pipeline.messages import Batch


class SyncExtractor(Protocol):
    """A batch to its statements, in the calling thread."""

    @property
    def name(self) -> str:
        """Which one it is."""
        ...

    def extract(self, batch: Batch, *, options: ExtractionOptions) -> Sequence[Statement]:
        """The statements in order of saying; what system and tools said gives none."""
        ...


class ThreadedExtractor:
    """Calls that compute must not hold up the event loop, nor the threads of the store."""

    def __init__(self, inner: SyncExtractor, *, threads: int) -> None:
        self._inner = inner
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="extract")

    @property
    def name(self) -> str:
        """The inner one's name."""
        return self._inner.name

    async def extract(self, batch: Batch, *, options: ExtractionOptions) -> Extraction:
        """The batch's statements; nothing is spent. Raises what the inner one raises."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._extract, batch, options)

    def _extract(self, batch: Batch, options: ExtractionOptions) -> Extraction:
        found = self._inner.extract(batch, options=options)
        if set(options.roles) < set(SPEAKING):
            wanted = {m.id for m in batch.messages if m.role in options.roles}
            found = [each for each in found if each.sources[0] in wanted]
        return Extraction(statements=tuple(found))
