"""One row per table: whose it is, how each erasure treats it and how it is exported."""

from collections.abc import Sequence
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
    KEPT = "kept"  # tombstones: ids, digests and numbers, which stay even when the tenant goes


class Part(StrEnum):
    """What erasing one entry, or one conversation, does to a table."""

    KEPT = "kept"  # it holds no text of it, only ids, digests and numbers
    TEXTS = "texts"  # the rows stay, their texts go
    ROWS = "rows"  # the rows go that hold or point to what is erased
    EVERY_ROW = "every row"  # all rows of the collection go: their texts may be made of anything


class Export(StrEnum):
    """How a table leaves in an export."""

    ROWS = "rows"
    DERIVED = "derived"  # rebuilt from exported rows on import
    OPERATION = "operation"  # only means something to the running service


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRule:
    """How one table is scoped, erased and exported; ``tenant`` is the name of its column."""

    table: Table
    tenant: str
    erasure: Erasure
    entry: Part
    conversation: Part
    export: Export

    @property
    def texts(self) -> list[Column[object]]:
        """The columns that can hold what somebody said."""
        return [
            column
            for column in self.table.columns
            if isinstance(column.type, Text | JSON | LargeBinary | HalfVector)
        ]


def _rule(
    table: Table,
    erasure: Erasure,
    parts: tuple[Part, Part],
    export: Export,
    *,
    tenant: str = "tenant",
) -> TableRule:
    entry, conversation = parts
    return TableRule(
        table=table,
        tenant=tenant,
        erasure=erasure,
        entry=entry,
        conversation=conversation,
        export=export,
    )


_KEPT = (Part.KEPT, Part.KEPT)
_ROWS = (Part.ROWS, Part.ROWS)
_TEXTS = (Part.TEXTS, Part.TEXTS)
_TEXTS_OR_ROWS = (Part.TEXTS, Part.ROWS)
_EVERY_ROW = (Part.EVERY_ROW, Part.EVERY_ROW)

REGISTRY: tuple[TableRule, ...] = (
    _rule(tables.tenants, Erasure.TENANT, _KEPT, Export.OPERATION, tenant="name"),
    _rule(tables.keys, Erasure.TENANT, _KEPT, Export.OPERATION),
    _rule(tables.erasures, Erasure.KEPT, _KEPT, Export.ROWS),
    _rule(tables.sleep_runs, Erasure.TENANT, _TEXTS, Export.ROWS),
    _rule(tables.collections, Erasure.SELF, _KEPT, Export.ROWS),
    _rule(tables.conversations, Erasure.COLLECTION, (Part.KEPT, Part.ROWS), Export.ROWS),
    _rule(tables.messages, Erasure.COLLECTION, _TEXTS_OR_ROWS, Export.ROWS),
    _rule(tables.segments, Erasure.COLLECTION, _TEXTS_OR_ROWS, Export.ROWS),
    _rule(tables.idempotency, Erasure.COLLECTION, _KEPT, Export.ROWS),
    _rule(tables.quarantine, Erasure.COLLECTION, _TEXTS_OR_ROWS, Export.ROWS),
    _rule(tables.leases, Erasure.COLLECTION, _KEPT, Export.OPERATION),
    _rule(tables.entries, Erasure.COLLECTION, _ROWS, Export.ROWS),
    _rule(tables.entry_versions, Erasure.COLLECTION, _ROWS, Export.ROWS),
    _rule(tables.entry_vectors, Erasure.COLLECTION, _ROWS, Export.ROWS),
    _rule(tables.scratchpad_items, Erasure.COLLECTION, _ROWS, Export.ROWS),
    _rule(tables.scratchpad_versions, Erasure.COLLECTION, _ROWS, Export.ROWS),
    _rule(tables.index_ops, Erasure.COLLECTION, _KEPT, Export.DERIVED),
    _rule(tables.run_collections, Erasure.COLLECTION, _KEPT, Export.ROWS),
    _rule(tables.ledger, Erasure.COLLECTION, _TEXTS, Export.ROWS),
    _rule(tables.ledger_changes, Erasure.COLLECTION, _KEPT, Export.ROWS),
    _rule(tables.reply_cache, Erasure.COLLECTION, _EVERY_ROW, Export.DERIVED),
    _rule(tables.recalls, Erasure.COLLECTION, _EVERY_ROW, Export.ROWS),
    _rule(tables.usage, Erasure.COLLECTION, _KEPT, Export.ROWS),
)
"""Every table, once."""


def rule(table: Table) -> TableRule:
    """The table's row. Raises KeyError for a table that is not registered."""
    return {row.table.name: row for row in REGISTRY}[table.name]


def children_first() -> Sequence[TableRule]:
    """Every row, a table before those that its foreign keys name: the order to delete in."""
    return [rule(table) for table in reversed(tables.METADATA.sorted_tables)]


def parents_first() -> Sequence[TableRule]:
    """Every row, a table after those that its foreign keys name: the order to insert in."""
    return [rule(table) for table in tables.METADATA.sorted_tables]
