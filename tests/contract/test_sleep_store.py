"""The laws of a sleep store, over SQLite and, where one is named, PostgreSQL."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import Engine, insert, select, update

from actors.records.engine import EVERY_TENANT, open_engine, reading, writing
from actors.records.erasure import SqlErasure
from actors.records.rows import entry_of, entry_values
from actors.records.sleep import SqlSleepStore
from actors.records.tables import (
    collections,
    entries,
    entry_vectors,
    entry_versions,
    index_ops,
    tenants,
)
from pipeline.entries import Decision, Delete, Entry, Ignore, Kind, OrderKey, Status, Update, Writer
from pipeline.errors import ConfigError, Conflict, InputError, NotFound
from pipeline.ids import EntryId, MessageId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import (
    EntryFilter,
    LedgerItem,
    LedgerRow,
    RunOptions,
    SleepRun,
    Stop,
    Trigger,
    UndoItem,
    Weighed,
)

MODEL = "tiny"
NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
NIGHT = datetime(2024, 4, 1, 2, tzinfo=UTC)
EAST = np.array([1.0, 0.0], dtype=np.float32)
NORTH = np.array([0.0, 1.0], dtype=np.float32)


class Home:
    """A tenant with one collection, written to as ingestion and users do."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.store = SqlSleepStore(engine)
        self.tenant = TenantId(f"t-{uuid.uuid4()}")
        self.scope = Scope(tenant=self.tenant, collection="garden")
        self._runs = 0
        with writing(engine, EVERY_TENANT) as connection:
            connection.execute(
                insert(tenants).values(name=self.tenant, created_at=NOON, settings={})
            )
            connection.execute(
                insert(collections).values(
                    tenant=self.tenant, name="garden", created_at=NOON, settings={}
                )
            )

    def say(self, name: str, text: str, *, day: int, vector: NDArray[np.float32] = EAST) -> EntryId:
        """A new entry written by ingestion."""
        said_at = NOON + timedelta(days=day)
        entry = Entry(
            id=EntryId(f"{self.tenant}/{name}"),
            version=1,
            text=text,
            kind=Kind.FACT,
            status=Status.ACTIVE,
            speaker="Ola",
            said_at=said_at,
            zone="UTC",
            language="en",
            order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
            valid_from=said_at,
            sources=(MessageId(f"m{day}"),),
            written_by=Writer.INGEST,
            written_at=said_at,
        )
        self._put(entry, vector, is_first=True)
        return entry.id

    def correct(self, entry: EntryId, text: str) -> None:
        """A user's correction of an entry."""
        old = self.entry(entry)
        self._put(
            replace(old, text=text, version=old.version + 1, written_by=Writer.USER),
            EAST,
            is_first=False,
        )

    def _put(self, entry: Entry, vector: NDArray[np.float32], *, is_first: bool) -> None:
        place = {"tenant": self.tenant, "collection": "garden"}
        values = entry_values(entry)
        with writing(self.engine, EVERY_TENANT) as connection:
            where = (collections.c.tenant == self.tenant, collections.c.name == "garden")
            connection.execute(
                update(collections).where(*where).values(writes=collections.c.writes + 1)
            )
            new_at = connection.execute(select(collections.c.writes).where(*where)).scalar_one()
            values_now = {"version": entry.version, "new_at": new_at, **values}
            connection.execute(
                insert(entries).values(**place, id=entry.id, **values_now)
                if is_first
                else update(entries).where(entries.c.id == entry.id).values(**values_now)
            )
            connection.execute(
                insert(entry_versions).values(
                    **place, entry=entry.id, version=entry.version, why="said", **values
                )
            )
            connection.execute(
                insert(entry_vectors).values(
                    **place, entry=entry.id, version=entry.version, model=MODEL, vector=vector
                )
            )

    def entry(self, entry: EntryId) -> Entry:
        """The entry in its present version."""
        with reading(self.engine, self.tenant) as connection:
            return entry_of(connection.execute(select(entries).where(entries.c.id == entry)).one())

    def versions(self, entry: EntryId) -> list[tuple[int, str, str | None]]:
        """Number, writer and run of every version."""
        columns = entry_versions.c
        query = select(columns.version, columns.written_by, columns.run)
        with reading(self.engine, self.tenant) as connection:
            rows = connection.execute(query.where(columns.entry == entry).order_by(columns.version))
            return [(row.version, row.written_by, row.run) for row in rows]

    def vector(self, entry: EntryId) -> list[float]:
        """The vector of the entry's present version."""
        columns = entry_vectors.c
        with reading(self.engine, self.tenant) as connection:
            found: NDArray[np.float32] = connection.execute(
                select(columns.vector).where(
                    columns.entry == entry, columns.version == self.entry(entry).version
                )
            ).scalar_one()
        return found.tolist()

    def outbox(self) -> list[str]:
        """The entries that the index has still to follow."""
        query = select(index_ops.c.entry).where(index_ops.c.tenant == self.tenant)
        with reading(self.engine, self.tenant) as connection:
            return [row.entry for row in connection.execute(query.order_by(index_ops.c.id))]

    def open(self, *, dry_run: bool = False, is_filtered: bool = False) -> RunId:
        """A new run of its own window."""
        self._runs += 1
        start = NIGHT + timedelta(days=self._runs)
        run = _run(self.tenant, start, dry_run=dry_run)
        options = RunOptions(is_filtered=is_filtered)
        return self.store.open_run(replace(run, options=options)).id

    def mine(self, runs: Sequence[SleepRun]) -> list[SleepRun]:
        """Those of this tenant."""
        return [run for run in runs if run.tenant == self.tenant]

    def close(self, run: RunId) -> None:
        """Ends the run."""
        self.store.close_run(self.tenant, run, status="completed", totals={}, error=None, now=NIGHT)

    def record(
        self, run: RunId, *items: LedgerItem, through: int | None = None, dry_run: bool = False
    ) -> list[LedgerRow]:
        """Records items as of the present snapshot."""
        seen = self.store.snapshot(self.scope, model=MODEL).through
        return self.store.record(
            run,
            self.scope,
            items,
            through=seen if through is None else through,
            model=MODEL,
            dry_run=dry_run,
            now=NIGHT,
        )

    def item(
        self, target: EntryId, candidates: Sequence[EntryId], decision: Decision | None
    ) -> LedgerItem:
        """A decision on the present versions."""
        weighed = [
            Weighed(entry=one, version=self.entry(one).version, similarity=0.9)
            for one in candidates
        ]
        return LedgerItem(
            target=target,
            target_version=self.entry(target).version,
            candidates=tuple(weighed),
            decision=decision,
            vector=NORTH if isinstance(decision, Update) else None,
            failure=None if decision else "the decider timed out",
            decider="rules",
        )

    def night(self, *items: LedgerItem) -> RunId:
        """A completed run with these decisions."""
        run = self.open()
        self.record(run, *items)
        self.close(run)
        return run


