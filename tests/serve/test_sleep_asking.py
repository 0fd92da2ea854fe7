"""Deciding by a chat model: many in flight, replies kept as they come, failures told by target."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from nights import Nights
from statements import statement
from telling import NOON, note, remember, texts

from actors.decider_chat import ChatDecider
from actors.fakes import FixedClock, ScriptedChat
from actors.records import Records, open_records
from actors.records.engine import reading
from actors.records.tables import reply_cache
from pipeline.chat import ChatPurpose, ChatRequest, Spent
from pipeline.deciding import DecisionLimits, Ruling
from pipeline.entries import (
    Candidate,
    Case,
    Decision,
    Delete,
    Entry,
    Ignore,
    Writer,
)
from pipeline.errors import ModelError, StoreError
from pipeline.messages import Scope, TenantId
from pipeline.ports import SleepStore
from pipeline.runs import LedgerRow
from pipeline.settings import ConsolidationSettings
from pipeline.sleep.decide import case_key
from serve.sleep_deciding import Deciding
from serve.sleep_stages import Cases

HARBOUR = Scope(tenant=TenantId("acme"), collection="harbour")
LINE = re.compile(r"^([a-z]{2,3}) \| \S+ \S+ \| [a-z?]+ \| [^:]+: (.*)$", re.MULTILINE)
SETTINGS = ConsolidationSettings(neighbours=5, queue_length=5)
PAIRS = 20


@pytest.fixture
def records(records_url: str) -> Iterator[Records]:
    stores = open_records(records_url)
    stores.tenants.ensure_tenant(HARBOUR.tenant, NOON)
    yield stores
    stores.close()


def merging(request: ChatRequest) -> str:
    """Merges the target with the only newer entry that is shown."""
    (_, old), (short, new) = LINE.findall(request.user)
    found = {"verdicts": [{"id": short, "verdict": "adds"}], "action": "update", "reason": "r"}
    return json.dumps(found | {"text": f"{old} {new}"}, ensure_ascii=False)


def boats(records: Records) -> None:
    """Twenty boats and what was said of each later."""
    for place, vector in enumerate(np.eye(PAIRS, dtype=np.float32)):
        old, new = f"Lark{place} is a boat.", f"Lark{place} is red."
        if place % 2 == 0:
            old, new = f"云雀{place}是一艘船。", f"云雀{place}是红色的。"
        note(records, HARBOUR, old, vector=vector)
        note(records, HARBOUR, new, vector=vector)


class AskingNights:
    """Runs over the harbour, each with a chat model of its own."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._nights = Nights(records, HARBOUR, dim=PAIRS)

    def __call__(self, chat: ScriptedChat) -> tuple[dict[str, int], list[LedgerRow]]:
        """What the run came to, and its ledger."""
        decider = ChatDecider(chat=chat, limits=DecisionLimits(attempts=1))
        night = self._nights(decider, calls=8)
        return night.counts, self._records.sleep.ledger(HARBOUR.tenant, night.run.id)


def test_of_an_endpoint_that_fails_on_a_tenth_exactly_those_fail_and_are_decided_next_time(
    records: Records,
) -> None:
    boats(records)
    night = AskingNights(records)

    def failing(request: ChatRequest) -> str:
        if "Lark7 " in request.user or "云雀4是" in request.user:
            raise ModelError("the chat endpoint failed: 500, 500")
        return merging(request)

    first, rows = night(ScriptedChat(failing))
    again = ScriptedChat(merging)
    second, mended = night(again)
    third, _ = night(nobody := ScriptedChat(merging))

    failed = [row for row in rows if row.state == "failed"]
    assert (first["update"], first["failed"], first["model_calls"]) == (18, 2, 20)
    assert {row.note for row in failed} == {"ModelError: the chat endpoint failed: 500, 500"}
    assert {row.target for row in mended} == {row.target for row in failed}
    assert (second["targets"], second["update"], len(again.asked)) == (2, 2, 2)
    assert (third["targets"], nobody.asked) == (0, [])
    assert (
        sum("boat. Lark" in text or "船。 云雀" in text for text in texts(records, HARBOUR)) == 20
    )


