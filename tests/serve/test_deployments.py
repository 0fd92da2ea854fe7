"""The compressor in front of its model: a long text lets others through between its chunks."""

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from actors.fakes import FakeCompressor
from pipeline.awake.readings import Chunk, Values
from serve.deployments import Compressor

LONG = "word " * 20_480  # forty chunks


class Counting(FakeCompressor):
    """Notes how many calls had been answered when each text of a few tokens went through."""

    def __init__(self) -> None:
        super().__init__()
        self.began = threading.Event()
        self.rows: list[list[int]] = []

    def judge(self, chunks: Sequence[Chunk]) -> list[Values | str]:
        self.rows.append([len(chunk) for chunk in chunks])
        self.began.set()
        time.sleep(0.01)
        return super().judge(chunks)


@pytest.fixture
def deployed(tmp_path: Path) -> tuple[Compressor, Counting]:
    found = Compressor(model="fake", tokenizer="fake", models_dir=tmp_path, threads=1)
    model = Counting()
    found._compressor = model
    return found, model


def calls_before_short(deployed: tuple[Compressor, Counting], *, owner: str) -> int:
    """Calls of the model that a short text waited for once the long one was at work."""
    compressor, model = deployed

    async def ask() -> int:
        long = asyncio.create_task(compressor.compress([LONG], rate=0.6, owners=["acme"]))
        await asyncio.to_thread(model.began.wait)
        before = len(model.rows)
        [(text, _)] = await compressor.compress(["a few short words"], rate=0.4, owners=[owner])
        waited = len(model.rows) - before
        assert text == "a few"
        assert not long.done()
        await long
        return waited

    return asyncio.run(ask())


@pytest.mark.parametrize("owner", ["globex", "acme"])
def test_a_short_text_waits_for_no_more_than_two_batches_of_a_long_one(
    deployed: tuple[Compressor, Counting], owner: str
) -> None:
    assert calls_before_short(deployed, owner=owner) <= 3


def test_a_long_text_is_one_text_again_when_all_its_chunks_are_judged(
    deployed: tuple[Compressor, Counting],
) -> None:
    compressor, model = deployed

    [(text, fallback), (short, _)] = asyncio.run(compressor.compress([LONG, "one two"], rate=0.5))

    assert (len(text.split()), fallback, short) == (10_240, None, "one")
    assert sum(map(sum, model.rows)) == 20_480 + 2
    assert max(map(sum, model.rows)) <= 1_024


def test_texts_of_any_rate_share_a_batch(deployed: tuple[Compressor, Counting]) -> None:
    compressor, model = deployed

    async def ask() -> None:
        await asyncio.gather(
            *(compressor.compress([f"text number {i}"], rate=0.1 * i) for i in range(1, 9))
        )

    asyncio.run(ask())

    assert len(model.rows) < 8
