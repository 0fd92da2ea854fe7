"""What a night does after its decisions: over the real record store, without Ray."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from telling import entry_about, lease, load, said, statement

from actors.fakes import FakeTokenizer, FixedClock, ScriptedChat
from actors.records import Records, open_records
from actors.records.engine import EVERY_TENANT, reading
from actors.records.tables import collections, entry_vectors, index_ops, ledger_changes
from pipeline.chat import ChatRequest
from pipeline.entries import CURRENT, Delete, Entry, EntryChange, Kind, Status, Writer
from pipeline.errors import Conflict, ModelUnavailable
from pipeline.ids import ItemId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import LedgerItem, SleepRun, Stop, UndoItem, Weighed
from pipeline.scratchpad import Item, ItemEdit, ItemStatus
from pipeline.settings import ForgettingSettings, ScratchpadSettings
from pipeline.sleep.tending import Kept
from pipeline.state import AwakeCommit
from serve.sleep_after import AfterParts, Tended, Tender, to_tend
from serve.sleep_limits import Limits

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
NIGHT = NOON + timedelta(days=2)
ACME = TenantId("acme")
SCOPE = Scope(tenant=ACME, collection="ola")


class Night:
    """A store, a clock and the parts of the step."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.clock = FixedClock(NIGHT)
        self.parts = AfterParts(
            open_store=lambda: records.tending,
            open_tokenizer=FakeTokenizer,
            open_clock=lambda: self.clock,
            scratchpad=ScratchpadSettings(),
            forgetting=ForgettingSettings(),
        )
        self._runs = 0

    def say(self, *texts: str, kind: Kind = Kind.FACT, day: int = 0) -> None:
        """Each text as a message and an entry of its own."""
        batch = [said(text, at=24 * 60 * day + n) for n, text in enumerate(texts)]
        accepted = self.records.messages.accept(SCOPE, batch, now=NOON)
        held = lease(self.records)
        stored = [statement(SCOPE, message, "") for message in accepted]
        commit = AwakeCommit(
            start_step=load(self.records, held).step,
            quarantined={message.id: "not needed again" for message in accepted},
            statements=tuple(
                replace(one, statement=replace(one.statement, kind=kind)) for one in stored
            ),
            model="tiny",
        )
        assert self.records.awake.commit(held, commit, now=self.clock.now())
        self.records.awake.release([held])

    def run(self, *, dry: bool = False) -> SleepRun:
        """A new run, open."""
        self._runs += 1
        return self.records.sleep.open_run(
            SleepRun(
                id=RunId(f"run-{self._runs}"),
                tenant=ACME,
                window_start=self.clock.now() + timedelta(seconds=self._runs),
                dry_run=dry,
                status="running",
                started_at=self.clock.now(),
            )
        )

    def tend(self, run: SleepRun | None = None) -> dict[str, int]:
        """One night of the collection; what it did, zeros left out."""
        run = run or self.run()
        done = self.tended(run)
        self.close(run)
        return {name: count for name, count in done.counts.items() if count}

    def tended(self, run: SleepRun) -> Tended:
        """What tending the collection came to; the run stays open."""
        limits = Limits({ACME: run}, store=self.records.sleep, clock=self.clock)
        return Tender(self.parts, limits).tend(run, SCOPE)

    def scopes_to_tend(self) -> list[Scope]:
        """What the next night would tend."""
        return [one.scope for one in to_tend(self.run(), self.parts)]

    def close(self, run: SleepRun) -> None:
        """The run is over."""
        self.records.sleep.close_run(
            ACME, run.id, status="completed", totals={}, error=None, now=self.clock.now()
        )

    def undo(self, number: int) -> list[UndoItem]:
        return self.records.sleep.undo(ACME, RunId(f"run-{number}"), now=self.clock.now())

    def redo(self, number: int) -> list[UndoItem]:
        return self.records.sleep.redo(ACME, RunId(f"run-{number}"), now=self.clock.now())

    def entry(self, word: str) -> Entry:
        return self.records.entries.entry(ACME, entry_about(self.records, SCOPE, word))[1]

    def items(self, *statuses: ItemStatus) -> dict[str, Item]:
        found = self.records.scratchpad.items(SCOPE, statuses=statuses or tuple(ItemStatus))
        return {one.text: one for one in found}

    def shown(self) -> list[str]:
        return sorted(self.items(ItemStatus.ACTIVE))

    def content(self) -> list[object]:
        """Everything that undo has to give back, versions and writers apart."""
        page = self.records.entries.entries(SCOPE)
        entries = [(e.id, e.text, e.status, e.superseded_by, e.sources) for e in page.entries]
        items = [
            (i.id, i.text, i.slot, i.status, i.sources, i.conflicts, i.superseded_by)
            for i in self.items().values()
            if i.status is not ItemStatus.REMOVED
        ]
        return [sorted(entries), sorted(items)]