def test_an_id_that_the_model_made_up_changes_nothing_and_is_counted_in_the_usage(
    records: Records,
) -> None:
    for text in ("Ida has a boat.", "Ida's boat is red."):
        remember(records, HARBOUR, text)
    before = texts(records, HARBOUR)
    reply = {"verdicts": [{"id": "12", "verdict": "adds"}], "action": "update", "text": "Ida."}

    counts, rows = AskingNights(records)(ScriptedChat(json.dumps(reply)))

    assert texts(records, HARBOUR) == before
    assert counts["ignore"] == 1
    assert "refused" in rows[0].reason
    [usage] = records.usage.usage(HARBOUR.tenant)
    assert (usage.purpose, usage.calls, usage.repairs) == ("decide", 1, 0)
    assert usage.refused == {"unknown id": 1, "unsupported action": 1}


def test_only_the_target_changes_and_an_unrelated_note_is_never_rewritten(
    records: Records,
) -> None:
    notes = ["harbour", "bakery", "tram", "garden", "choir", "mill", "ferry", "school", "inn"]
    for place, name in enumerate(notes):
        vector = np.eye(PAIRS, dtype=np.float32)[place]
        note(records, HARBOUR, f"The {name} opens early.", vector=vector)
    near = np.eye(PAIRS, dtype=np.float32)[7]
    note(records, HARBOUR, "The school has two doors.", vector=near)

    AskingNights(records)(ScriptedChat(merging))

    changed = [each for each in records.entries.entries(HARBOUR).entries if each.version > 1]
    assert [each.text for each in changed] == ["The school opens early. The school has two doors."]


def test_replies_and_usage_stay_in_the_collection_and_erasure_takes_the_replies(
    records: Records,
) -> None:
    for text in ("Ida has a boat.", "Ida's boat is red."):
        remember(records, HARBOUR, text)
    AskingNights(records)(ScriptedChat(merging))

    with reading(records.engine, HARBOUR.tenant) as connection:
        [kept] = connection.execute(reply_cache.select()).all()
    assert (kept.tenant, kept.collection) == (HARBOUR.tenant, HARBOUR.collection)
    assert records.sleep.cached_decisions([kept.key], scope=replace(HARBOUR, collection="x")) == {}

    first = records.entries.entries(HARBOUR).entries[0].id
    records.erasure.erase_entry(HARBOUR.tenant, first, siblings=False, now=NOON)

    with reading(records.engine, HARBOUR.tenant) as connection:
        assert connection.execute(reply_cache.select()).all() == []
    assert sum(each.calls for each in records.usage.usage(HARBOUR.tenant)) == 1


# One worker ---------------------------------------------------------------------------------------


def chunk_of(place: int, *, cases: int = 1) -> Cases:
    """A chunk of a collection of its own."""
    scope = Scope(tenant=HARBOUR.tenant, collection=f"c{place}")
    made = tuple(case_of(f"{place}-{number}") for number in range(cases))
    return Cases(scope=scope, chunk=0, of=1, through=1, cases=made)


def case_of(name: str) -> Case:
    return Case(
        target=entry(f"{name}-old", "Ida has a boat.", 0),
        candidates=(Candidate(entry=entry(f"{name}-new", "It is red.", 1), similarity=0.9),),
    )


def entry(name: str, text: str, day: int) -> Entry:
    return statement(name, text, start=NOON, day=day, speaker="Ida")


class NotedStore(SleepStore):
    """Keeps replies in this process, and what they took."""

    def __init__(self) -> None:
        self.replies: dict[str, Decision] = {}
        self.lots: list[int] = []
        self.calls = 0
        self.is_full = False

    def cached_decisions(self, keys: Sequence[str], *, scope: Scope) -> dict[str, Decision]:
        """Those remembered."""
        return {key: self.replies[key] for key in keys if key in self.replies}

    def cache_decisions(
        self,
        decisions: Mapping[str, Decision],
        *,
        scope: Scope,
        through: int,
        now: datetime,
        spent: Sequence[Spent] = (),
        refused: Mapping[str, int] | None = None,
    ) -> None:
        """Remembers, unless the disk is full."""
        if self.is_full:
            raise StoreError("the disk is full")
        self.replies |= decisions
        self.lots.append(len(decisions))
        self.calls += sum(each.calls for each in spent)


class Slow:
    """Answers when as many as ``waits_for`` are asked at once; counts the most there were."""

    name = "slow/1"

    def __init__(self, *, waits_for: int = 1) -> None:
        self._full = asyncio.Event()
        self._waits_for = waits_for
        self._now = 0
        self.most = 0

    async def ask(self, case: Case, *, tenant: TenantId) -> Ruling:
        """Ignores, with the tokens of one call; a target of fog breaks it."""
        self._now += 1
        self.most = max(self.most, self._now)
        if self._now >= self._waits_for:
            self._full.set()
        await self._full.wait()
        await asyncio.sleep(0)
        self._now -= 1
        if "fog" in case.target.text:
            raise KeyError("fog")
        one = Spent(purpose=ChatPurpose.DECIDE, model="m", calls=1, tokens_in=30, tokens_out=3)
        return Ruling(decision=Ignore(reason="unsure"), calls=1, spent=(one,))