def _one_later(item: LedgerItem) -> LedgerItem:
    """The item as it rests on candidates that the run itself has changed before."""
    later = tuple(replace(one, version=one.version + 1) for one in item.candidates)
    return replace(item, candidates=later)


def _run(tenant: TenantId, start: datetime, *, dry_run: bool = False) -> SleepRun:
    return SleepRun(
        id=RunId(str(uuid.uuid4())),
        tenant=tenant,
        window_start=start,
        dry_run=dry_run,
        status="running",
        started_at=start,
    )


def _merge(used: EntryId, text: str = "Ola grows beans and peas.") -> Update:
    return Update(text=text, used=(used,), reason="adds")


def _drop(newer: EntryId) -> Delete:
    return Delete(superseded_by=newer, reason="replaced")


@pytest.fixture
def home(records_url: str) -> Iterator[Home]:
    engine = open_engine(records_url)
    yield Home(engine)
    engine.dispose()


# Runs -------------------------------------------------------------------------------------------


def test_one_window_has_one_run_and_any_number_of_previews_beside_it(home: Home) -> None:
    first = home.store.open_run(_run(home.tenant, NIGHT))
    preview = home.store.open_run(_run(home.tenant, NIGHT, dry_run=True))

    with pytest.raises(Conflict, match="window"):
        home.store.open_run(_run(home.tenant, NIGHT))

    assert {run.id for run in home.store.runs(home.tenant)} == {first.id, preview.id}


def test_a_run_of_an_unknown_tenant_is_refused(home: Home) -> None:
    with pytest.raises(NotFound, match="nobody"):
        home.store.open_run(_run(TenantId("nobody"), NIGHT))


def test_a_closed_run_says_how_it_ended_and_runs_come_newest_first(home: Home) -> None:
    first, second = home.open(), home.open()

    closed = home.store.close_run(
        home.tenant, first, status="failed", totals={"targets": 3}, error="no model", now=NIGHT
    )

    assert (closed.status, closed.totals, closed.error) == ("failed", {"targets": 3}, "no model")
    assert closed.finished_at == NIGHT
    assert [run.id for run in home.store.runs(home.tenant)] == [second, first]
    assert [run.id for run in home.store.runs(home.tenant, limit=1)] == [second]