@pytest.fixture
def night(records_url: str) -> Iterator[Night]:
    records = open_records(records_url)
    records.tenants.ensure_tenant(ACME, NOON)
    yield Night(records)
    records.close()


def small(night: Night, *, threshold: int = 40, target: int = 20) -> None:
    """A scratchpad that is soon too long."""
    settings = ScratchpadSettings(threshold_tokens=threshold, target_tokens=target)
    night.parts = replace(night.parts, scratchpad=settings)


def test_items_arrive_with_their_entries_and_a_night_has_nothing_to_add(night: Night) -> None:
    night.say("Ola plays chess.", "Ola 会下围棋。")
    night.say("Always answer in French.", kind=Kind.INSTRUCTION, day=1)

    [rule] = night.records.scratchpad.items(SCOPE, slot="instructions")
    assert (rule.text, rule.version, rule.written_by) == ("Always answer in French.", 1, "ingest")
    assert (len(rule.sources), len(rule.entries)) == (1, 1)
    assert night.shown() == ["Always answer in French.", "Ola plays chess.", "Ola 会下围棋。"]
    assert night.tend() == {}


def test_what_is_said_again_moves_its_item_on(night: Night) -> None:
    night.say("Ola plays chess.")
    night.say("ola plays chess", day=1)

    [item] = night.items().values()
    assert (item.version, len(item.sources), item.said_at) == (2, 2, NOON + timedelta(days=1))
    assert [v.why for v in night.records.scratchpad.history(SCOPE, item.id)] == [
        "extracted",
        "said again",
    ]


def test_a_correction_shows_in_the_scratchpad_at_once(night: Night) -> None:
    night.say("Ola plays chess.")
    entry = night.entry("chess")

    night.records.entries.revise(
        ACME,
        entry.id,
        EntryChange(status=Status.OUTDATED),
        expected_version=1,
        vector=None,
        model="tiny",
        why="corrected",
        now=NIGHT,
    )

    assert night.shown() == []
    assert night.tend() == {}


def test_near_duplicates_are_merged_and_their_items_with_them(night: Night) -> None:
    night.say("Ola has a heron.", "Ola has the heron!", "奥拉有一只鹭。", "奥拉有一只鹭啊")

    done = night.tend()

    page = night.records.entries.entries(SCOPE, statuses=CURRENT)
    assert [(e.text, len(e.sources)) for e in page.entries] == [
        ("Ola has a heron.", 2),
        ("奥拉有一只鹭。", 2),
    ]
    assert done["merged"] == 2
    assert night.shown() == ["Ola has a heron.", "奥拉有一只鹭。"]
    assert night.tend() == {}


def test_weak_entries_are_archived_restored_and_not_archived_again(night: Night) -> None:
    night.say("Ola bought a lamp.")
    night.say("Never call Ola late.", kind=Kind.INSTRUCTION, day=1)
    night.clock.advance(timedelta(days=3_000))

    assert night.tend() == {"archived": 1, "items": 1}

    lamp = night.entry("lamp")
    assert (lamp.status, lamp.written_by) == (Status.ARCHIVED, Writer.SLEEP)
    assert night.shown() == ["Never call Ola late."]
    back = night.records.entries.restore(ACME, lamp.id, model="tiny", now=night.clock.now())
    assert (back.status, back.version) == (Status.ACTIVE, 3)
    assert night.shown() == ["Never call Ola late.", "Ola bought a lamp."]
    assert night.tend() == {}
    with reading(night.records.engine, ACME) as connection:
        of_version = entry_vectors.c.version
        kept = select(of_version).where(entry_vectors.c.entry == lamp.id).order_by(of_version)
        assert connection.execute(kept).scalars().all() == [1, 2, 3]
        assert lamp.id in connection.execute(select(index_ops.c.entry)).scalars().all()


