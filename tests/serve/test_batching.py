"""A model behind its fair queue: who asks gets the own answers, or the own error."""

import asyncio
import threading
from collections.abc import Hashable, Sequence

import pytest

from pipeline.errors import LimitError, ModelError
from serve.batching import Batcher


class Lengths:
    """Answers a text's length; fails on a batch with ``bad`` in it; notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Hashable, list[str]]] = []
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, group: Hashable, texts: Sequence[str]) -> list[int]:
        self.gate.wait(timeout=10)
        self.asked.append((group, list(texts)))
        if "bad" in texts:
            raise ModelError("cannot read that")
        if "broken" in texts:
            raise ZeroDivisionError
        return [len(text) for text in texts]


async def started(
    batcher: Batcher[str, int], *texts: str, **more: object
) -> asyncio.Task[list[int]]:
    asked = {"group": "passage", **more}
    task = asyncio.create_task(batcher.ask(texts, **asked))
    await asyncio.sleep(0)
    return task


def test_answers_stand_at_the_places_of_their_texts() -> None:
    async def ask() -> list[list[int]]:
        batcher = Batcher(Lengths())
        return await asyncio.gather(
            batcher.ask(["ccc", "a", "bb"], group="g"),
            batcher.ask(["豆豆"], group="g"),
            batcher.ask([], group="g"),
        )

    assert asyncio.run(ask()) == [[3, 1, 2], [2], []]


def test_a_question_overtakes_the_ingestion_that_waits() -> None:
    model = Lengths()

    async def ask() -> None:
        batcher = Batcher(model)
        model.gate.clear()
        tasks = [
            await started(batcher, *["x" * n] * 40, owners=["acme"] * 40) for n in (10, 400, 900)
        ]
        tasks.append(await started(batcher, "where?", group="query", is_urgent=True))
        model.gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(ask())

    assert [group for group, _ in model.asked].index("query") <= 1


def test_a_text_that_fails_fails_its_own_caller_alone() -> None:
    async def ask() -> list[list[int] | BaseException]:
        batcher = Batcher(Lengths())
        return await asyncio.gather(
            batcher.ask(["good"], group="g", owners=["acme"]),
            batcher.ask(["bad"], group="g", owners=["globex"]),
            return_exceptions=True,
        )

    good, bad = asyncio.run(ask())

    assert good == [4]
    assert isinstance(bad, ModelError)


def test_a_mistake_of_ours_reaches_every_caller_instead_of_letting_them_wait() -> None:
    async def ask() -> list[list[int] | BaseException]:
        batcher = Batcher(Lengths())
        first = await asyncio.gather(batcher.ask(["broken"], group="g"), return_exceptions=True)
        return [*first, await batcher.ask(["fine"], group="g")]

    error, after = asyncio.run(ask())

    assert isinstance(error, ZeroDivisionError)
    assert after == [4]


def test_a_caller_that_gave_up_costs_no_model_call() -> None:
    model = Lengths()

    async def ask() -> None:
        batcher = Batcher(model)
        model.gate.clear()
        first = await started(batcher, "first")
        await asyncio.sleep(0.05)
        second = await started(batcher, "second")
        second.cancel()
        model.gate.set()
        await asyncio.gather(first, second, return_exceptions=True)
        await batcher.ask(["third"], group="passage")

    asyncio.run(ask())

    assert [texts for _, texts in model.asked] == [["first"], ["third"]]


def test_more_questions_than_may_wait_are_refused_with_a_time_to_come_back() -> None:
    model = Lengths()

    async def ask() -> None:
        batcher = Batcher(model, max_urgent=2)
        model.gate.clear()
        held = await started(batcher, "a", group="query", is_urgent=True)
        await asyncio.sleep(0.05)
        held_too = await started(batcher, "b", "c", group="query", is_urgent=True)
        with pytest.raises(LimitError) as refused:
            await batcher.ask(["d"], group="query", is_urgent=True)
        assert refused.value.retry_after_s >= 1
        model.gate.set()
        await asyncio.gather(held, held_too)

    asyncio.run(ask())
