"""The operator that tends, a row per collection; over the real record store, without Ray."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from telling import NOON, remember

from actors.fakes import FakeEmbedder, FakeTokenizer, FixedClock
from actors.records import Records, open_records
from actors.rules import RuleDecider
from pipeline.errors import StoreError
from pipeline.ids import RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import SleepRun, Stop
from pipeline.settings import ForgettingSettings, ScratchpadSettings
from pipeline.sleep.tending import Kept
from serve.sleep_after import AfterParts, Tended, Untended
from serve.sleep_outcome import outcome_of
from serve.sleep_rows import items, table
from serve.sleep_stages import Broken, RunPlan, SleepParts, Stopped
from serve.sleep_tending import Tend, tend_all

ACME = TenantId("acme")
HARBOUR, LAKE = (Scope(tenant=ACME, collection=name) for name in ("harbour", "湖"))


@pytest.fixture
def records(records_url: str) -> Iterator[Records]:
    stores = open_records(records_url)
    stores.tenants.ensure_tenant(ACME, NOON)
    for scope in (HARBOUR, LAKE):
        remember(stores, scope, "Ida has a boat.")
        remember(stores, scope, "Ida has the boat!")
    yield stores
    stores.close()


class Picky:
    """A store that cannot read one collection."""

    def __init__(self, inner: Any, unreadable: Scope) -> None:
        self._inner = inner
        self._unreadable = unreadable

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def kept(self, scope: Scope, *, run: RunId) -> Kept:
        """The collection, unless it is that one."""
        if scope == self._unreadable:
            raise StoreError("the page is damaged")
        kept: Kept = self._inner.kept(scope, run=run)
        return kept


def parts_of(records: Records, **after: Any) -> SleepParts:
    """What a run works with, at noon."""
    plain = AfterParts(
        open_store=lambda: records.tending,
        open_tokenizer=FakeTokenizer,
        open_clock=lambda: FixedClock(NOON),
        scratchpad=ScratchpadSettings(),
        forgetting=ForgettingSettings(),
    )
    return SleepParts(
        open_store=lambda: records.sleep,
        open_decider=RuleDecider,
        open_embedder=FakeEmbedder,
        open_clock=lambda: FixedClock(NOON),
        model="tiny",
        min_similarity=0.8,
        after=replace(plain, **after),
    )


def plan(records: Records, **limits: Any) -> RunPlan:
    """A run of the tenant."""
    run = SleepRun(
        id=RunId("run"),
        tenant=ACME,
        window_start=NOON,
        dry_run=False,
        status="running",
        started_at=NOON,
        **limits,
    )
    return RunPlan(run=records.sleep.open_run(run))


def tended(plan: RunPlan, parts: SleepParts) -> list[Any]:
    """What became of both collections."""
    rows = table(Untended(scope=scope) for scope in (HARBOUR, LAKE))
    return list(items(Tend({ACME: plan}, parts)(rows)))


def test_a_collection_that_cannot_be_tended_is_named_and_does_not_stop_the_others(
    records: Records,
) -> None:
    parts = parts_of(records, open_store=lambda: Picky(records.tending, HARBOUR))

    broken, done = tended(plan(records), parts)

    assert broken == Broken(scope=HARBOUR, reason="the page is damaged")
    assert isinstance(done, Tended)
    assert done.counts["merged"] == 1
    outcome = outcome_of([broken, done], tends=True)
    assert (outcome.totals["merged"], outcome.stop) == (1, None)
    assert "1 of 2 collections were not consolidated: harbour: the page" in str(outcome.error)


def test_nothing_is_tended_once_the_window_is_over_and_all_of_it_is_left(records: Records) -> None:
    late, parts = plan(records, deadline=NOON - timedelta(seconds=1)), parts_of(records)
    left = [Stopped(scope=scope, stop=Stop.WINDOW) for scope in (HARBOUR, LAKE)]

    in_worker = tended(late, parts)
    in_driver = tend_all({ACME: late}, parts, left=frozenset(), workers=1, cpus=0.1, name="tending")

    assert in_worker == in_driver == left
    outcome = outcome_of([*left, *in_driver], tends=True)
    assert (outcome.stop, outcome.totals["left"]) == (Stop.WINDOW, 2)
    assert records.tending.changes(ACME, RunId("run")) == []


def test_what_a_run_left_undecided_is_not_tended_by_it(records: Records) -> None:
    left = frozenset({HARBOUR, LAKE})

    found = tend_all(
        {ACME: plan(records)}, parts_of(records), left=left, workers=1, cpus=0.1, name="tending"
    )

    assert found == []