def test_only_an_archived_entry_can_be_restored(night: Night) -> None:
    night.say("Ola has a heron.", "Ola has the heron")
    night.tend()
    [gone] = night.records.entries.entries(SCOPE, statuses=[Status.OUTDATED]).entries

    with pytest.raises(Conflict, match="expected an archived entry, got one that is outdated"):
        night.records.entries.restore(ACME, gone.id, model="tiny", now=NIGHT)


def test_beyond_its_capacity_a_collection_loses_its_weakest(night: Night) -> None:
    night.say(*(f"Ola met person {n}." for n in range(6)))
    strong = night.entry("person 0")
    night.records.entries.used(SCOPE, [strong.id], now=NOON)
    night.records.messages.change_settings(SCOPE, lambda _: {"capacity_entries": 4}, now=NOON)

    assert night.tend()["archived"] == 2

    gone = night.records.entries.entries(SCOPE, statuses=[Status.ARCHIVED]).entries
    assert [one.text for one in gone] == ["Ola met person 1.", "Ola met person 2."]
    assert night.tend() == {}


def test_only_what_needs_it_is_tended(night: Night) -> None:
    night.say("Ola bought a lamp.")
    assert night.scopes_to_tend() == [SCOPE]
    night.tend()

    assert night.scopes_to_tend() == []
    night.clock.advance(timedelta(days=3_000))
    assert night.scopes_to_tend() == [SCOPE]
    assert night.tended(night.run()).counts == {
        "archived": 1,
        "merged": 0,
        "items": 1,
        "shortened": 0,
        "shorten_failed": 0,
    }
    assert night.scopes_to_tend() == []


def test_a_dry_run_counts_and_writes_nothing(night: Night) -> None:
    night.say("Ola has a heron.", "Ola has the heron")
    before = night.content()

    done = night.tended(night.run(dry=True)).counts

    assert (done["merged"], done["items"]) == (1, 2)
    assert night.content() == before
    assert night.records.tending.changes(ACME, RunId("run-1")) == []


# Shortening -------------------------------------------------------------------------------------

FACTS = [f"Ola met person {n} in town {n}." for n in range(12)]


def test_by_rule_what_is_oldest_gives_way_and_instructions_and_open_loops_stay(
    night: Night,
) -> None:
    small(night)
    night.say("Always answer in French.", kind=Kind.INSTRUCTION)
    night.say("Ola has to call the bank.", kind=Kind.TASK, day=1)
    night.say(*FACTS, day=2)

    done = night.tend()

    shown = night.shown()
    assert {"Always answer in French.", "Ola has to call the bank."} < set(shown)
    assert FACTS[-1] in shown
    assert FACTS[0] not in shown
    assert done["shortened"] == len(FACTS) + 2 - len(shown)
    assert {e.status for e in night.records.entries.entries(SCOPE).entries} == {Status.ACTIVE}
    assert night.tend() == {}


def echo(request: ChatRequest) -> str:
    """Joins the first two notes of a request."""
    first, second, *_ = re.findall(r"person (\d+)", request.user)
    return json.dumps({"items": [f"1,2: Ola met person {first} and person {second}."]})


def test_by_a_chat_model_notes_are_joined_and_say_what_they_were_made_of(night: Night) -> None:
    small(night, threshold=80, target=40)
    chat = ScriptedChat(echo)
    night.parts = replace(night.parts, open_chat=lambda: chat)
    night.say(*FACTS)

    done = night.tend()

    [made] = [one for one in night.items(ItemStatus.ACTIVE).values() if len(one.entries) == 2]
    assert made.text == "Ola met person 0 and person 1."
    assert done == {"shortened": 1 + len(FACTS)}
    [usage] = night.records.usage.usage(ACME)
    assert (usage.purpose, usage.calls) == ("summarise", len(chat.asked))
    assert night.tend() == {}


def test_a_model_that_does_not_answer_is_told_and_asked_again_the_next_night(night: Night) -> None:
    small(night)
    chat = ScriptedChat(ModelUnavailable("closed", retry_after_s=1.0))
    night.parts = replace(night.parts, open_chat=lambda: chat)
    night.say(*FACTS)

    assert night.tend() == {"shorten_failed": 1}
    assert len(night.shown()) == len(FACTS)
    assert night.scopes_to_tend() == [SCOPE]
    assert night.tend() == {"shorten_failed": 1}


