"""One row per table: whose it is, how it is erased and how it is exported."""

from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import JSON, Column, LargeBinary, Table, Text

from actors.records import tables
from actors.records.columns import HalfVector


class Erasure(StrEnum):
    """What erasing a collection does to a table."""

    COLLECTION = "collection"  # its rows go by (tenant, collection)
    SELF = "self"  # the row that names the collection goes
    TENANT = "tenant"  # its rows go with the whole tenant only; they hold no text of a collection
    WHOLE = "whole"  # the table is emptied: a cache that belongs to no tenant


class Export(StrEnum):
    """How a table leaves in an export."""

    ROWS = "rows"
    DERIVED = "derived"  # rebuilt from exported rows on import
    OPERATION = "operation"  # only means something to the running service


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRule:
    """How one table is scoped, erased and exported; ``tenant`` is the name of its column."""

    table: Table
    tenant: str | None
    erasure: Erasure
    export: Export

    @property
    def texts(self) -> list[Column[object]]:
        """The columns that can hold what somebody said."""
        return [
            column
            for column in self.table.columns
            if isinstance(column.type, Text | JSON | LargeBinary | HalfVector)
        ]


def _of_collection(table: Table, export: Export) -> TableRule:
    return TableRule(table=table, tenant="tenant", erasure=Erasure.COLLECTION, export=export)


REGISTRY: tuple[TableRule, ...] = (
    TableRule(table=tables.tenants, tenant="name", erasure=Erasure.TENANT, export=Export.OPERATION),
    TableRule(table=tables.keys, tenant="tenant", erasure=Erasure.TENANT, export=Export.OPERATION),
    TableRule(table=tables.sleep_runs, tenant="tenant", erasure=Erasure.TENANT, export=Export.ROWS),
    TableRule(table=tables.reply_cache, tenant=None, erasure=Erasure.WHOLE, export=Export.DERIVED),
    TableRule(table=tables.collections, tenant="tenant", erasure=Erasure.SELF, export=Export.ROWS),
    _of_collection(tables.conversations, Export.ROWS),
    _of_collection(tables.messages, Export.ROWS),
    _of_collection(tables.segments, Export.ROWS),
    _of_collection(tables.idempotency, Export.ROWS),
    _of_collection(tables.quarantine, Export.ROWS),
    _of_collection(tables.leases, Export.OPERATION),
    _of_collection(tables.entries, Export.ROWS),
    _of_collection(tables.entry_versions, Export.ROWS),
    _of_collection(tables.entry_vectors, Export.ROWS),
    _of_collection(tables.scratchpad_items, Export.ROWS),
    _of_collection(tables.scratchpad_versions, Export.ROWS),
    _of_collection(tables.index_ops, Export.DERIVED),
    _of_collection(tables.run_collections, Export.ROWS),
    _of_collection(tables.ledger, Export.ROWS),
    _of_collection(tables.recalls, Export.ROWS),
    _of_collection(tables.usage, Export.ROWS),
)
"""Every table, once."""


def rule(table: Table) -> TableRule:
    """The table's row. Raises KeyError for a table that is not registered."""
    return {row.table.name: row for row in REGISTRY}[table.name]