def test_a_run_is_found_by_its_own_tenant_only(home: Home) -> None:
    run, stranger = home.open(), Home(home.engine)

    assert home.store.run(home.tenant, run).id == run
    with pytest.raises(NotFound):
        home.store.run(stranger.tenant, run)
    with pytest.raises(NotFound):
        home.store.record(run, stranger.scope, [], through=0, model=MODEL, dry_run=False, now=NIGHT)
    assert stranger.store.due(stranger.tenant) == []


def test_runs_of_one_id_in_two_tenants_are_undone_apart(home: Home) -> None:
    beans, _, _, run = _garden(home)
    stranger = Home(home.engine)
    stranger.store.open_run(replace(_run(stranger.tenant, NIGHT), id=run))
    stranger.close(run)

    undone = stranger.store.undo(stranger.tenant, run, now=NIGHT)

    assert undone == []
    assert home.store.run(home.tenant, run).undone is False
    assert home.entry(beans).version == 2


# What is due ------------------------------------------------------------------------------------


def test_a_collection_is_due_until_a_run_has_seen_its_new_entries(home: Home) -> None:
    home.say("beans", "Ola grows beans.", day=1)
    home.say("peas", "Ola grows peas.", day=2)

    before = home.store.due(home.tenant)
    home.night()

    assert [(one.scope, one.entries) for one in before] == [(home.scope, 2)]
    assert home.store.due(home.tenant) == []
    assert home.store.due(home.tenant, collection="elsewhere") == []


def test_a_snapshot_has_the_entries_in_their_order_with_their_vectors(home: Home) -> None:
    peas = home.say("peas", "Ola grows peas.", day=2, vector=NORTH)
    beans = home.say("beans", "Ola grows beans.", day=1)
    home.night()
    corn = home.say("corn", "奥拉种玉米。", day=0)

    seen = home.store.snapshot(home.scope, model=MODEL)

    assert [entry.id for entry in seen.entries] == [corn, beans, peas]
    assert seen.is_new.tolist() == [True, False, False]
    assert seen.vectors.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert (seen.through, seen.retry) == (3, frozenset())


def test_what_is_written_after_the_snapshot_is_due_next_time(home: Home) -> None:
    home.say("beans", "Ola grows beans.", day=1)
    through = home.store.snapshot(home.scope, model=MODEL).through
    late = home.say("peas", "Ola grows peas.", day=2)

    home.record(home.open(), through=through)

    seen = home.store.snapshot(home.scope, model=MODEL)
    assert [e.id for e, new in zip(seen.entries, seen.is_new, strict=True) if new] == [late]
    assert len(home.store.due(home.tenant)) == 1


def test_an_earlier_run_that_writes_late_does_not_make_old_entries_new(home: Home) -> None:
    home.say("beans", "Ola grows beans.", day=1)
    stale = home.open()
    home.night()

    home.record(stale, through=0)

    assert home.store.due(home.tenant) == []


def test_a_snapshot_of_another_model_or_collection_is_refused(home: Home) -> None:
    home.say("beans", "Ola grows beans.", day=1)

    with pytest.raises(ConfigError, match="1 entries of collection garden have no vector of big"):
        home.store.snapshot(home.scope, model="big")
    with pytest.raises(NotFound):
        home.store.snapshot(Scope(tenant=home.tenant, collection="attic"), model=MODEL)


def test_an_empty_collection_has_an_empty_snapshot(home: Home) -> None:
    seen = home.store.snapshot(home.scope, model=MODEL)

    assert (seen.entries, len(seen.vectors), len(seen.is_new)) == ((), 0, 0)


# Recording --------------------------------------------------------------------------------------