def deciding(store: NotedStore, decider: Slow, *, calls: int = 64) -> Deciding:
    return Deciding(store=store, decider=decider, clock=FixedClock(), calls=calls)


@pytest.mark.parametrize(("chunks", "cases"), [(100, 1), (2, 60)])
def test_one_worker_keeps_64_calls_in_flight_over_small_collections_too(
    chunks: int, cases: int
) -> None:
    store, decider = NotedStore(), Slow(waits_for=64)

    decided = deciding(store, decider).decide_all(
        [chunk_of(place, cases=cases) for place in range(chunks)]
    )

    assert decider.most == 64
    assert [len(one.items) for one in decided] == [cases] * chunks
    assert {(one.model_calls, one.tokens) for one in decided} == {(cases, 33 * cases)}
    assert len(store.replies) == store.calls == chunks * cases


def test_a_reply_that_was_kept_is_no_call_and_stands_only_where_it_still_may() -> None:
    store, decider = NotedStore(), Slow()
    worker, chunk = deciding(store, decider), chunk_of(1, cases=3)

    first, second = worker.decide(chunk), worker.decide(chunk)

    assert (first.model_calls, second.model_calls, second.tokens) == (3, 0, 0)
    assert first.items == second.items
    assert sum(store.lots) == 3


def test_a_cached_delete_gives_way_to_what_a_user_corrected_since() -> None:
    store, worker = NotedStore(), deciding(NotedStore(), Slow())
    chunk = chunk_of(1)
    [case] = chunk.cases
    delete = Delete(superseded_by=case.candidates[0].entry.id, reason="newer")
    store.replies = {case_key(case, "slow/1"): delete}
    worker = deciding(store, Slow())
    corrected = replace(
        case.target, written_by=Writer.USER, written_at=NOON + timedelta(days=9), version=3
    )

    [before] = worker.decide(chunk).items
    [after] = worker.decide(replace(chunk, cases=(replace(case, target=corrected),))).items

    assert before.decision == delete
    assert isinstance(after.decision, Ignore)


def test_a_decider_that_breaks_on_one_target_fails_that_one_alone() -> None:
    chunk = chunk_of(1, cases=3)
    fog = replace(chunk.cases[1], target=replace(chunk.cases[1].target, text="Thick fog."))
    store = NotedStore()

    decided = deciding(store, Slow()).decide(
        replace(chunk, cases=(chunk.cases[0], fog, chunk.cases[2]))
    )

    assert [item.failure for item in decided.items] == [None, "KeyError: 'fog'", None]
    assert len(store.replies) == 2


def test_what_is_answered_is_kept_while_other_calls_are_still_in_flight() -> None:
    store, go = NotedStore(), threading.Event()

    class Stuck(Slow):
        """Answers ten times, then not before it may go on."""

        asked = 0

        async def ask(self, case: Case, *, tenant: TenantId) -> Ruling:
            """As Slow does, in the end."""
            self.asked += 1
            is_stuck = self.asked > 10
            while is_stuck and not go.is_set():
                await asyncio.sleep(0.01)
            return await super().ask(case, tenant=tenant)

    worker = deciding(store, Stuck(), calls=64)
    working = threading.Thread(target=worker.decide, args=(chunk_of(1, cases=40),))
    working.start()
    until = time.monotonic() + 30
    while len(store.replies) < 10 and time.monotonic() < until:
        time.sleep(0.01)
    kept = len(store.replies)
    go.set()
    working.join()

    assert kept == 10
    assert len(store.replies) == 40


def test_a_store_that_keeps_nothing_stops_the_worker_with_the_reason() -> None:
    store = NotedStore()
    store.is_full = True

    with pytest.raises(StoreError, match="the disk is full"):
        deciding(store, Slow()).decide(chunk_of(1, cases=5))


def test_replies_are_written_in_lots() -> None:
    class Slowly(NotedStore):
        """Takes its time."""

        def cache_decisions(self, *args: object, **more: object) -> None:
            """Remembers after a while."""
            time.sleep(0.01)
            super().cache_decisions(*args, **more)  # type: ignore[arg-type]

    store = Slowly()

    deciding(store, Slow()).decide(chunk_of(1, cases=64))

    assert sum(store.lots) == 64
    assert len(store.lots) < 16
