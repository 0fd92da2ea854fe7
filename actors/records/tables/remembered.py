"""Entries with their versions and vectors, the scratchpad, and what the index must follow."""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    Text,
    text,
)

from actors.records.columns import COUNTER, HalfVector, UtcDateTime, counter, required
from actors.records.tables.base import METADATA, of_scope

ORDER = ("order_said_at", "order_sequence", "order_ordinal")
"""The columns of an entry's order key."""


def _entry() -> list[Column[Any]]:
    """The columns that an entry and each of its versions share."""
    return [
        required("text", Text),
        required("identity", Text),
        required("kind", Text),
        required("status", Text),
        required("speaker", Text),
        required("said_at", UtcDateTime),
        required("zone", Text),
        required("language", Text),
        required(ORDER[0], UtcDateTime),
        *(required(name, BigInteger) for name in ORDER[1:]),
        required("valid_from", UtcDateTime),
        Column("valid_to", UtcDateTime),
        Column("superseded_by", Text),
        required("sources", JSON),
        *(Column(name, Text) for name in ("subject", "key", "value")),
        required("entities", JSON),
        required("topic", Text),
        required("metadata", JSON),
        required("strength", Float),
        Column("last_used_at", UtcDateTime),
        required("written_by", Text),
        required("written_at", UtcDateTime),
    ]


entries = Table(
    "entries",
    METADATA,
    *of_scope("tenant"),
    Column("id", Text, primary_key=True),
    required("version", Integer),
    *_entry(),
    counter("new_at"),  # ``collections.writes`` at the last write by ingest or a user
    Index("ix_entries_order", "tenant", "collection", *ORDER, "id"),
    Index(None, "tenant", "collection", "identity"),
    Index(None, "tenant", "collection", "new_at"),
)

entry_versions = Table(
    "entry_versions",
    METADATA,
    *of_scope("tenant"),
    Column("entry", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    *_entry(),
    required("why", Text),
    Column("run", Text),
    ForeignKeyConstraint(["tenant", "entry"], ["entries.tenant", "entries.id"]),
    Index(
        None,
        "tenant",
        "run",
        sqlite_where=text("run IS NOT NULL"),
        postgresql_where=text("run IS NOT NULL"),
    ),
)

entry_vectors = Table(
    "entry_vectors",
    METADATA,
    *of_scope("tenant"),
    Column("entry", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("model", Text, primary_key=True),
    required("vector", HalfVector),
    ForeignKeyConstraint(
        ["tenant", "entry", "version"],
        ["entry_versions.tenant", "entry_versions.entry", "entry_versions.version"],
    ),
)


def _item() -> list[Column[Any]]:
    """The columns that a scratchpad item and each of its versions share."""
    return [
        required("slot", Text),
        required("text", Text),
        required("status", Text),
        required("said_at", UtcDateTime),
        required("sources", JSON),
        required("entries", JSON),
        required("conflicts", JSON),
        Column("superseded_by", Text),
        required("written_by", Text),
        required("written_at", UtcDateTime),
    ]


scratchpad_items = Table(
    "scratchpad_items",
    METADATA,
    *of_scope("tenant", "collection"),
    Column("id", Text, primary_key=True),
    required("version", Integer),
    *_item(),
)

scratchpad_versions = Table(
    "scratchpad_versions",
    METADATA,
    *of_scope("tenant", "collection"),
    Column("item", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    *_item(),
    required("why", Text),
    Column("run", Text),
)

index_ops = Table(
    "index_ops",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    # No foreign key: points of an erased collection must go after its row has gone.
    required("tenant", Text),
    required("collection", Text),
    required("entry", Text),
    Column("removed", JSON(none_as_null=True)),  # point ids that must go, once the entry is erased
    required("created_at", UtcDateTime),
    Index(None, "tenant", "collection"),
    Index(None, "tenant", "entry"),
    sqlite_autoincrement=True,
)