def test_what_shortening_takes_counts_against_the_tokens_of_the_run(night: Night) -> None:
    small(night, threshold=80, target=40)
    chat = ScriptedChat(echo)
    night.parts = replace(night.parts, open_chat=lambda: chat)
    night.say(*FACTS)
    run = night.run()

    night.tended(run)

    [usage] = night.records.usage.usage(ACME)
    spent = night.records.sleep.run(ACME, run.id).tokens
    assert spent == usage.tokens_in + usage.tokens_out > 0


@pytest.mark.parametrize("stop", Stop)
def test_no_model_is_asked_once_the_run_must_end_and_the_next_night_goes_on(
    night: Night, stop: Stop
) -> None:
    small(night, threshold=80, target=40)
    chat = ScriptedChat(echo)
    night.parts = replace(night.parts, open_chat=lambda: chat)
    night.say(*FACTS, "Ola has a heron.", "Ola has the heron")
    limits = {"max_tokens": 0} if stop is Stop.TOKENS else {"deadline": NIGHT}
    run = replace(night.run(), **limits)  # type: ignore[arg-type]  # of one of two types

    early = night.tended(run)
    night.close(run)

    assert (early.stop, chat.asked) == (stop, [])
    assert (early.counts["merged"], early.counts["shortened"]) == (1, 0)
    assert night.scopes_to_tend() == [SCOPE]
    assert night.tend()["shortened"] > 0
    assert night.scopes_to_tend() == []


def test_tending_that_is_repeated_counts_the_same_and_changes_nothing(night: Night) -> None:
    everything_at_once(night)
    run = night.run()

    first = night.tended(run)
    content = night.content()

    assert night.tended(run) == first
    assert night.content() == content
    assert all(first.counts[name] for name in ("archived", "merged", "items", "shortened"))


# A user's word ----------------------------------------------------------------------------------


def test_what_a_user_edits_meanwhile_wins_over_the_night(night: Night) -> None:
    small(night)
    night.say(*FACTS)
    plan = night.records.tending.kept
    edited: list[Item] = []

    def late(scope: Scope, *, run: RunId) -> Kept:
        """The night sees the collection, then the user edits its oldest item."""
        seen = plan(scope, run=run)
        if not edited:
            oldest = min(seen.items, key=lambda one: one.said_at)
            edit = ItemEdit(text="Ola met Ben.")
            edited.append(
                night.records.scratchpad.edit(SCOPE, oldest.id, edit, expected_version=1, now=NIGHT)
            )
        return seen

    object.__setattr__(night.records.tending, "kept", late)
    night.tend()

    assert night.records.scratchpad.item(SCOPE, edited[0].id) == edited[0]
    assert night.tend() == {}


def test_users_items_are_theirs_and_an_edit_needs_the_version_seen(night: Night) -> None:
    night.say("Ola plays chess.")
    pad, name = night.records.scratchpad, ItemId("mine")

    mine = pad.add(SCOPE, name, slot="profile", text="奥拉喜欢安静。", now=NIGHT)

    assert pad.add(SCOPE, name, slot="profile", text="奥拉喜欢安静。", now=NIGHT) == mine
    with pytest.raises(Conflict, match="says something else"):
        pad.add(SCOPE, name, slot="profile", text="Another.", now=NIGHT)
    with pytest.raises(Conflict, match="expected version 7"):
        pad.edit(SCOPE, name, ItemEdit(text="x"), expected_version=7, now=NIGHT)
    gone = pad.edit(SCOPE, name, ItemEdit(status=ItemStatus.REMOVED), expected_version=1, now=NIGHT)
    assert night.tend() == {}
    assert pad.item(SCOPE, name) == gone
    assert [v.why for v in pad.history(SCOPE, name)] == ["written by a user", "edited by a user"]


# Undo -------------------------------------------------------------------------------------------


def everything_at_once(night: Night) -> None:
    """Merges, archives, contradictions and a scratchpad that is too long."""
    small(night)
    night.say("Ola bought a lamp.", "Ola sold a lamp.")
    night.clock.advance(timedelta(days=3_000))
    night.say("Ola has a heron.", "Ola has the heron", *FACTS, day=1)
    night.say("The bank opens at 9:00.", "The bank opens at 10:00.", day=2)


def test_undo_gives_everything_back_and_the_next_night_leaves_it_so(night: Night) -> None:
    everything_at_once(night)
    before = night.content()
    done = night.tend()
    after = night.content()
    assert {"archived", "merged", "items", "shortened"} <= set(done)

    undone = night.undo(1)

    assert {item.kind for item in undone} == {"archive", "merge", "item", "shorten"}
    assert all(item.done for item in undone)
    assert night.content() == before
    assert night.tend() == {}
    assert night.content() == before

    redone = night.redo(1)

    assert all(item.done for item in redone)
    assert night.content() == after
    assert night.tend() == {}
    assert all(item.done for item in night.undo(1))
    assert night.content() == before


