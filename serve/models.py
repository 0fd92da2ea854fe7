"""The models as the service reaches them: asynchronous, wherever they run."""

from collections.abc import Sequence
from typing import Protocol

from pipeline.ports import Purpose, Vectors
from pipeline.state import Compressed


class AsyncReranker(Protocol):
    """The reranker as the read side asks it."""

    async def scores(self, query: str, texts: Sequence[str], *, owner: str) -> list[float]:
        """One judgement in 0..1 per text, of how well it answers the query.

        Args:
            owner: the tenant, so that batches are fair.
        """
        ...


class AsyncModels(Protocol):
    """What the ingest walk and the read side ask of models.

    ``owners`` names the tenant of each text or window, so that batches are fair between them;
    empty where it makes no difference.
    """

    async def embed(
        self, texts: Sequence[str], *, purpose: Purpose, owners: Sequence[str] = ()
    ) -> Vectors:
        """``(len(texts), dim)``, L2-normalised."""
        ...

    async def compress(
        self, texts: Sequence[str], *, rate: float, owners: Sequence[str] = ()
    ) -> list[Compressed]:
        """One compressed text per text."""
        ...

    async def boundaries(
        self,
        windows: Sequence[Sequence[str]],
        *,
        owners: Sequence[str] = (),
        min_shift: float | None = None,
    ) -> list[list[int]]:
        """Per window of turns those before which a new topic starts.

        ``min_shift`` takes the place of the segmenter's own threshold.
        """
        ...
