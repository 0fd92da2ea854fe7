"""Extraction in the worker: waits, tries again, sets aside, and holds nobody else back."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from actors.extractor_chat import ChatExtractor
from actors.fakes import (
    FakeCompressor,
    FakeEmbedder,
    FakeTokenizer,
    FixedClock,
    Scripted,
    ScriptedChat,
)
from actors.records import Records, open_records
from pipeline.awake.chat_extract import Limits
from pipeline.chat import ChatReply, ChatRequest
from pipeline.errors import LimitError, ModelError
from pipeline.messages import MessageState, NewMessage, Role, Scope, TenantId
from serve.ingest import IngestWorker
from serve.inline import InlineModels
from serve.walk import Walk, WalkSettings

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
ACME = TenantId("acme")
MARA = Scope(tenant=ACME, collection="mara")
LIN = Scope(tenant=ACME, collection="lin")
LINE = re.compile(r"^([a-z]{2,3}) \*?([^:]+): (.*)$", re.MULTILINE)


class NoIndex:
    """An index that is followed by nobody."""

    async def follow(self) -> None:
        return None


def each_line(request: ChatRequest) -> str:
    items = [f"{m[1]} fact: {m[3]}" for m in LINE.finditer(request.user)]
    return json.dumps({"items": items}, ensure_ascii=False)


def failing(word: str, error: Exception) -> Scripted:
    """An endpoint that fails on what holds the word."""

    def told(request: ChatRequest) -> str:
        if word in request.user:
            raise error
        return each_line(request)

    return told


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    stores = open_records(f"sqlite:///{tmp_path}/records.db")
    stores.tenants.ensure_tenant(ACME, NOON)
    yield stores
    stores.close()


class Place:
    """A worker whose extractor asks a scripted chat model; time moves when it is told to."""

    def __init__(self, records: Records, *script: Scripted, failures: int = 3) -> None:
        self.records = records
        self.chat = ScriptedChat(*script)
        self.clock = FixedClock(NOON)
        limits = Limits(attempts=1, request_tokens=2000, reply_tokens=1000)
        extractor = ChatExtractor(chat=self.chat, tokenizer=FakeTokenizer(), limits=limits)
        walk = Walk(
            models=InlineModels(
                embedder=FakeEmbedder(), compressor=FakeCompressor(), max_similarity=0.5
            ),
            extractor=extractor,
            tokenizer=FakeTokenizer(),
            settings=WalkSettings(
                compress=False,
                rate=1.0,
                window_tokens=8,
                shortterm_tokens=8,
                model="fake",
                failures=failures,
                retry_s=10.0,
            ),
        )
        self.worker = IngestWorker(
            name="w",
            store=records.awake,
            walk=walk,
            clock=self.clock,
            follow_index=NoIndex(),
            leases=8,
            messages=100,
            step_s=10,
            ttl_s=60,
            idle_s=3600,
            poll_s=0.01,
            attempts=3,
        )

    def say(self, *texts: str, scope: Scope = MARA, conversation: str = "c") -> None:
        batch = [
            NewMessage(
                conversation=conversation,
                role=Role.USER,
                speaker="Mara",
                content=text,
                said_at=NOON,
            )
            for text in texts
        ]
        self.records.messages.accept(scope, batch, now=self.clock.now())
        self.records.messages.request_flush(scope)

    def round(self) -> int:
        return asyncio.run(self.worker.round())

    def later(self, seconds: float) -> int:
        self.clock.advance(timedelta(seconds=seconds))
        return self.round()

    def texts(self, scope: Scope = MARA) -> list[str]:
        return [entry.text for entry in self.records.entries.entries(scope).entries]

    def states(self, scope: Scope = MARA) -> list[MessageState]:
        return [message.state for message in self.records.messages.messages(scope)]


def test_a_batch_whose_endpoint_fails_waits_and_the_others_of_the_step_are_stored(
    records: Records,
) -> None:
    place = Place(records, failing("figs", ModelError("status 500")))
    tea, figs, rye = (f"I like {what} on each new day of May." for what in ("tea", "figs", "rye"))
    place.say(tea, figs, rye)
    place.say("我喜欢喝茶。", scope=LIN)

    place.round()

    assert place.texts() == [tea, rye]
    assert place.texts(LIN) == ["我喜欢喝茶。"]
    assert place.states().count(MessageState.SEGMENTED) == 1
    assert records.messages.collection(MARA).quarantined == 0
    [report] = records.backlog.reports(ACME)
    assert report.retrying == {"ModelError: status 500": 1}
    assert (report.pending, report.quarantined) == (1, 0)


def test_it_is_tried_again_after_twice_as_long_each_time_until_it_works(records: Records) -> None:
    place = Place(records, ModelError("status 500"), ModelError("status 502"), each_line)
    place.say("I like tea.")
    place.round()

    assert place.later(9) == 0
    assert len(place.chat.asked) == 1
    assert place.later(2) == 1
    assert len(place.chat.asked) == 2
    assert place.later(18) == 0
    assert place.later(3) == 1

    assert place.texts() == ["I like tea."]
    [report] = records.backlog.reports(ACME)
    assert report.retrying == {}
    assert records.messages.collection(MARA).flushed == 1


def test_after_its_tries_the_segment_at_fault_goes_and_the_others_stay(records: Records) -> None:
    place = Place(records, failing("figs", ModelError("status 500")))
    for food in ("tea", "figs", "rye"):
        place.say(food, conversation=food)
    place.round()
    assert len(place.chat.asked) == 1

    for _ in range(10):
        place.later(700)

    [item] = records.quarantine.items(ACME)
    assert item.message.content == "figs"
    assert place.texts() == ["tea", "rye"]
    assert "3 attempts" in item.reason
    assert "status 500" in item.reason
    assert records.messages.collection(MARA).pending == 0


def test_an_endpoint_without_room_costs_no_attempt_however_long_it_takes(records: Records) -> None:
    place = Place(records, *[LimitError("429", retry_after_s=30)] * 20, each_line)
    place.say("I like tea.")
    place.round()

    assert place.later(29) == 0
    for _ in range(20):
        place.later(31)

    assert place.texts() == ["I like tea."]
    assert records.quarantine.items(ACME) == []


def test_a_clock_that_was_set_back_holds_no_waiting_collection_up(records: Records) -> None:
    place = Place(records, ModelError("status 500"), each_line)
    place.say("I like tea.")
    place.round()

    place.clock.advance(timedelta(days=-3))
    place.round()

    assert place.texts() == ["I like tea."]


def test_a_reply_that_cannot_be_used_goes_into_quarantine_with_it(records: Records) -> None:
    place = Place(records, "no JSON {at} all")
    place.say("I like tea.")

    place.round()

    [item] = records.quarantine.items(ACME)
    assert item.raw == "no JSON {at} all"
    assert "no JSON" in item.reason
    [usage] = records.usage.usage(ACME)
    assert (usage.calls, usage.repairs) == (2, 1)
    assert usage.refused == {"no JSON": 2}


def test_erasing_a_conversation_takes_the_raw_replies_of_the_collection_with_it(
    records: Records,
) -> None:
    place = Place(records, "secret words {of} both")
    place.say("I like tea.")
    place.round()
    other = NewMessage(
        conversation="d", role=Role.USER, speaker="Ivo", content="secret", said_at=NOON
    )
    records.messages.accept(MARA, [other], now=NOON)

    records.erasure.erase_conversation(MARA, "d", now=NOON)

    [item] = records.quarantine.items(ACME)
    assert item.raw is None


def test_usage_adds_up_by_day_and_model_with_its_repairs(records: Records) -> None:
    place = Place(records, "", each_line)
    place.say("I like tea.")
    place.round()
    place.say("我喜欢米饭。")
    place.round()
    place.clock.advance(timedelta(days=1))
    place.say("Figs are good.", scope=LIN)
    place.round()

    found = records.usage.usage(ACME)

    assert [(each.day.day, each.calls, each.repairs) for each in found] == [(8, 3, 1), (9, 1, 0)]
    assert {each.model for each in found} == {"scripted-chat"}
    assert {each.purpose for each in found} == {"extract"}
    assert all(each.tokens_in > 100 for each in found)
    assert found[0].refused == {"empty reply": 1}
    assert records.usage.usage(TenantId("other")) == []
    assert [each.day.day for each in records.usage.usage(since=NOON.date() + timedelta(1))] == [9]


class Slow(ScriptedChat):
    """Does not answer for one word until it is told that the others are stored."""

    def __init__(self, word: str, is_stored: Callable[[], bool]) -> None:
        super().__init__(each_line)
        self._word = word
        self._is_stored = is_stored

    async def reply(self, request: ChatRequest) -> ChatReply:
        while self._word in request.user and not self._is_stored():
            await asyncio.sleep(0.02)
        return await super().reply(request)


def test_a_slow_batch_holds_back_no_other_collection_of_its_step(records: Records) -> None:
    place = Place(records, each_line)
    place.say("I like tea.")
    place.say("我喜欢米饭。", scope=LIN)
    slow = Slow("tea", lambda: bool(place.texts(LIN)))
    place.worker._walk._extracting._extractor._chat = slow  # type: ignore[attr-defined]

    place.round()

    assert place.texts(LIN) == ["我喜欢米饭。"]
    assert place.texts() == ["I like tea."]


def test_no_more_batches_are_asked_at_once_than_calls_allow(records: Records) -> None:
    running, most = 0, 0

    class Watched(ScriptedChat):
        async def reply(self, request: ChatRequest) -> ChatReply:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1
            return await super().reply(request)

    place = Place(records, each_line)
    place.worker._walk._extracting._extractor._chat = Watched(each_line)  # type: ignore[attr-defined]
    place.say(*[f"I like the tea number {n} of all." for n in range(20)])

    place.round()

    assert most == 4
    assert len(place.texts()) == 20


def test_every_batch_is_one_call_and_every_message_is_in_one(records: Records) -> None:
    place = Place(records, each_line)
    texts = [f"I drank {n} cups of green tea. 我喝了{n}杯茶。" for n in range(2, 40)]
    place.say(*texts)

    while place.round():
        pass

    shown = [m[3] for request in place.chat.asked for m in LINE.finditer(request.user)]
    assert sorted(shown) == sorted(texts)
    [usage] = records.usage.usage(ACME)
    assert (usage.calls, usage.repairs) == (len(place.chat.asked), 0)
    lengths = FakeTokenizer().count(texts)
    assert all(length > 8 for length in lengths)  # so each is a segment and a batch of its own
    assert usage.calls == len(texts)
