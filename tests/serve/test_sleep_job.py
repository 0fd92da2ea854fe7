"""The sleep job on a small Ray cluster of its own, with a scripted decider and SQLite."""

import os
import shutil
import signal
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from actors.fakes import FakeEmbedder, FakeTokenizer, FixedClock
from actors.records.engine import EVERY_TENANT, open_engine, writing
from actors.records.migrate import upgrade
from actors.records.rows import entry_of, entry_values
from actors.records.sleep import SqlSleepStore
from actors.records.tables import (
    collections,
    entries,
    entry_vectors,
    entry_versions,
    index_ops,
    ledger,
    ledger_changes,
    tenants,
)
from actors.records.tending_store import SqlTending
from pipeline.entries import (
    Case,
    Decision,
    Delete,
    Entry,
    Ignore,
    Kind,
    OrderKey,
    Status,
    Update,
    Writer,
)
from pipeline.errors import ModelError, StoreError
from pipeline.ids import EntryId, MessageId, RunId
from pipeline.messages import Scope, TenantId
from pipeline.recall.text import index_text_of
from pipeline.runs import EntryFilter, LedgerItem, LedgerRow, RunOptions, SleepRun, Stop
from pipeline.settings import ConsolidationSettings, ForgettingSettings, ScratchpadSettings

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
SETTINGS = ConsolidationSettings(neighbours=5, queue_length=5)
LATER = NOON + timedelta(days=3_000)
NOTHING = {
    "targets": 0,
    "update": 0,
    "delete": 0,
    "ignore": 0,
    "skipped": 0,
    "failed": 0,
    "absorbed": 0,
    "model_calls": 0,
    "tokens": 0,
    "collections": 0,
    "left": 0,
}


UNTENDED = dict.fromkeys(("archived", "merged", "items", "shortened", "shorten_failed"), 0)


class ScriptedDecider:
    """A word of the newest candidate decides; a target with ``error`` in it has none."""

    name = "scripted-1"

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """One decision per case."""
        return [self._decision(case) for case in cases]

    def _decision(self, case: Case) -> Decision:
        newest = max((one.entry for one in case.candidates), key=lambda one: one.order)
        if "error" in case.target.text:
            raise ModelError("the endpoint is down")
        if "instead" in newest.text:
            return Delete(superseded_by=newest.id, reason="replaced")
        if "also" in newest.text or "还" in newest.text:
            merged = f"{case.target.text} {newest.text}"
            return Update(text=merged, used=(newest.id,), reason="adds")
        return Ignore(reason="another matter")


class KillOnce:
    """A store whose worker dies once, right after it has recorded a collection."""

    def __init__(self, inner: SqlSleepStore, flag: Path) -> None:
        self._inner = inner
        self._flag = flag

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def record(
        self, run: RunId, scope: Scope, items: Sequence[LedgerItem], **more: Any
    ) -> list[LedgerRow]:
        """Records, then kills its own process the first time."""
        rows = self._inner.record(run, scope, items, **more)
        if not self._flag.exists():
            self._flag.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return rows


def _open_store(url: str) -> SqlSleepStore:
    return SqlSleepStore(open_engine(url))


def _open_tending(url: str) -> SqlTending:
    return SqlTending(open_engine(url))


def _open_killed_store(url: str, flag: Path) -> KillOnce:
    return KillOnce(_open_store(url), flag)


