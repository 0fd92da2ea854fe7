"""One step of the ingest walk: nothing is lost between accepted and extracted."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from actors.fakes import FakeCompressor, FakeEmbedder, FakeTokenizer, FixedClock
from actors.records import Records, open_records
from pipeline.entries import Kind, Statement
from pipeline.errors import MalformedReply, ModelError, StoreError
from pipeline.extraction import Extraction, ExtractionOptions
from pipeline.ids import MessageId, message_id
from pipeline.messages import Batch, Message, MessageState, NewMessage, Role, Scope, TenantId
from pipeline.state import AwakeCommit, AwakeState, Compressed, Lease
from serve.ingest import IngestWorker
from serve.inline import InlineModels
from serve.walk import Stage, Walk, WalkSettings

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
MARA = Scope(tenant=TenantId("t"), collection="mara")
LIN = Scope(tenant=TenantId("t"), collection="lin")


class Echo:
    """One statement per message; fails on a batch that says so."""

    name = "echo"

    async def extract(self, batch: Batch, *, options: ExtractionOptions) -> Extraction:
        if any("poison" in message.content for message in batch.messages):
            raise MalformedReply("no reply", raw="{")
        return Extraction(statements=tuple(_statement(each) for each in batch.messages))


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


class Deadly(FakeCompressor):
    """Fails whenever the deadly word is among its texts, like a text that kills its model."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        if any("致命" in text for text in texts):
            raise self._error
        return super().compress(texts, rate=rate)


class NoIndex:
    """An index that is followed by nobody."""

    async def follow(self) -> None:
        return None


def worker(
    records: Records,
    *,
    compressor: FakeCompressor,
    extractor: Echo | None = None,
    messages: int = 100,
    store: Any = None,
) -> IngestWorker:
    models = InlineModels(embedder=FakeEmbedder(), compressor=compressor, max_similarity=0.5)
    settings = WalkSettings(
        compress=True, rate=0.5, window_tokens=10, shortterm_tokens=10, model="fake"
    )
    walk = Walk(
        models=models,
        extractor=extractor or Echo(),
        tokenizer=FakeTokenizer(),
        settings=settings,
    )
    return IngestWorker(
        name="w",
        store=store or records.awake,
        walk=walk,
        clock=FixedClock(NOON),
        follow_index=NoIndex(),
        leases=8,
        messages=messages,
        step_s=10,
        ttl_s=60,
        idle_s=3600,
        poll_s=0.01,
        attempts=3,
    )


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    stores = open_records(f"sqlite:///{tmp_path}/records.db")
    stores.tenants.ensure_tenant(TenantId("t"), NOON)
    yield stores
    stores.close()


def accept(records: Records, scope: Scope, *texts: str) -> None:
    batch = [
        NewMessage(conversation="c", role=Role.USER, speaker="Mara", content=text, said_at=NOON)
        for text in texts
    ]
    records.messages.accept(scope, batch, now=NOON)
    records.messages.request_flush(scope)


def run_until_done(ingest: IngestWorker, records: Records, *scopes: Scope) -> int:
    """How many rounds failed on the way."""

    async def run() -> int:
        failed = 0
        for _ in range(60):
            try:
                await ingest.round()
            except (ModelError, ValueError):
                failed += 1
            if all(records.messages.collection(scope).pending == 0 for scope in scopes):
                break
        return failed

    return asyncio.run(run())


def texts(records: Records, scope: Scope) -> list[str]:
    return [entry.text for entry in records.entries.entries(scope).entries]


@pytest.mark.parametrize("error", [ModelError("the model died"), ValueError("not foreseen")])
def test_a_deadly_message_is_quarantined_and_everything_else_goes_on(
    records: Records, error: Exception
) -> None:
    accept(records, MARA, "one", "two", "这是致命的", "three")
    accept(records, LIN, "四")

    failed = run_until_done(worker(records, compressor=Deadly(error)), records, MARA, LIN)

    assert failed == 2 + 3  # twice together, then three attempts alone
    assert texts(records, MARA) == ["one", "two", "three"]
    assert texts(records, LIN) == ["四"]
    states = [message.state for message in records.messages.messages(MARA)]
    assert states.count(MessageState.QUARANTINED) == 1
    assert states[2] is MessageState.QUARANTINED
    assert records.messages.collection(MARA).quarantined == 1


