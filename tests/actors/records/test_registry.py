"""Every table says whose it is, how it is erased and how it is exported."""

import pytest
from sqlalchemy import JSON, LargeBinary, Table, Text

from actors.records.columns import HalfVector
from actors.records.registry import (
    REGISTRY,
    Erasure,
    Export,
    Part,
    TableRule,
    children_first,
    parents_first,
    rule,
)
from actors.records.tables import METADATA

TABLES = list(METADATA.tables.values())


def by_table(row: TableRule) -> str:
    return row.table.name


def test_every_table_has_one_row() -> None:
    registered = [row.table.name for row in REGISTRY]

    assert sorted(registered) == sorted(METADATA.tables)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_every_text_column_is_erased_or_exported(table: Table) -> None:
    kinds = (Text, JSON, LargeBinary, HalfVector)
    texts = [column.name for column in table.columns if isinstance(column.type, kinds)]
    row = rule(table)

    assert [column.name for column in row.texts] == texts
    assert row.erasure is not Erasure.TENANT or row.export is not Export.DERIVED


@pytest.mark.parametrize("row", REGISTRY, ids=by_table)
def test_every_row_of_a_table_is_a_tenants(row: TableRule) -> None:
    assert row.tenant == "tenant" or "tenant" not in row.table.columns
    assert not row.table.c[row.tenant].nullable


@pytest.mark.parametrize("row", REGISTRY, ids=by_table)
def test_a_table_erased_by_collection_names_it_in_every_row(row: TableRule) -> None:
    names_it = "collection" in row.table.columns and not row.table.c.collection.nullable

    assert (row.erasure is Erasure.COLLECTION) == names_it


@pytest.mark.parametrize("row", REGISTRY, ids=by_table)
def test_a_table_of_a_tenant_begins_its_key_with_the_tenant_or_a_number(row: TableRule) -> None:
    first = next(iter(row.table.primary_key)).name

    assert first in (row.tenant, "id")


WORDLESS = {
    "tenants": "an operator's names and settings, gone with the tenant",
    "keys": "digests and labels of an operator, gone with the tenant",
    "erasures": "ids, digests and numbers",
    "collections": "a name and settings, gone with the collection",
    "idempotency": "keys, digests and sequences: they keep a retry from bringing words back",
    "leases": "names of workers",
    "index_ops": "ids, taken by the index within moments",
    "run_collections": "ids and numbers",
    "ledger_changes": "ids, versions and reasons that quote nothing",
    "usage": "names of measures and numbers",
}
"""Tables whose text columns hold nothing that was said, with the reason."""


@pytest.mark.parametrize("row", REGISTRY, ids=by_table)
def test_a_table_with_texts_is_erased_at_every_level_or_says_why_not(row: TableRule) -> None:
    is_kept = row.entry is Part.KEPT and row.conversation is Part.KEPT

    assert not row.texts or is_kept == (row.table.name in WORDLESS)


@pytest.mark.parametrize("row", REGISTRY, ids=by_table)
def test_only_tombstones_outlive_their_tenant(row: TableRule) -> None:
    assert (row.erasure is Erasure.KEPT) == (row.table.name == "erasures")


def test_rows_are_deleted_before_those_they_point_to_and_inserted_after() -> None:
    order = [row.table.name for row in children_first()]

    assert order == [row.table.name for row in parents_first()][::-1]
    for table in METADATA.tables.values():
        for key in table.foreign_keys:
            assert order.index(table.name) < order.index(key.column.table.name)
