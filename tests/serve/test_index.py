"""The index follows the outbox page by page, and neither a bad row nor an empty folder stops it."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import update
from telling import NOON, note

from actors.index_edge import EdgeIndex
from actors.records import Records, migrate, open_records
from actors.records.engine import EVERY_TENANT, writing
from actors.records.tables import entry_vectors
from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.state import OutboxItem
from serve.index import IndexKeeper, InlineIndex, drain

SCOPE = Scope(tenant=TenantId("t"), collection="c")
OTHER = Scope(tenant=TenantId("u"), collection="茶")
GONE = "00000000-0000-5000-8000-000000000000"
EAST = np.array([1, 0, 0, 0], dtype=np.float32)


class ListOutbox:
    """Erased entries, each with one row."""

    def __init__(self, count: int) -> None:
        self.rows = [
            OutboxItem(
                ids=(row,), scope=SCOPE, entry=EntryId(f"e{row}"), versions=(), removed=(GONE,)
            )
            for row in range(count)
        ]

    def pending(self, *, limit: int) -> list[OutboxItem]:
        return self.rows[:limit]

    def done(self, items: Sequence[OutboxItem]) -> None:
        self.rows = [row for row in self.rows if row not in items]

    def lag(self, scope: Scope) -> int:
        return len(self.rows)

    def owe_all(self) -> int:
        return 0


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    url = f"sqlite:///{tmp_path / 'records.sqlite'}"
    migrate(url)
    stores = open_records(url)
    for scope in (SCOPE, OTHER):
        stores.tenants.ensure_tenant(scope.tenant, NOON)
    yield stores
    stores.close()


def overwrite(records: Records, entry: EntryId, vector: np.ndarray) -> None:
    """Puts other numbers into the file, as damage does."""
    with writing(records.engine, EVERY_TENANT) as connection:
        mine = update(entry_vectors).where(entry_vectors.c.entry == entry)
        connection.execute(mine.values(vector=vector))


def cut(records: Records, entry: EntryId, size: int) -> None:
    """Leaves ``size`` bytes of the stored vector."""
    with writing(records.engine, EVERY_TENANT) as connection:
        connection.exec_driver_sql(
            f"UPDATE entry_vectors SET vector = substr(vector, 1, {size}) WHERE entry = '{entry}'"
        )


def poison(records: Records, entry: EntryId) -> None:
    """Makes one stored number infinite."""
    with writing(records.engine, EVERY_TENANT) as connection:
        connection.exec_driver_sql(
            f"UPDATE entry_vectors SET vector = X'003C0000007C0000' WHERE entry = '{entry}'"
        )


def test_a_full_page_may_have_another_behind_it_and_a_short_one_has_none(tmp_path: Path) -> None:
    index, outbox = EdgeIndex(tmp_path / "index", dim=4), ListOutbox(3)

    first, second = drain(index, outbox, limit=2), drain(index, outbox, limit=2)

    assert (first, second, outbox.lag(SCOPE)) == (True, False, 0)
    assert not drain(index, outbox, limit=2)


@pytest.mark.parametrize("damage", ["another width", "half a number", "not finite"])
def test_an_entry_whose_vector_is_damaged_is_named_and_stops_no_other(
    records: Records, tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    broken = note(records, SCOPE, "Ola keeps bees", vector=EAST)
    note(records, SCOPE, "Ola sells honey", vector=EAST)
    note(records, OTHER, "小林每天喝茶", vector=EAST)
    if damage == "another width":
        overwrite(records, broken, np.array([0.6, 0.8, 0.0], dtype=np.float32))
    elif damage == "half a number":
        cut(records, broken, 5)
    else:
        poison(records, broken)
    edge = EdgeIndex(tmp_path / "index", dim=4)
    index = InlineIndex(edge, records.outbox, records.index_source)

    with caplog.at_level(logging.ERROR):
        asyncio.run(index.follow())
    asyncio.run(index.rebuild())
    found = asyncio.run(index.check(SCOPE))
    edge.delete([point.id for point in edge.scan()])
    repaired = [asyncio.run(index.check(scope, repair=True)) for scope in (SCOPE, OTHER)]

    assert (edge.count(SCOPE), edge.count(OTHER)) == (1, 1)
    assert records.outbox.lag(SCOPE) == 0
    [difference] = found
    assert difference.kind == "unusable vector"
    assert difference.subject == f"entry {broken} version 1"
    assert "expected 4 finite numbers" in difference.detail
    assert [(each.kind, each.repaired) for page in repaired for each in page] == [
        ("missing point", True),
        ("unusable vector", False),
        ("missing point", True),
    ]
    said = caplog.messages[0]
    assert all(name in said for name in (broken, "'c'", "'t'"))
    assert "bees" not in said
    edge.close()


def test_one_tenants_damaged_vector_keeps_no_erased_byte_of_another(
    records: Records, tmp_path: Path
) -> None:
    overwrite(records, note(records, SCOPE, "Ola keeps bees", vector=EAST), EAST[:3])
    note(records, OTHER, "小林每天喝茶", vector=EAST)
    edge = EdgeIndex(tmp_path / "index", dim=4)
    index = InlineIndex(edge, records.outbox, records.index_source)
    asyncio.run(index.follow())

    records.erasure.erase_tenant(OTHER.tenant, now=NOON)
    asyncio.run(index.follow())
    asyncio.run(index.rebuild())

    assert edge.count() == 0
    edge.close()


def test_an_index_that_holds_nothing_is_owed_every_entry_until_it_has_it(
    records: Records, tmp_path: Path
) -> None:
    first = EdgeIndex(tmp_path / "index", dim=4)
    note(records, SCOPE, "Ola keeps bees", vector=EAST)
    note(records, OTHER, "小林每天喝茶", vector=EAST)
    while IndexKeeper(first, records.outbox, records.index_source).follow():
        pass
    first.close()
    empty = EdgeIndex(tmp_path / "another", dim=4)

    keeper = IndexKeeper(empty, records.outbox, records.index_source)
    lag = [records.messages.collection(scope).index_lag for scope in (SCOPE, OTHER)]
    IndexKeeper(empty, records.outbox, records.index_source)
    again = records.outbox.lag(SCOPE)
    while keeper.follow():
        pass

    assert (lag, again) == ([1, 1], 1)
    assert (empty.count(SCOPE), empty.count(OTHER)) == (1, 1)
    assert [records.outbox.lag(scope) for scope in (SCOPE, OTHER)] == [0, 0]
    empty.close()


class Older(EdgeIndex):
    """An index whose points an earlier version wrote, until they are written again."""

    old = 1

    def count_old(self) -> int:
        return self.old


def test_an_index_of_an_earlier_version_takes_every_entry_again(
    records: Records, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    edge = Older(tmp_path / "index", dim=4)
    note(records, SCOPE, "小林每天喝茶", vector=EAST)
    keeper = IndexKeeper(edge, records.outbox, records.index_source)
    while keeper.follow():
        pass

    with caplog.at_level(logging.WARNING, logger="slowwave.index"):
        IndexKeeper(edge, records.outbox, records.index_source)

    assert records.outbox.lag(SCOPE) == 1
    assert "earlier version" in caplog.text
    edge.close()


def test_an_index_that_holds_something_is_owed_nothing(records: Records, tmp_path: Path) -> None:
    edge = EdgeIndex(tmp_path / "index", dim=4)
    note(records, SCOPE, "Ola keeps bees", vector=EAST)
    while IndexKeeper(edge, records.outbox, records.index_source).follow():
        pass

    IndexKeeper(edge, records.outbox, records.index_source)

    assert records.outbox.lag(SCOPE) == 0
    edge.close()
