"""Models behind Serve deployments."""

from collections.abc import Awaitable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayTaskError
from ray.serve.exceptions import BackPressureError, RayServeException
from ray.serve.handle import DeploymentHandle

from pipeline.errors import ConfigError, LimitError, SlowwaveError, StoreError
from pipeline.ports import Purpose, Vectors
from pipeline.state import Compressed

Handle = DeploymentHandle[Any]
"""A deployment as another one reaches it; what it answers is typed where it is called."""

_BUSY_S = 1.0


class ServeModels:
    """Models behind Serve deployments; long inputs travel in slices of like lengths.

    What shares a batch with what is the replica's choice; a slice only bounds one message between
    two processes.
    """

    def __init__(
        self,
        *,
        embedder: Handle,
        compressor: Handle | None = None,
        segmenter: Handle | None = None,
        is_urgent: bool = False,
        slice_texts: int = 1_024,
        slice_chars: int = 1_048_576,
    ) -> None:
        """
        Args:
            is_urgent: a person waits for every answer, not only for those of questions.
        """
        self._embedder = embedder
        self._compressor = compressor
        self._segmenter = segmenter
        self._is_urgent = is_urgent
        self._slice_texts = slice_texts
        self._slice_chars = slice_chars

    async def embed(
        self, texts: Sequence[str], *, purpose: Purpose, owners: Sequence[str] = ()
    ) -> Vectors:
        vectors: NDArray[np.float32] | None = None
        for places in self._slices(texts):
            part = await answer(
                self._embedder.embed.remote(
                    [texts[i] for i in places],
                    purpose=purpose,
                    owners=[owners[i] for i in places] if owners else (),
                    is_urgent=self._is_urgent,
                )
            )
            if vectors is None:
                vectors = np.empty((len(texts), part.shape[1]), np.float32)
            vectors[places] = part
        return vectors if vectors is not None else np.zeros((0, await self.dim()), np.float32)

    async def compress(
        self, texts: Sequence[str], *, rate: float, owners: Sequence[str] = ()
    ) -> list[Compressed]:
        if self._compressor is None:
            return [Compressed(text=text) for text in texts]
        kept: dict[int, Compressed] = {}
        for places in self._slices(texts):
            found = await answer(
                self._compressor.compress.remote(
                    [texts[i] for i in places],
                    rate=rate,
                    owners=[owners[i] for i in places] if owners else (),
                )
            )
            for i, (text, fallback) in zip(places, found, strict=True):
                kept[i] = Compressed(text=text, fallback=fallback)
        return [kept[i] for i in range(len(texts))]

    async def boundaries(
        self,
        windows: Sequence[Sequence[str]],
        *,
        owners: Sequence[str] = (),
        min_shift: float | None = None,
    ) -> list[list[int]]:
        if self._segmenter is None:
            raise ConfigError("expected a segmenter deployment, got none", field="Segmenter")
        found: list[list[int]] = await answer(
            self._segmenter.boundaries.remote(
                [list(window) for window in windows],
                owners=list(owners),
                min_shift=min_shift,
            )
        )
        return found

    def _slices(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Places of texts grouped by like length; a text over the bound goes alone."""
        places: list[int] = []
        chars = 0
        for i in sorted(range(len(texts)), key=lambda i: len(texts[i])):
            is_full = len(places) == self._slice_texts or chars + len(texts[i]) > self._slice_chars
            if places and is_full:
                yield places
                places, chars = [], 0
            places.append(i)
            chars += len(texts[i])
        if places:
            yield places

    async def dim(self) -> int:
        """The width of the embedder's vectors."""
        width: int = await answer(self._embedder.width.remote())
        return width


class ServeReranker:
    """The reranker behind its deployment."""

    def __init__(self, reranker: Handle) -> None:
        self._reranker = reranker

    async def scores(self, query: str, texts: Sequence[str], *, owner: str) -> list[float]:
        found: list[float] = await answer(
            self._reranker.scores.remote(query, list(texts), owner=owner)
        )
        return found


async def answer(response: Awaitable[Any]) -> Any:
    """What a deployment answered, its errors as ours.

    Raises:
        LimitError: its queue is full.
        StoreError: no replica of it answers at the moment.
        SlowwaveError: what it raised.
    """
    try:
        return await response
    except BackPressureError as exc:
        raise LimitError(
            "the models have more work than they may keep waiting",
            retry_after_s=_BUSY_S,
            field="models",
        ) from exc
    except RayTaskError as exc:
        if isinstance(exc.cause, SlowwaveError):
            raise exc.cause from exc
        raise
    except (RayServeException, ActorDiedError, ActorUnavailableError) as exc:
        raise StoreError(f"a model does not answer: {type(exc).__name__}") from exc
