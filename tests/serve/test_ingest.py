"""One step of the ingest walk: nothing is lost between accepted and extracted."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from actors.fakes import FakeCompressor, FakeEmbedder, FakeTokenizer
from pipeline.entries import Kind, Statement
from pipeline.errors import ModelError
from pipeline.ids import MessageId, message_id
from pipeline.messages import Batch, Message, Role, Scope, TenantId
from pipeline.state import AwakeState
from serve.ingest import Walk, WalkSettings
from serve.inline import InlineModels

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
MARA = Scope(tenant=TenantId("t"), collection="mara")
LIN = Scope(tenant=TenantId("t"), collection="lin")


class Echo:
    """One statement per message; fails on a batch that says so."""

    name = "echo"

    def extract(self, batches: Sequence[Batch]) -> list[list[Statement]]:
        if any("poison" in message.content for batch in batches for message in batch.messages):
            raise ModelError("no reply")
        return [[_statement(message) for message in batch.messages] for batch in batches]


def _statement(message: Message) -> Statement:
    return Statement(
        text=message.content,
        kind=Kind.FACT,
        speaker=message.speaker,
        said_at=message.said_at,
        zone="UTC",
        language="en",
        sources=(message.id,),
        sequence=message.sequence,
        ordinal=0,
    )


def said(*texts: str, conversation: str = "c", scope: Scope = MARA) -> tuple[Message, ...]:
    return tuple(
        Message(
            id=message_id(scope.tenant, scope.collection, number),
            sequence=number,
            conversation=conversation,
            role=Role.USER,
            speaker="Mara",
            content=text,
            said_at=NOON,
            accepted_at=NOON,
        )
        for number, text in enumerate(texts, start=1)
    )


def state(accepted: tuple[Message, ...], *, flush: bool) -> AwakeState:
    return AwakeState(
        step=4,
        accepted=accepted,
        windows={},
        buffered=(),
        flush=flush,
        flush_through=len(accepted),
    )


@pytest.fixture
def walk() -> Walk:
    embedder = FakeEmbedder()
    models = InlineModels(embedder=embedder, compressor=FakeCompressor(), max_similarity=0.5)
    settings = WalkSettings(
        compress=True, rate=0.8, window_tokens=20, shortterm_tokens=20, model=embedder.model
    )
    return Walk(models=models, extractor=Echo(), tokenizer=FakeTokenizer(), settings=settings)


def sources(commit_statements: Sequence[object]) -> list[MessageId]:
    return [each.statement.sources[0] for each in commit_statements]  # type: ignore[attr-defined]


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_a_flush_extracts_every_message_once_in_order(walk: Walk, count: int) -> None:
    messages = said(*[f"The kettle number {n} holds two litres of water." for n in range(count)])

    commit = asyncio.run(walk.step({MARA: state(messages, flush=True)}))[MARA]

    assert sources(commit.statements) == [message.id for message in messages]
    assert [m.id for segment in commit.segments for m in segment.messages] == [
        message.id for message in messages
    ]
    assert set(commit.extracted) == {segment.id for segment in commit.segments}
    assert commit.flushed_through == count
    assert commit.start_step == 4


def test_without_a_flush_what_fits_the_window_waits(walk: Walk) -> None:
    commit = asyncio.run(walk.step({MARA: state(said("I like tea."), flush=False)}))[MARA]

    assert commit.compressed.keys() == {said("I like tea.")[0].id}
    assert commit.segments == ()
    assert commit.statements == ()
    assert commit.flushed_through is None


def test_what_cannot_be_extracted_is_set_aside_with_its_reason_and_the_rest_goes_on(
    walk: Walk,
) -> None:
    bad = said("poison")
    good = said("我住在杭州。", scope=LIN)

    commits = asyncio.run(walk.step({MARA: state(bad, flush=True), LIN: state(good, flush=True)}))

    assert commits[MARA].quarantined == {bad[0].id: "no reply"}
    assert commits[MARA].statements == ()
    assert sources(commits[LIN].statements) == [good[0].id]


def test_conversations_of_one_collection_keep_apart_in_segments(walk: Walk) -> None:
    one = said("The cat sleeps.")
    (barking,) = said("The dog barks.")
    other = replace(barking, sequence=9, id=MessageId("m9"), conversation="d")

    commit = asyncio.run(walk.step({MARA: state((*one, other), flush=True)}))[MARA]

    assert [segment.conversation for segment in commit.segments] == ["c", "d"]
