"""Every table says whose it is, how it is erased and how it is exported."""

import pytest
from sqlalchemy import JSON, LargeBinary, Table, Text

from actors.records.columns import HalfVector
from actors.records.registry import REGISTRY, Erasure, Export, TableRule, rule
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
def test_a_table_without_a_tenant_is_emptied_as_a_whole(row: TableRule) -> None:
    assert (row.tenant is None) == (row.erasure is Erasure.WHOLE)
    assert row.tenant == "tenant" or "tenant" not in row.table.columns
    assert row.tenant is None or row.tenant in row.table.columns


@pytest.mark.parametrize("row", REGISTRY, ids=by_table)
def test_a_table_erased_by_collection_names_it_in_every_row(row: TableRule) -> None:
    names_it = "collection" in row.table.columns and not row.table.c.collection.nullable

    assert (row.erasure is Erasure.COLLECTION) == names_it


@pytest.mark.parametrize("row", REGISTRY, ids=by_table)
def test_a_table_of_a_tenant_begins_its_key_with_the_tenant_or_a_number(row: TableRule) -> None:
    first = next(iter(row.table.primary_key)).name

    assert row.tenant is None or first in (row.tenant, "id")