def test_an_update_writes_a_version_with_the_vector_of_the_new_text(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    run = home.open()

    (row,) = home.record(run, home.item(beans, [peas], _merge(peas)))

    after = home.entry(beans)
    assert (after.text, after.version, after.written_by) == (row.text_after, 2, Writer.SLEEP)
    assert (after.said_at, after.valid_from) == (NOON + timedelta(days=2), NOON + timedelta(days=1))
    assert home.vector(beans) == [0, 1]
    assert home.versions(beans) == [(1, "ingest", None), (2, "sleep", run)]
    assert home.outbox() == [beans]
    assert (row.state, row.action, row.text_before) == ("applied", "update", "Ola grows beans.")
    assert (row.version_after, row.decider, row.reason) == (2, "rules", "adds")
    assert home.store.ledger(home.tenant, run) == [row]


def test_invariant_5_a_delete_keeps_the_entry_and_its_vector_with_a_link(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    corn = home.say("corn", "Ola grows corn instead of beans.", day=2)

    (row,) = home.record(home.open(), home.item(beans, [corn], _drop(corn)))

    after = home.entry(beans)
    assert (after.status, after.superseded_by) == (Status.OUTDATED, corn)
    assert (after.valid_to, after.text) == (NOON + timedelta(days=2), "Ola grows beans.")
    assert home.vector(beans) == [1, 0]
    assert (row.state, row.action, row.text_after) == ("applied", "delete", None)
    kept = home.store.snapshot(home.scope, model=MODEL).entries
    assert [entry.id for entry in kept] == [corn]


def test_ignored_and_failed_decisions_change_no_entry(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn.", day=3)

    rows = home.record(
        home.open(),
        home.item(peas, [corn], Ignore(reason="another crop")),
        home.item(beans, [corn], None),
    )

    assert [(row.state, row.action, row.note) for row in rows] == [
        ("ignored", "ignore", None),
        ("failed", "none", "the decider timed out"),
    ]
    assert home.outbox() == []


@pytest.mark.parametrize("changed", ["beans", "peas"])
def test_invariant_7_a_decision_on_a_changed_entry_is_skipped_and_due_again(
    home: Home, changed: str
) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    item = home.item(beans, [peas], _merge(peas))
    through = home.store.snapshot(home.scope, model=MODEL).through
    home.correct({"beans": beans, "peas": peas}[changed], "Ola grows nothing.")

    (row,) = home.record(home.open(), item, through=through)

    assert row.state == "skipped"
    assert row.note is not None
    assert "version 2, decided at version 1" in row.note
    assert home.entry(beans).version == (2 if changed == "beans" else 1)
    assert home.store.snapshot(home.scope, model=MODEL).retry == {(beans, peas)}


def test_a_change_of_an_unused_candidate_does_not_hold_up_the_decision(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn.", day=3)
    item = home.item(beans, [peas, corn], _merge(peas))
    home.correct(corn, "Ola grows maize.")

    (row,) = home.record(home.open(), item)

    assert row.state == "applied"


def test_an_entry_changed_by_an_earlier_item_of_the_run_counts_as_changed(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn, no peas.", day=3)

    rows = home.record(
        home.open(),
        home.item(peas, [corn], _drop(corn)),
        home.item(beans, [peas], _merge(peas)),
    )

    assert [row.state for row in rows] == ["applied", "skipped"]
    assert home.entry(beans).text == "Ola grows beans."
    assert home.store.due(home.tenant) == []  # the candidate no longer holds: nothing to repeat


def test_a_decision_that_uses_no_candidate_of_its_own_fails(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)

    (row,) = home.record(home.open(), home.item(beans, [peas], _drop(EntryId("other"))))

    assert (row.state, row.note) == ("failed", "expected a candidate, got entry other")


def test_an_update_without_a_vector_writes_nothing(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    item = replace(home.item(beans, [peas], _merge(peas)), vector=None)
    run = home.open()

    with pytest.raises(InputError, match="vector"):
        home.record(run, item)

    assert home.entry(beans).version == 1
    assert home.store.ledger(home.tenant, run) == []


def test_a_repeated_record_returns_the_first_rows_and_applies_nothing(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    run, item = home.open(), home.item(beans, [peas], _merge(peas))
    first = home.record(run, item)

    again = home.record(run, replace(item, decision=Ignore(reason="second thoughts")))

    assert again == first == home.store.ledger(home.tenant, run)
    assert home.entry(beans).version == 2


def test_what_came_in_after_a_run_had_recorded_its_collection_stays_due(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas too.", day=2)
    run = home.open()
    first = home.record(run, home.item(beans, [peas], Ignore(reason="unsure")))
    corn = home.say("corn", "奥拉也种玉米。", day=3)

    again = home.record(run, home.item(beans, [peas, corn], _merge(corn)))

    assert again == first
    assert home.entry(beans).text == "Ola grows beans."
    assert home.store.due(home.tenant, but_of=run) == []
    assert [one.scope for one in home.store.due(home.tenant)] == [home.scope]
    assert home.store.counts(home.tenant, run) == {
        "targets": 1,
        "update": 0,
        "delete": 0,
        "ignore": 1,
        "skipped": 0,
        "failed": 0,
        "absorbed": 0,
        "collections": 1,
    }


def test_a_dry_run_leaves_rows_and_nothing_else(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    run = home.open(dry_run=True)

    rows = home.record(
        run,
        replace(home.item(beans, [peas], _merge(peas)), vector=None),
        dry_run=True,
    )

    assert [(row.state, row.text_after) for row in rows] == [("dry", "Ola grows beans and peas.")]
    assert home.entry(beans).version == 1
    assert home.outbox() == []
    assert len(home.store.due(home.tenant)) == 1


# What was left open -----------------------------------------------------------------------------


def test_a_failed_decision_is_due_until_a_later_run_decides_it(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    home.night(home.item(beans, [peas], None))
    retry = home.store.snapshot(home.scope, model=MODEL)

    due = home.store.due(home.tenant)
    home.night(home.item(beans, [peas], Ignore(reason="another crop")))

    assert retry.retry == {(beans, peas)}
    assert not retry.is_new.any()
    assert len(due) == 1
    assert home.store.due(home.tenant) == []


def test_a_failed_decision_whose_candidate_was_deleted_is_not_due(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn, no peas.", day=3)
    home.night(home.item(peas, [corn], _drop(corn)), home.item(beans, [peas], None))

    assert home.store.due(home.tenant) == []


def test_a_dry_run_does_not_settle_what_was_left_open(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    home.night(home.item(beans, [peas], None))

    preview = home.open(dry_run=True)
    home.record(preview, home.item(beans, [peas], Ignore(reason="another crop")), dry_run=True)

    assert len(home.store.due(home.tenant)) == 1


# Undo and redo ----------------------------------------------------------------------------------


def _done(items: Sequence[UndoItem]) -> Mapping[EntryId, bool]:
    return {item.entry: item.done for item in items}


def _garden(home: Home) -> tuple[EntryId, EntryId, EntryId, RunId]:
    """Beans merged with peas, corn replaced by rice."""
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn.", day=3)
    rice = home.say("rice", "Ola grows rice instead of corn.", day=4)
    run = home.night(home.item(corn, [rice], _drop(rice)), home.item(beans, [peas], _merge(peas)))
    return beans, peas, corn, run


def test_undo_restores_texts_statuses_order_and_vectors_as_new_versions(home: Home) -> None:
    beans, _, corn, run = _garden(home)

    items = home.store.undo(home.tenant, run, now=NIGHT)

    assert [(item.entry, item.done) for item in items] == [(beans, True), (corn, True)]
    restored, alive = home.entry(beans), home.entry(corn)
    assert (restored.text, restored.version) == ("Ola grows beans.", 3)
    assert (restored.written_by, restored.order.sequence) == (Writer.UNDO, 1)
    assert (alive.status, alive.superseded_by, alive.valid_to) == (Status.ACTIVE, None, None)
    assert home.vector(beans) == [1, 0]
    assert home.versions(beans)[-1] == (3, "undo", run)
    assert {row.state for row in home.store.ledger(home.tenant, run)} == {"undone"}
    assert home.store.run(home.tenant, run).undone
    assert home.outbox() == [corn, beans, beans, corn]


def test_an_undone_run_is_not_due_and_undoing_twice_changes_nothing(home: Home) -> None:
    beans, _, _, run = _garden(home)
    home.store.undo(home.tenant, run, now=NIGHT)

    again = home.store.undo(home.tenant, run, now=NIGHT)

    assert again == []
    assert home.entry(beans).version == 3
    assert home.store.due(home.tenant) == []


def test_what_an_undone_run_skipped_is_not_due_either(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "Ola grows corn, no peas.", day=3)
    run = home.night(
        home.item(peas, [corn], _drop(corn)), home.item(beans, [peas, corn], _merge(peas))
    )
    open_before = home.store.snapshot(home.scope, model=MODEL).retry

    home.store.undo(home.tenant, run, now=NIGHT)

    assert open_before == {(beans, corn)}
    assert home.store.due(home.tenant) == []


def test_redo_applies_the_ledger_again_and_can_be_undone_again(home: Home) -> None:
    beans, _, corn, run = _garden(home)
    after_run = home.entry(beans)
    home.store.undo(home.tenant, run, now=NIGHT)

    redone = home.store.redo(home.tenant, run, now=NIGHT)
    after_redo = home.entry(beans)
    undone = home.store.undo(home.tenant, run, now=NIGHT)

    assert [(item.entry, item.done) for item in redone] == [(corn, True), (beans, True)]
    assert (after_redo.text, after_redo.order) == (after_run.text, after_run.order)
    assert (after_redo.version, after_redo.written_by) == (4, Writer.SLEEP)
    assert _done(undone) == {beans: True, corn: True}
    assert home.entry(corn).status is Status.ACTIVE
    assert home.store.run(home.tenant, run).undone


def test_redo_applies_what_rests_on_an_entry_that_the_run_itself_had_changed(home: Home) -> None:
    beans = home.say("beans", "Ola grows beans.", day=1)
    peas = home.say("peas", "Ola grows peas.", day=2)
    corn = home.say("corn", "奥拉也种玉米。", day=3)
    run = home.open()
    second = _one_later(home.item(beans, [peas], _merge(peas)))
    home.record(run, home.item(peas, [corn], _merge(corn)), second)
    home.close(run)
    after_run = home.entry(beans).text, home.entry(peas).text

    for _ in range(2):
        undone = home.store.undo(home.tenant, run, now=NIGHT)
        redone = home.store.redo(home.tenant, run, now=NIGHT)

        assert _done(undone) == _done(redone) == {beans: True, peas: True}
        assert (home.entry(beans).text, home.entry(peas).text) == after_run


def test_redo_gives_back_the_vector_of_the_merged_text(home: Home) -> None:
    beans, _, _, run = _garden(home)
    home.store.undo(home.tenant, run, now=NIGHT)
    home.store.redo(home.tenant, run, now=NIGHT)

    assert home.vector(beans) == [0, 1]
    assert not home.store.run(home.tenant, run).undone
    assert home.store.due(home.tenant) == []


def test_undo_refuses_only_what_was_changed_since(home: Home) -> None:
    beans, _, corn, run = _garden(home)
    home.correct(beans, "Ola grows beans and sweet peas.")

    items = home.store.undo(home.tenant, run, now=NIGHT)

    assert _done(items) == {beans: False, corn: True}
    assert items[0].refused == "changed since by user: expected version 2, got 3"
    assert home.entry(beans).text == "Ola grows beans and sweet peas."


def test_undo_refuses_what_a_later_run_rests_on(home: Home) -> None:
    beans, peas, corn, run = _garden(home)
    roses = home.say("roses", "Ola grows roses.", day=0)
    later = home.night(home.item(roses, [beans], _merge(beans, "Ola grows roses and beans.")))

    refused = home.store.undo(home.tenant, run, now=NIGHT)
    home.store.undo(home.tenant, later, now=NIGHT)
    taken_back = home.store.undo(home.tenant, run, now=NIGHT)

    assert refused[0].refused == f"run {later} decided on entry {roses} with it"
    assert _done(refused) == {beans: False, corn: True}
    assert _done(taken_back) == {beans: True}
    assert home.entry(peas).version == 1


def test_redo_refuses_where_the_entry_or_its_candidate_changed(home: Home) -> None:
    beans, peas, corn, run = _garden(home)
    home.store.undo(home.tenant, run, now=NIGHT)
    home.correct(peas, "Ola grows sugar peas.")
    home.correct(corn, "Ola grows sweetcorn.")

    items = home.store.redo(home.tenant, run, now=NIGHT)

    assert _done(items) == {beans: False, corn: False}
    assert {item.entry: item.refused for item in items} == {
        corn: "changed since by user: expected version 3, got 4",
        beans: f"candidate {peas} changed since: expected version 1",
    }
    assert home.store.run(home.tenant, run).undone


def test_redo_refuses_where_the_candidate_was_deleted_meanwhile(home: Home) -> None:
    beans, peas, _, run = _garden(home)
    rice = EntryId(f"{home.tenant}/rice")
    home.store.undo(home.tenant, run, now=NIGHT)
    home.night(home.item(peas, [rice], _drop(rice)))

    items = home.store.redo(home.tenant, run, now=NIGHT)

    assert not _done(items)[beans]


def test_a_running_or_unknown_run_is_not_undone(home: Home) -> None:
    run = home.open()

    with pytest.raises(Conflict, match="still running"):
        home.store.undo(home.tenant, run, now=NIGHT)
    with pytest.raises(NotFound):
        home.store.redo(home.tenant, RunId("no-such-run"), now=NIGHT)


# Replies ----------------------------------------------------------------------------------------


def test_the_first_reply_to_a_prompt_stays(home: Home) -> None:
    keys = [str(uuid.uuid4()) for _ in range(4)]
    replies = {
        keys[0]: Ignore(reason="无关"),
        keys[1]: Update(text="两箱蜂", used=(EntryId("a"), EntryId("b")), reason="adds"),
        keys[2]: Delete(superseded_by=EntryId("c"), reason="sold"),
    }
    home.store.cache_decisions(replies, scope=home.scope, through=0, now=NIGHT)

    other = {keys[0]: Delete(superseded_by=EntryId("z"), reason="")}
    home.store.cache_decisions(other, scope=home.scope, through=0, now=NIGHT)
    home.store.cache_decisions({}, scope=home.scope, through=0, now=NIGHT)

    assert home.store.cached_decisions(keys, scope=home.scope) == replies
    elsewhere = replace(home.scope, collection="another")
    assert home.store.cached_decisions(keys, scope=elsewhere) == {}


# Jobs -------------------------------------------------------------------------------------------


def test_a_run_is_read_back_as_it_was_opened(home: Home) -> None:
    run = replace(
        _run(home.tenant, NIGHT),
        trigger=Trigger.IDLE,
        options=RunOptions(collection="garden", full=True, min_similarity=0.8, absorb=True),
        deadline=NIGHT + timedelta(hours=2),
        max_tokens=10**12,
        seen_at=NIGHT,
    )

    home.store.open_run(run)

    assert home.store.run(home.tenant, run.id) == run


def test_a_silent_job_is_taken_over_by_one_and_its_late_end_is_not_written(home: Home) -> None:
    run = home.store.open_run(replace(_run(home.tenant, NIGHT), seen_at=NIGHT))
    later = NIGHT + timedelta(minutes=2)

    early = home.mine(home.store.take_over(silent_since=NIGHT, now=later))
    first = home.mine(home.store.take_over(silent_since=later, now=later))
    second = home.mine(home.store.take_over(silent_since=later, now=later))
    home.store.close_run(
        home.tenant, run.id, status="failed", totals={}, error="late", attempt=1, now=later
    )

    assert (early, second) == ([], [])
    assert [(one.id, one.attempt, one.seen_at) for one in first] == [(run.id, 2, later)]
    assert home.store.run(home.tenant, run.id).status == "running"
    with pytest.raises(Conflict, match="job 1"):
        home.store.beat(home.tenant, run.id, attempt=1, now=later)


def test_a_job_that_says_it_lives_keeps_its_run(home: Home) -> None:
    run = home.store.open_run(replace(_run(home.tenant, NIGHT), seen_at=NIGHT))
    later = NIGHT + timedelta(minutes=2)

    home.store.beat(home.tenant, run.id, attempt=1, now=later)

    assert home.mine(home.store.take_over(silent_since=later, now=later)) == []


def test_tokens_of_a_run_add_up_and_it_says_why_it_stopped(home: Home) -> None:
    run = home.open()

    sums = [home.store.spend(home.tenant, run, tokens=tokens) for tokens in (70, 50)]
    closed = home.store.close_run(
        home.tenant,
        run,
        status="stopped",
        totals={"left": 1},
        error=None,
        stop=Stop.TOKENS,
        attempt=1,
        now=NIGHT,
    )

    assert sums == [70, 120]
    assert (closed.tokens, closed.status, closed.stop) == (120, "stopped", Stop.TOKENS)


def test_a_run_that_has_ended_ends_no_second_time(home: Home) -> None:
    run = home.open()
    home.close(run)

    again = home.store.close_run(
        home.tenant, run, status="failed", totals={}, error="twice", now=NIGHT
    )

    assert (again.status, again.error) == ("completed", None)


# Some entries -----------------------------------------------------------------------------------


def test_a_snapshot_of_some_entries_holds_those_alone(home: Home) -> None:
    home.say("a", "Ola grows beans.", day=1)

    def seen(only: EntryFilter) -> int:
        return len(home.store.snapshot(home.scope, model=MODEL, only=only).entries)

    assert seen(EntryFilter(kinds=(Kind.FACT, Kind.TASK), speakers=("Ola",))) == 1
    assert seen(EntryFilter(kinds=(Kind.TASK,))) == 0
    assert seen(EntryFilter(speakers=("Ida",))) == 0
    assert seen(EntryFilter(topics=("boats",))) == 0


def test_a_run_over_some_entries_leaves_its_collection_due_and_its_pairs_settled(
    home: Home,
) -> None:
    target, newer = home.say("a", "beans", day=1), home.say("b", "peas", day=2)
    run = home.open(is_filtered=True)

    home.record(run, home.item(target, [newer], _merge(newer)))
    home.close(run)

    pair = frozenset({(target, newer)})
    seen = home.store.snapshot(home.scope, model=MODEL)
    assert [one.scope for one in home.store.due(home.tenant)] == [home.scope]
    assert (seen.is_new.tolist(), seen.settled) == ([True, True], pair)
    home.store.undo(home.tenant, run, now=NIGHT)
    assert home.store.snapshot(home.scope, model=MODEL).settled == pair
    home.correct(newer, "sweet peas")
    assert home.store.snapshot(home.scope, model=MODEL).settled == frozenset()


def test_a_run_over_some_entries_does_not_settle_what_was_left_open(home: Home) -> None:
    target, newer, third = (home.say(name, name, day=day) for day, name in enumerate("abc", 1))
    home.night(home.item(target, [newer, third], None))
    run = home.open(is_filtered=True)

    home.record(run, home.item(target, [newer], Ignore(reason="another matter")))
    home.close(run)

    seen = home.store.snapshot(home.scope, model=MODEL)
    assert seen.retry == frozenset({(target, newer), (target, third)})


def test_a_full_run_takes_collections_that_are_not_due(home: Home) -> None:
    home.say("a", "beans", day=1)
    home.night()

    assert home.store.due(home.tenant) == []
    assert [one.scope for one in home.store.due(home.tenant, is_full=True)] == [home.scope]


# Absorbed ---------------------------------------------------------------------------------------


def _absorbing(home: Home) -> tuple[EntryId, EntryId, RunId]:
    """A night whose merge let the candidate rest, which was itself updated before."""
    target, newer, newest = (
        home.say(name, text, day=day)
        for day, (name, text) in enumerate([("a", "beans"), ("b", "peas"), ("c", "herbs")], 1)
    )
    run = home.open()
    item = replace(
        home.item(target, [newer], _merge(newer, "beans, peas and herbs")), absorbed=(newer,)
    )
    first = home.item(newer, [newest], _merge(newest, "peas and herbs"))
    home.record(run, first, _one_later(item))
    home.close(run)
    return target, newer, run


def test_an_absorbed_candidate_is_outdated_with_a_link_and_its_vector(home: Home) -> None:
    target, newer, run = _absorbing(home)

    entry = home.entry(newer)

    assert (entry.status, entry.superseded_by, entry.text) == (
        Status.OUTDATED,
        target,
        "peas and herbs",
    )
    assert home.vector(newer) == pytest.approx([0, 1])
    assert home.outbox().count(newer) == 2
    assert [row.absorbed for row in home.store.ledger(home.tenant, run)] == [(), (newer,)]
    assert newer not in {one.id for one in home.store.snapshot(home.scope, model=MODEL).entries}


def test_undo_and_redo_cover_what_was_absorbed(home: Home) -> None:
    target, newer, run = _absorbing(home)

    undone = home.store.undo(home.tenant, run, now=NIGHT)
    after_undo = home.entry(target).text, home.entry(newer).text, home.entry(newer).status
    redone = home.store.redo(home.tenant, run, now=NIGHT)
    after_redo = home.entry(target).text, home.entry(newer).text, home.entry(newer).status
    again = home.store.undo(home.tenant, run, now=NIGHT)

    assert [(item.entry, item.refused) for item in undone] == [
        (target, None),
        (newer, None),
        (newer, None),
    ]
    assert after_undo == ("beans", "peas", Status.ACTIVE)
    assert all(item.done for item in redone)
    assert after_redo == ("beans, peas and herbs", "peas and herbs", Status.OUTDATED)
    assert all(item.done for item in again)
    assert (home.entry(newer).text, home.entry(newer).status) == ("peas", Status.ACTIVE)


def test_undo_leaves_an_absorbed_entry_that_a_user_changed_and_says_so(home: Home) -> None:
    target, newer, run = _absorbing(home)
    home.correct(newer, "sweet peas")

    items = home.store.undo(home.tenant, run, now=NIGHT)

    assert home.entry(target).text == "beans"
    assert home.entry(newer).text == "sweet peas"
    assert [(item.entry, item.done) for item in items] == [
        (target, True),
        (newer, False),
        (newer, False),
    ]
    assert all("changed since by user" in str(item.refused) for item in items[1:])


def test_what_rested_in_an_erased_entry_is_told_again(home: Home) -> None:
    target, newer, _run = _absorbing(home)

    SqlErasure(home.engine).erase_entry(home.tenant, target, siblings=False, now=NIGHT)

    woken = home.entry(newer)
    assert (woken.status, woken.superseded_by, woken.valid_to) == (Status.ACTIVE, None, None)
    assert woken.text == "peas and herbs"
    assert home.vector(newer) == pytest.approx([0, 1])
    assert home.store.snapshot(home.scope, model=MODEL).entries[0].id == newer