class Home:
    """A record store in a file with one tenant."""

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:///{folder}/records.db"
        self.engine = open_engine(self.url)
        upgrade(self.engine)
        self.store = SqlSleepStore(self.engine)
        self.tenant = TenantId("acme")
        self._said: dict[str, int] = {}
        with writing(self.engine, EVERY_TENANT) as connection:
            connection.execute(insert(tenants).values(name="acme", created_at=NOON, settings={}))

    def say(
        self,
        collection: str,
        text: str,
        *,
        model: str = "fake-embedder",
        days_before: int = 0,
    ) -> EntryId:
        """A new entry of a collection, a day newer than the one before it, or so many older."""
        day = self._said[collection] = self._said.get(collection, 0) + 1
        said_at = NOON + timedelta(days=day - days_before)
        entry = Entry(
            id=EntryId(f"{collection}-{day}"),
            version=1,
            text=text,
            kind=Kind.FACT,
            status=Status.ACTIVE,
            speaker="Ida",
            said_at=said_at,
            zone="UTC",
            language="en",
            order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
            valid_from=said_at,
            sources=(MessageId(f"m{day}"),),
            written_by=Writer.INGEST,
            written_at=said_at,
        )
        self._put(collection, day, entry, model)
        return entry.id

    def _put(self, collection: str, day: int, entry: Entry, model: str) -> None:
        place = {"tenant": "acme", "collection": collection}
        vector = FakeEmbedder().embed([index_text_of(entry)], purpose="passage")[0]
        values = entry_values(entry)
        where = (collections.c.tenant == "acme", collections.c.name == collection)
        with writing(self.engine, EVERY_TENANT) as connection:
            if day == 1:
                connection.execute(
                    insert(collections).values(
                        tenant="acme", name=collection, created_at=NOON, settings={}
                    )
                )
            connection.execute(update(collections).where(*where).values(writes=day))
            connection.execute(
                insert(entries).values(**place, id=entry.id, version=1, new_at=day, **values)
            )
            connection.execute(
                insert(entry_versions).values(
                    **place, entry=entry.id, version=1, why="said", **values
                )
            )
            connection.execute(
                insert(entry_vectors).values(
                    **place, entry=entry.id, version=1, model=model, vector=vector
                )
            )

    def entry(self, entry: EntryId) -> Entry:
        """The entry in its present version."""
        with self.engine.connect() as connection:
            return entry_of(connection.execute(select(entries).where(entries.c.id == entry)).one())

    def outbox(self) -> list[str]:
        """The entries that the index has still to follow."""
        with self.engine.connect() as connection:
            return sorted(row.entry for row in connection.execute(select(index_ops.c.entry)))

    def open(self, *, dry_run: bool = False, **changes: Any) -> SleepRun:
        """A new run."""
        start = NOON + timedelta(days=100 + len(self.store.runs(self.tenant)))
        return self.store.open_run(
            SleepRun(
                id=RunId(str(uuid.uuid4())),
                tenant=self.tenant,
                window_start=start,
                dry_run=dry_run,
                status="running",
                started_at=start,
                **changes,
            )
        )

    def parts(self, **changes: Any) -> Any:
        """What a run works with."""
        from serve.sleep_job import SleepParts

        plain = SleepParts(
            open_store=partial(_open_store, self.url),
            open_decider=ScriptedDecider,
            open_embedder=FakeEmbedder,
            model="fake-embedder",
            min_similarity=0.5,
        )
        return replace(plain, **changes)

    def after(self, **changes: Any) -> Any:
        """What merging, forgetting and the scratchpad work with; all that was said is old."""
        from serve.sleep_after import AfterParts

        plain = AfterParts(
            open_store=partial(_open_tending, self.url),
            open_tokenizer=FakeTokenizer,
            open_clock=partial(FixedClock, LATER),
            scratchpad=ScratchpadSettings(),
            forgetting=ForgettingSettings(),
        )
        return replace(plain, **changes)

    def states(self) -> list[tuple[Any, ...]]:
        """What entries, ledger and changes say, without run ids and write times."""
        with self.engine.connect() as connection:
            told = [
                (row.id, row.version, row.text, row.status, row.superseded_by)
                for row in connection.execute(select(entries).order_by(entries.c.id))
            ]
            decided = [
                (row.target, row.target_version, row.action, row.state, row.version_after)
                for row in connection.execute(select(ledger).order_by(ledger.c.target))
            ]
            changed = [
                (row.subject, row.ordinal, row.kind, row.version_after, row.reason)
                for row in connection.execute(
                    select(ledger_changes).order_by(ledger_changes.c.subject)
                )
            ]
        return [*told, *decided, *changed]


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    import ray
    from ray import cloudpickle

    before = os.environ.get("RAY_AUTH_MODE")
    os.environ["RAY_AUTH_MODE"] = "disabled"
    folder = tempfile.mkdtemp(prefix="sw-")  # Ray's sockets need a short path
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    ray.init(
        address="local",
        num_cpus=6,
        include_dashboard=False,
        _temp_dir=folder,
        log_to_driver=False,
    )
    yield
    ray.shutdown()
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    shutil.rmtree(folder, ignore_errors=True)
    if before is None:
        del os.environ["RAY_AUTH_MODE"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


Consolidate = Callable[..., Mapping[str, int]]


@pytest.fixture
def consolidate(cluster: None) -> Consolidate:
    """The job inside a Ray task, as the service runs it."""
    import ray

    from serve.sleep_job import consolidate as job

    def run(one: SleepRun, parts: Any, **more: Any) -> Mapping[str, int]:
        task = ray.remote(num_cpus=0.1, max_retries=0)(job)
        totals: Mapping[str, int] = ray.get(
            task.remote(one, parts=parts, settings=SETTINGS, **more), timeout=240
        )
        return totals

    return run


def _garden(home: Home) -> tuple[EntryId, EntryId]:
    """Two collections: a merge in English, a replacement, and a merge in Chinese."""
    beans = home.say("garden", "Ida grows beans behind the house.")
    home.say("garden", "Ida grows also peas behind the house.")
    tea = home.say("厨房", "小林早上喝绿茶。")
    home.say("厨房", "小林早上还喝豆浆。")
    home.say("lake", "Ida rows on the lake.")
    return beans, tea


def test_a_run_merges_replaces_and_ignores_and_a_second_run_decides_nothing(
    home: Home, consolidate: Consolidate
) -> None:
    beans, tea = _garden(home)
    old = home.say("work", "Ida works at the mill on Mondays.")
    new = home.say("work", "Ida works instead at the harbour on Mondays.")

    first = consolidate(home.open(), home.parts())
    second = consolidate(home.open(), home.parts())

    assert first == {
        **NOTHING,
        "targets": 3,
        "update": 2,
        "delete": 1,
        "model_calls": 3,
        "collections": 4,
    }
    assert second == NOTHING
    merged = "Ida grows beans behind the house. Ida grows also peas behind the house."
    assert home.entry(beans).text == merged
    assert home.entry(tea).text == "小林早上喝绿茶。 小林早上还喝豆浆。"
    assert (home.entry(old).status, home.entry(old).superseded_by) == (Status.OUTDATED, new)
    assert home.outbox() == sorted([beans, tea, old])


def test_an_updated_entry_has_the_vector_of_its_new_text(
    home: Home, consolidate: Consolidate
) -> None:
    beans, _ = _garden(home)

    consolidate(home.open(options=RunOptions(collection="garden")), home.parts())

    seen = home.store.snapshot(
        Scope(tenant=home.tenant, collection="garden"), model="fake-embedder"
    )
    place = [entry.id for entry in seen.entries].index(beans)
    (expected,) = FakeEmbedder().embed([index_text_of(home.entry(beans))], purpose="passage")
    assert float(seen.vectors[place] @ expected) > 0.999
    assert [one.scope.collection for one in home.store.due(home.tenant)] == ["lake", "厨房"]


def test_a_dry_run_shows_decisions_and_the_run_after_it_asks_no_model_again(
    home: Home, consolidate: Consolidate
) -> None:
    beans, _ = _garden(home)

    preview = home.open(dry_run=True)
    shown = consolidate(preview, home.parts())
    untouched = home.entry(beans).version
    done = consolidate(home.open(), home.parts())

    assert (shown["update"], shown["model_calls"]) == (2, 2)
    assert {row.state for row in home.store.ledger(preview.tenant, preview.id)} == {"dry"}
    assert untouched == 1
    assert (done["update"], done["model_calls"]) == (2, 0)


def test_a_failing_decider_fails_only_its_targets_and_they_are_due_again(
    home: Home, consolidate: Consolidate
) -> None:
    _garden(home)
    broken = home.say("attic", "The error log of the attic fan fills up.")
    home.say("attic", "The error log of the attic fan also beeps.")
    run = home.open()

    totals = consolidate(run, home.parts())

    assert (totals["targets"], totals["update"], totals["failed"]) == (3, 2, 1)
    (failed,) = [row for row in home.store.ledger(run.tenant, run.id) if row.state == "failed"]
    assert (failed.target, failed.note) == (broken, "ModelError: the endpoint is down")
    assert [one.scope.collection for one in home.store.due(home.tenant)] == ["attic"]


def test_a_collection_that_cannot_be_read_is_named_and_does_not_stop_the_others(
    home: Home, consolidate: Consolidate
) -> None:
    beans, _ = _garden(home)
    home.say("cellar", "Ida keeps cider.", model="another-model")

    with pytest.raises(StoreError, match=r"1 of 4 collections .* cellar: 1 entries"):
        consolidate(home.open(), home.parts())

    assert home.entry(beans).version == 2


def test_a_write_worker_killed_after_its_commit_applies_nothing_twice(
    home: Home, consolidate: Consolidate, tmp_path: Path
) -> None:
    beans, tea = _garden(home)
    flag = tmp_path / "killed"
    run = home.open()

    totals = consolidate(run, home.parts(open_store=partial(_open_killed_store, home.url, flag)))

    assert flag.exists()
    assert (totals["update"], totals["collections"]) == (2, 3)
    assert (home.entry(beans).version, home.entry(tea).version) == (2, 2)
    assert len(home.store.ledger(run.tenant, run.id)) == 2


STAGES = ("ReadSleepCollections", "find_neighbours", "queue_targets", "Decide", "Write", "Tend")


class Deadly:
    """A run whose first worker of every stage dies when it looks at the run.

    ``folder`` holds a file per stage and process that worked on it.
    """

    def __init__(self, run: SleepRun, folder: Path) -> None:
        self._run = run
        self._folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return Deadly, (self._run, self._folder)

    def __getattr__(self, name: str) -> Any:
        import psutil

        title = psutil.Process().cmdline()[0]
        for stage in (one for one in STAGES if one in title):
            is_first = not list(self._folder.glob(f"{stage}-*"))
            (self._folder / f"{stage}-{os.getpid()}").touch()
            if is_first:
                os.kill(os.getpid(), signal.SIGKILL)
        return getattr(self._run, name)


def test_a_worker_of_every_stage_may_die_and_the_result_is_that_of_an_undisturbed_run(
    home: Home, cluster: None, tmp_path: Path
) -> None:
    import ray

    from serve.sleep_job import consolidate_all
    from serve.sleep_stages import RunPlan

    places = []
    for name in ("calm", "deadly"):
        (tmp_path / name).mkdir()
        places.append(Home(tmp_path / name))
        _garden(places[-1])
    calm, deadly = places
    run = Deadly(deadly.open(), tmp_path)

    job = ray.remote(num_cpus=0.1, max_retries=0)(consolidate_all)
    totals = []
    for place, one in ((calm, calm.open()), (deadly, run)):
        plans: Any = [RunPlan(run=one)]  # type: ignore[arg-type]  # it stands in for its run
        parts = place.parts(after=place.after())
        done = ray.get(job.remote(plans, parts=parts, settings=SETTINGS), timeout=240)
        totals.append(done[place.tenant].totals)

    assert {
        stage: len(list(tmp_path.glob(f"{stage}-*"))) >= 2 for stage in STAGES
    } == dict.fromkeys(STAGES, True)
    assert deadly.states() == calm.states()
    assert totals[1] == totals[0]
    assert totals[0]["items"] > 0


def test_a_run_ends_cleanly_at_its_deadline_and_the_next_one_goes_on(
    home: Home, consolidate: Consolidate
) -> None:
    beans, tea = _garden(home)

    early = consolidate(home.open(deadline=NOON), home.parts())
    later = consolidate(home.open(), home.parts())

    assert early == {**NOTHING, "left": 3}
    assert (later["update"], later["left"]) == (2, 0)
    assert (home.entry(beans).version, home.entry(tea).version) == (2, 2)


def test_a_run_without_tokens_left_decides_nothing_more_and_says_so(
    home: Home, cluster: None
) -> None:
    import ray

    from serve.sleep_job import consolidate_all
    from serve.sleep_stages import RunPlan

    _garden(home)
    run = home.open(max_tokens=100)
    home.store.spend(home.tenant, run.id, tokens=100)

    job = ray.remote(num_cpus=0.1, max_retries=0)(consolidate_all)
    outcomes = ray.get(
        job.remote([RunPlan(run=run)], parts=home.parts(), settings=SETTINGS), timeout=240
    )

    outcome = outcomes[home.tenant]
    assert (outcome.stop, outcome.totals["left"], outcome.totals["targets"]) == (Stop.TOKENS, 3, 0)
    assert len(home.store.due(home.tenant)) == 3


def test_a_backfilled_old_entry_is_decided_both_ways(home: Home, consolidate: Consolidate) -> None:
    middle = home.say("garden", "Ida grows peas behind the house.")
    consolidate(home.open(), home.parts())
    oldest = home.say("garden", "Ida grows beans behind the house.", days_before=30)
    newest = home.say("garden", "Ida grows herbs behind the house.", days_before=-30)
    run = home.open()

    consolidate(run, home.parts())

    pairs = {
        (row.target, one.entry)
        for row in home.store.ledger(home.tenant, run.id)
        for one in row.candidates
    }
    assert pairs == {(oldest, middle), (oldest, newest), (middle, newest)}


def test_of_two_identical_facts_one_is_left_after_any_number_of_runs(
    home: Home, consolidate: Consolidate
) -> None:
    twins = [home.say("garden", "Ida grows peas instead of beans.") for _ in range(2)]

    for _ in range(3):
        consolidate(home.open(options=RunOptions(full=True, min_similarity=0.5)), home.parts())

    assert [home.entry(one).status for one in twins] == [Status.OUTDATED, Status.ACTIVE]


def test_an_undone_run_is_not_redone_by_the_next_night(
    home: Home, consolidate: Consolidate
) -> None:
    beans, _ = _garden(home)
    run = home.open()
    consolidate(run, home.parts())
    home.store.close_run(home.tenant, run.id, status="completed", totals={}, error=None, now=NOON)
    home.store.undo(home.tenant, run.id, now=NOON)

    again = consolidate(home.open(), home.parts())

    assert again == NOTHING
    assert home.entry(beans).text == "Ida grows beans behind the house."


def test_a_run_over_some_speakers_repeats_no_merge(home: Home, cluster: None) -> None:
    import ray

    from serve.sleep_job import consolidate_all
    from serve.sleep_stages import RunPlan

    beans, _ = _garden(home)
    job = ray.remote(num_cpus=0.1, max_retries=0)(consolidate_all)

    def night(only: EntryFilter) -> Mapping[str, int]:
        run = home.open(options=RunOptions(is_filtered=not only.is_open))
        plan = RunPlan(run=run, only=only)
        done = ray.get(job.remote([plan], parts=home.parts(), settings=SETTINGS), timeout=240)
        totals: Mapping[str, int] = done[home.tenant].totals
        return totals

    nobody = night(EntryFilter(speakers=("Tom",)))
    first, second = night(EntryFilter(speakers=("Ida",))), night(EntryFilter(speakers=("Ida",)))
    whole = night(EntryFilter())

    assert (nobody["targets"], first["update"]) == (0, 2)
    assert (second["targets"], whole["targets"], whole["model_calls"]) == (0, 0, 0)
    assert home.entry(beans).version == 2
    assert home.store.due(home.tenant) == []


def test_nothing_due_asks_nothing_of_ray(home: Home) -> None:
    from serve.sleep_job import consolidate as job

    assert job(home.open(), parts=home.parts(), settings=SETTINGS) == NOTHING


def test_a_run_tends_what_has_faded_though_nothing_is_due_for_a_decision(
    home: Home, consolidate: Consolidate
) -> None:
    lamp = home.say("garden", "Ida bought a lamp.")
    consolidate(home.open(), home.parts())

    totals = consolidate(home.open(), home.parts(after=home.after()))

    assert totals == {**NOTHING, **UNTENDED, "archived": 1}
    assert home.entry(lamp).status is Status.ARCHIVED
