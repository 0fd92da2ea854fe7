"""Slices of texts on their way to a model: like lengths together, answers in their own places."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
from ray.exceptions import ActorDiedError, RayTaskError
from ray.serve.exceptions import BackPressureError

from pipeline.errors import LimitError, ModelError, StoreError
from pipeline.ports import Vectors
from serve.handles import Handle, ServeModels


class Method:
    """One method of a deployment, as a handle offers it."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def remote(self, *args: Any, **kwargs: Any) -> Any:
        return self._answer(*args, **kwargs)


class LengthModel:
    """A vector holds its text's length; a compressed text is its length in words."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.embed = Method(self._embed)
        self.compress = Method(self._compress)
        self.width = Method(lambda: 2)

    def _embed(
        self, texts: Sequence[str], *, purpose: str, owners: Sequence[str], is_urgent: bool
    ) -> Vectors:
        assert not owners or len(owners) == len(texts)
        self.asked.append(list(texts))
        return np.array([[len(text), 1] for text in texts], np.float32)

    def _compress(
        self, texts: Sequence[str], *, rate: float, owners: Sequence[str]
    ) -> list[tuple[str, str | None]]:
        self.asked.append(list(texts))
        return [(str(len(text)), None) for text in texts]


def models(model: LengthModel, *, texts: int = 3, chars: int = 100) -> ServeModels:
    handle = cast(Handle, model)
    return ServeModels(embedder=handle, compressor=handle, slice_texts=texts, slice_chars=chars)


TEXTS = ["x" * length for length in (50, 1, 9, 300, 2, 40, 60, 3)]


@pytest.mark.parametrize("texts", [TEXTS, ["词" * n for n in (7, 1, 30)], []])
def test_every_answer_stands_at_the_place_of_its_text(texts: list[str]) -> None:
    asked = models(LengthModel())

    owners = [f"tenant of {text}" for text in texts]
    vectors = asyncio.run(asked.embed(texts, purpose="passage", owners=owners))
    kept = asyncio.run(asked.compress(texts, rate=0.5))

    assert vectors.shape == (len(texts), 2)
    assert vectors[:, 0].tolist() == [len(text) for text in texts]
    assert [each.text for each in kept] == [str(len(text)) for text in texts]


def test_a_slice_is_bounded_by_texts_and_characters_and_holds_like_lengths() -> None:
    model = LengthModel()

    asyncio.run(models(model).embed(TEXTS, purpose="passage"))

    lengths = [[len(text) for text in texts] for texts in model.asked]
    assert lengths == [[1, 2, 3], [9, 40, 50], [60], [300]]


class Refusing:
    """A deployment whose every call fails in the same way."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.embed = Method(self._fail)

    def _fail(self, texts: Sequence[str], **asked: object) -> Vectors:
        raise self._error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BackPressureError(9, 8), LimitError),
        (RayTaskError("embed", "trace", ModelError("cannot")), ModelError),
        (RayTaskError("embed", "trace", LimitError("full", retry_after_s=2)), LimitError),
        (ActorDiedError(), StoreError),
    ],
)
def test_what_a_deployment_raises_comes_as_an_error_of_ours(
    error: Exception, kind: type[Exception]
) -> None:
    asked = ServeModels(embedder=cast(Handle, Refusing(error)))

    with pytest.raises(kind) as raised:
        asyncio.run(asked.embed(["text"], purpose="query"))

    assert type(raised.value) is kind
