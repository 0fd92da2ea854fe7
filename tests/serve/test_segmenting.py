"""Windows to boundaries: batched, with attention where there is any."""

import asyncio
import logging
from collections.abc import Sequence

import pytest

from actors.fakes import FakeAttention, FakeEmbedder
from pipeline.awake.segment import Rule
from pipeline.ports import AttentionModel, Purpose, Vectors
from serve.segmenting import Segmenting

TALK = ["red cats sleep", "red cats eat", "blue trains run", "blue trains stop"]
ONE_TOPIC = ["red cats sleep", "red cats sleep"]


class Asked:
    """An embedder that notes how often it is called."""

    def __init__(self) -> None:
        self.embedder = FakeEmbedder()
        self.owners: list[str] = []

    async def embed(
        self, texts: Sequence[str], *, purpose: Purpose, owners: Sequence[str] = ()
    ) -> Vectors:
        self.owners += owners
        return self.embedder.embed(texts, purpose=purpose)


def segmenting(
    attention: AttentionModel | None, *, rule: Rule = Rule.COMBINED, asked: Asked | None = None
) -> Segmenting:
    return Segmenting(
        embed=(asked or Asked()).embed,
        attention=attention,
        rule=rule,
        min_shift=0.6,
        max_similarity=0.5,
    )


def test_many_windows_are_read_in_one_batch() -> None:
    asked = Asked()
    reader = segmenting(FakeAttention(), asked=asked)

    found = asyncio.run(reader.boundaries([TALK, [], ONE_TOPIC, TALK], owners=[*"abcd"]))

    assert found == [[2], [], [], [2]]
    assert asked.embedder.calls == 1
    assert asked.owners == [*"aaaa", *"cc", *"dddd"]


@pytest.mark.parametrize("rule", list(Rule))
def test_a_model_without_attention_leaves_similarity_and_says_so(
    rule: Rule, caplog: pytest.LogCaptureFixture
) -> None:
    silent = FakeAttention(gives_attention=False)

    with caplog.at_level(logging.WARNING, logger="slowwave"):
        found = asyncio.run(segmenting(silent, rule=rule).boundaries([TALK]))

    assert found == asyncio.run(segmenting(None, rule=Rule.SIMILARITY).boundaries([TALK])) == [[2]]
    assert ("no attention for 1 of 1 windows" in caplog.text) is (rule is not Rule.SIMILARITY)


def test_a_talk_in_chinese_is_cut_as_well() -> None:
    talk = ["红色的猫在睡觉", "红色的猫在吃东西", "火车开往上海", "火车停在上海站"]

    assert asyncio.run(segmenting(FakeAttention()).boundaries([talk])) == [[2]]