def test_one_segment_alone_is_extracted_though_other_windows_must_leave_first(walk: Walk) -> None:
    spoken = said(*[f"词 {n}" for n in range(40)])
    cut = asyncio.run(walk.step({MARA: state(spoken, flush=True)}, last=Stage.SEGMENT))[MARA]
    before = replace(state((), flush=True), buffered=cut.segments, is_partial=True)

    part = walk.part(MARA, before)

    assert part is not None
    commit = asyncio.run(walk.step({MARA: part.state}, last=part.last))[MARA]
    assert commit.extracted == (cut.segments[0].id,)


@pytest.mark.parametrize("size", [1, 2, 5, 30])
def test_after_failures_every_piece_of_a_large_flush_is_walked_in(
    records: Records, size: int
) -> None:
    for number in range(12):
        batch = [
            NewMessage(
                conversation=f"c{number}",
                role=Role.USER,
                speaker="Mara",
                content=f"{number} 茶{place}",
                said_at=NOON,
            )
            for place in range(3)
        ]
        records.messages.accept(MARA, batch, now=NOON)
    records.messages.request_flush(MARA)
    for _ in range(2):
        held = records.awake.lease("gone", limit=1, now=NOON, ttl_s=60, idle_s=3600)
        records.awake.fail(held, "the model died")
        records.awake.release(held)
    ingest = worker(records, compressor=FakeCompressor(), messages=size)

    async def run() -> int:
        rounds = 0
        while records.messages.collection(MARA).pending:
            await ingest.round()
            rounds += 1
            assert rounds < 300, "it goes on for ever"
        return rounds

    asyncio.run(run())

    assert records.messages.collection(MARA).quarantined == 0
    assert len(texts(records, MARA)) == 36


class FullDisk:
    """The awake store of a disk that takes no step until there is room again."""

    def __init__(self, records: Records) -> None:
        self._store = records.awake
        self.has_room = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def commit(self, lease: Lease, commit: AwakeCommit, *, now: datetime) -> bool:
        if not self.has_room:
            raise StoreError("database or disk is full")
        return self._store.commit(lease, commit, now=now)


@pytest.mark.parametrize("is_careful", [False, True])
def test_a_store_that_takes_no_step_costs_no_message_an_attempt(
    records: Records, is_careful: bool
) -> None:
    accept(records, MARA, "one", "二")
    if is_careful:
        for _ in range(2):
            [lease] = records.awake.lease("w", limit=1, now=NOON, ttl_s=60, idle_s=60)
            records.awake.fail([lease], "the worker failed")
            records.awake.release([lease])
    disk = FullDisk(records)
    ingest = worker(records, compressor=FakeCompressor(), store=disk)

    for _ in range(5):
        with pytest.raises(StoreError, match="full"):
            asyncio.run(ingest.round())
    disk.has_room = True
    failed = run_until_done(ingest, records, MARA)

    assert failed == 0
    assert texts(records, MARA) == ["one", "二"]


def cuts_of(walk: Walk, messages: Sequence[Message], sizes: Sequence[int]) -> list[list[str]]:
    """The segments that leave when the messages come in steps of these sizes."""
    found: list[list[str]] = []
    held: list[Message] = []
    rest = list(messages)
    for size in sizes:
        accepted, rest = tuple(rest[:size]), rest[size:]
        before = state(accepted, flush=not rest)
        before = replace(before, windows={"c": tuple(held)} if held else {})
        commit = asyncio.run(walk.step({MARA: before}))[MARA]
        short = {id: kept.text for id, kept in commit.compressed.items()}
        gone = {message.id for cut in commit.segments for message in cut.messages}
        held += [replace(message, compressed=short[message.id]) for message in accepted]
        held = [message for message in held if message.id not in gone]
        found += [[message.content for message in cut.messages] for cut in commit.segments]
    return found


def test_where_a_window_is_cut_does_not_depend_on_how_many_messages_a_step_took(
    walk: Walk,
) -> None:
    spoken = said(*[f"Word {n} is here. 第{n}个词在这里。" for n in range(12)])
    replied = [replace(m, role=Role.ASSISTANT) if n % 3 else m for n, m in enumerate(spoken)]

    at_once = cuts_of(walk, replied, [12])

    assert len(at_once) > 1
    assert cuts_of(walk, replied, [1] * 12) == at_once
    assert cuts_of(walk, replied, [5, 7]) == at_once
