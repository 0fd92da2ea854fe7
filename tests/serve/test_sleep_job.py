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

from actors.fakes import FakeEmbedder
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
    tenants,
)
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
from pipeline.settings import ConsolidationSettings
from pipeline.state import LedgerItem, LedgerRow, SleepRun

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
NOTHING = {
    "targets": 0,
    "update": 0,
    "delete": 0,
    "ignore": 0,
    "skipped": 0,
    "failed": 0,
    "model_calls": 0,
    "collections": 0,
}


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

    def say(self, collection: str, text: str, *, model: str = "fake-embedder") -> EntryId:
        """A new entry of a collection, a day newer than the one before it."""
        day = self._said[collection] = self._said.get(collection, 0) + 1
        said_at = NOON + timedelta(days=day)
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

    def open(self, *, dry_run: bool = False) -> SleepRun:
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

    consolidate(home.open(), home.parts(), collection="garden")

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

    with pytest.raises(StoreError, match=r"1 of 4 collections .* cellar: 1 entries") as raised:
        consolidate(home.open(), home.parts())

    assert home.entry(beans).version == 2
    assert raised.value.totals["update"] == 2  # type: ignore[attr-defined]


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


def test_nothing_due_asks_nothing_of_ray(home: Home) -> None:
    from serve.sleep_job import consolidate as job

    assert job(home.open(), parts=home.parts(), settings=SETTINGS) == NOTHING
