"""What was asked, what it cost, and what was erased."""

from sqlalchemy import (
    JSON,
    Column,
    Date,
    Index,
    Table,
    Text,
)

from actors.records.columns import COUNTER, UtcDateTime, counter, required
from actors.records.tables.base import METADATA, of_scope

recalls = Table(
    "recalls",
    METADATA,
    *of_scope("tenant"),
    Column("id", Text, primary_key=True),
    required("kind", Text),
    required("query", Text),
    required("returned", JSON),
    Column("answer", Text),
    required("created_at", UtcDateTime),
    Index(None, "tenant", "collection", "created_at"),
)

usage = Table(
    "usage",
    METADATA,
    *of_scope("tenant", "collection"),
    Column("day", Date, primary_key=True),
    Column("purpose", Text, primary_key=True),  # as ``pipeline.chat.ChatPurpose``
    Column("model", Text, primary_key=True),
    Column("measure", Text, primary_key=True),  # a count of Usage, or refused:WHY
    counter("amount"),
)

erasures = Table(
    "erasures",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    required("tenant", Text),  # no foreign key: it outlives its tenant
    required("kind", Text),  # entry, conversation, collection, tenant
    required("subject", Text),  # an entry's id; the digest of any other name
    Column("within", Text),  # the digest of the collection's name
    Column("origin", Text),  # the collection's origin, known to its exports
    required("marks", JSON),  # counters that a collection of the same name goes on from
    required("receipt", JSON),  # rows per table
    required("erased_at", UtcDateTime),
    Column("cleaned_at", UtcDateTime),  # when its bytes had gone from the files too
    Index(None, "tenant", "within"),
    Index(None, "tenant", "origin"),
    sqlite_autoincrement=True,
)
"""Tombstones: ids, digests and numbers, never a text or a name that somebody was given."""
