"""The vectors of recent questions."""

import asyncio
from collections.abc import Sequence

import numpy as np

from actors.fakes import FakeCompressor, FakeEmbedder
from pipeline.ports import Purpose, Vectors
from serve.inline import InlineModels
from serve.queries import QueryVectors


class CountingEmbedder(FakeEmbedder):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        self.asked += texts
        return super().embed(texts, purpose=purpose)


def test_a_question_is_embedded_once_while_it_is_among_the_newest() -> None:
    embedder = CountingEmbedder()
    models = InlineModels(embedder=embedder, compressor=FakeCompressor(), max_similarity=0.5)
    queries = QueryVectors(models, size=2)

    async def ask() -> list[Vectors]:
        asked = ["where is Mara?", "她住在哪里？", "where is Mara?", "third", "她住在哪里？"]
        return [await queries.of(each) for each in asked]

    vectors = asyncio.run(ask())

    assert embedder.asked == ["where is Mara?", "她住在哪里？", "third", "她住在哪里？"]
    assert np.array_equal(vectors[0], vectors[2])
    assert np.array_equal(vectors[0], embedder.embed(["where is Mara?"], purpose="query")[0])