def test_undo_refuses_per_thing_what_somebody_changed_since(night: Night) -> None:
    night.say("Ola bought a lamp.", "Ola sold a boat.")
    night.clock.advance(timedelta(days=3_000))
    night.tend()
    lamp = night.entry("lamp")
    night.records.entries.restore(ACME, lamp.id, model="tiny", now=night.clock.now())

    refused = [(item.kind, item.refused) for item in night.undo(1) if not item.done]

    assert sorted(refused) == [
        ("archive", "changed since by user: expected version 2, got 3"),
        ("item", "changed since by sleep: expected version 2, got 3"),
    ]
    assert night.entry("boat").status is Status.ACTIVE


def test_decisions_and_what_followed_them_are_taken_back_together(night: Night) -> None:
    night.say("Ola lives in Oslo.", "Ola lives in Bergen.")
    before = night.content()
    seen = night.records.sleep.snapshot(SCOPE, model="tiny")
    oslo, bergen = seen.entries
    run = night.run()
    item = LedgerItem(
        target=oslo.id,
        target_version=1,
        candidates=(Weighed(entry=bergen.id, version=1, similarity=0.9),),
        decision=Delete(superseded_by=bergen.id, reason="moved"),
        decider="test",
    )
    night.records.sleep.record(
        run.id, SCOPE, [item], through=seen.through, model="tiny", dry_run=False, now=NIGHT
    )

    night.tend(run)

    assert night.shown() == ["Ola lives in Bergen."]
    undone = night.undo(1)
    assert [(one.kind, one.done) for one in undone] == [("item", True), ("decision", True)]
    assert night.content() == before
    assert night.tend() == {}
    assert [one.done for one in night.redo(1)] == [True, True]
    assert night.shown() == ["Ola lives in Bergen."]


# Erasure ----------------------------------------------------------------------------------------


def test_an_erased_entry_takes_its_items_and_what_was_made_of_them(night: Night) -> None:
    small(night, threshold=80, target=40)
    night.parts = replace(night.parts, open_chat=lambda: ScriptedChat(echo))
    night.say(*FACTS)
    night.tend()

    assert "Ola met person 0 and person 1." in night.shown()
    night.records.erasure.erase_entry(
        ACME, night.entry("person 0 ").id, siblings=False, now=night.clock.now()
    )
    night.tend()

    assert not any("person 0 " in text for text in night.items())
    assert "Ola met person 1 in town 1." in night.shown()


def test_what_was_erased_while_the_night_was_at_work_does_not_come_back(night: Night) -> None:
    night.say("Ola has a heron.", "Ola has the heron")
    night.say("Ola owns Quetzalwing.", day=1)
    kept = night.records.tending.kept

    def late(scope: Scope, *, run: RunId) -> Kept:
        seen = kept(scope, run=run)
        if any("Quetzalwing" in entry.text for entry in seen.entries):
            gone = entry_about(night.records, SCOPE, "Quetzalwing")
            night.records.erasure.erase_entry(ACME, gone, siblings=False, now=NIGHT)
        return seen

    object.__setattr__(night.records.tending, "kept", late)
    assert night.tend() == {}

    assert "Quetzalwing" not in str(night.content())
    assert night.scopes_to_tend() == [SCOPE]
    assert night.tend()["merged"] == 1


def test_erasing_the_one_that_stayed_erases_what_it_took_in(night: Night) -> None:
    night.say("Ola has a heron.", "Ola has the heron")
    night.tend()
    [stays] = night.records.entries.entries(SCOPE, statuses=CURRENT).entries

    night.records.erasure.erase_entry(ACME, stays.id, siblings=False, now=NIGHT)

    assert night.records.entries.entries(SCOPE).entries == ()
    assert night.items() == {}


def test_the_collection_and_its_changes_go_together(night: Night) -> None:
    everything_at_once(night)
    night.tend()

    night.records.erasure.erase_collection(SCOPE, now=NIGHT)

    with reading(night.records.engine, EVERY_TENANT) as connection:
        assert connection.execute(select(ledger_changes)).all() == []
        assert connection.execute(select(collections)).all() == []
