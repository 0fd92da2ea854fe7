"""While a run is under way ingestion, corrections and erasure go on, and win over it."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from nights import Nights
from telling import NOON, entry_about, everything, note, texts

from actors.fakes import FakeTokenizer, FixedClock
from actors.records import Records, open_records
from pipeline.chat import ChatPurpose, Spent
from pipeline.deciding import Ruling
from pipeline.entries import Case, Entry, EntryChange, Status, Update, Writer
from pipeline.messages import Scope, TenantId
from pipeline.runs import SleepRun
from pipeline.settings import ConsolidationSettings, ForgettingSettings, ScratchpadSettings
from serve.sleep_after import AfterParts, Tender
from serve.sleep_limits import Limits

ACME = TenantId("acme")
HARBOUR = Scope(tenant=ACME, collection="harbour")
SETTINGS = ConsolidationSettings(neighbours=5, queue_length=5)
BOATS = 6


@pytest.fixture
def records(records_url: str) -> Iterator[Records]:
    """Six boats, and what was said of each later."""
    stores = open_records(records_url)
    stores.tenants.ensure_tenant(ACME, NOON)
    for place in range(BOATS):
        note(stores, HARBOUR, f"Lark{place} is a boat.", vector=vector(place))
        note(stores, HARBOUR, f"云雀 Lark{place} 是红色的。", vector=vector(place))
    yield stores
    stores.close()


def vector(place: int) -> np.ndarray:
    """One of its own for each boat."""
    found: np.ndarray = np.eye(BOATS, dtype=np.float32)[place]
    return found


class Merging:
    """Merges the target with its newest candidate; somebody does something at the first case."""

    name = "merging/1"

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile
        self.asked: list[str] = []

    async def ask(self, case: Case, *, tenant: TenantId) -> Ruling:
        """The union."""
        if not self.asked:
            self._meanwhile()
        self.asked.append(case.target.text)
        newest = max((one.entry for one in case.candidates), key=lambda one: one.order)
        decision = Update(
            text=f"{case.target.text} {newest.text}", used=(newest.id,), reason="adds"
        )
        spent = Spent(purpose=ChatPurpose.DECIDE, model="m", calls=1, tokens_in=1, tokens_out=1)
        return Ruling(decision=decision, calls=1, spent=(spent,))


class TendedNights:
    """Runs over the harbour, tending included."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._nights = Nights(records, HARBOUR, dim=BOATS)

    def __call__(self, decider: Merging) -> dict[str, int]:
        """What the run came to."""
        night = self._nights(decider)
        self._tend(night.run, night.clock)
        self._records.sleep.close_run(
            ACME, night.run.id, status="completed", totals={}, error=None, now=night.clock.now()
        )
        return night.counts

    def _tend(self, run: SleepRun, clock: FixedClock) -> None:
        after = AfterParts(
            open_store=lambda: self._records.tending,
            open_tokenizer=FakeTokenizer,
            open_clock=lambda: clock,
            scratchpad=ScratchpadSettings(),
            forgetting=ForgettingSettings(),
        )
        limits = Limits({ACME: run}, store=self._records.sleep, clock=clock)
        Tender(after, limits).tend(run, HARBOUR)


def correct(records: Records, word: str, text: str) -> None:
    """A user's correction of the entry about the word."""
    records.entries.revise(
        ACME,
        entry_about(records, HARBOUR, word),
        EntryChange(text=text),
        expected_version=1,
        vector=vector(0),
        model="tiny",
        why="corrected",
        now=NOON,
    )


def erase(records: Records, word: str) -> None:
    """The one hard delete."""
    gone = entry_about(records, HARBOUR, word)
    records.erasure.erase_entry(ACME, gone, siblings=False, now=NOON)


def entry(records: Records, word: str) -> Entry:
    """The entry about the word."""
    return records.entries.entry(ACME, entry_about(records, HARBOUR, word))[1]


def test_what_is_written_while_a_run_decides_wins_over_it_and_is_decided_the_next_night(
    records: Records,
) -> None:
    night, merging = TendedNights(records), Merging(lambda: None)

    def meanwhile() -> None:
        correct(records, "Lark0 is a boat", "Lark0 is a ferry.")
        note(records, HARBOUR, "Lark9 is new here.", vector=vector(5))

    first = night(Merging(meanwhile))
    kept = entry(records, "Lark0 is a ferry.")
    second = night(merging)

    assert (first["update"], first["skipped"]) == (BOATS - 1, 1)
    assert (kept.text, kept.written_by) == ("Lark0 is a ferry.", Writer.USER)
    assert "Lark0 is a ferry." in merging.asked
    assert any("Lark5" in asked for asked in merging.asked)
    assert second["update"] == len(merging.asked)
    assert night(idle := Merging(lambda: None))["targets"] == len(idle.asked) == 0


def test_what_is_erased_while_a_run_decides_is_merged_into_nothing_and_does_not_come_back(
    records: Records,
) -> None:
    night = TendedNights(records)

    def meanwhile() -> None:
        erase(records, "Lark1 是红色的")  # a candidate
        erase(records, "Lark2 is a boat")  # a target

    first = night(Merging(meanwhile))
    told = everything(records)
    second = night(Merging(lambda: None))

    assert first["update"] == BOATS - 2
    for erased in ("Lark1 是红色的", "Lark2 is a boat"):
        assert erased not in told
        assert erased not in everything(records)
    assert entry(records, "Lark1").text == "Lark1 is a boat."
    assert entry(records, "Lark2").text == "云雀 Lark2 是红色的。"
    assert second["targets"] == 0


def test_an_entry_that_a_user_deleted_meanwhile_is_not_resurrected(records: Records) -> None:
    night = TendedNights(records)

    def meanwhile() -> None:
        records.entries.revise(
            ACME,
            entry_about(records, HARBOUR, "Lark3 is a boat"),
            EntryChange(status=Status.ARCHIVED),
            expected_version=1,
            vector=None,
            model="tiny",
            why="put away",
            now=NOON,
        )

    first = night(Merging(meanwhile))
    night(Merging(lambda: None))

    gone = entry(records, "Lark3 is a boat")
    assert (first["skipped"], gone.status, gone.text) == (1, Status.ARCHIVED, "Lark3 is a boat.")
    assert len([text for text in texts(records, HARBOUR) if "Lark3 is a boat." in text]) == 1
