"""Every table of the record store, keyed by tenant first. Knows no statement and no connection.

A tenant is named by its name, a collection by (tenant, name), so every row carries its scope and
row-level security can be switched on without another column.
"""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from actors.records.columns import COUNTER, HalfVector, UtcDateTime, counter, required

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _tenant() -> Column[str]:
    return Column("tenant", Text, ForeignKey("tenants.name"), primary_key=True)


def _scope(*keys: str) -> tuple[Column[str], Column[str], ForeignKeyConstraint]:
    """The collection that a row belongs to; ``keys`` are those of the two that begin its key."""
    return (
        Column("tenant", Text, primary_key="tenant" in keys, nullable=False),
        Column("collection", Text, primary_key="collection" in keys, nullable=False),
        ForeignKeyConstraint(["tenant", "collection"], ["collections.tenant", "collections.name"]),
    )


# Who ----------------------------------------------------------------------------------------------

tenants = Table(
    "tenants",
    METADATA,
    Column("name", Text, primary_key=True),
    required("created_at", UtcDateTime),
    Column("zone", Text, nullable=False, server_default="UTC"),
    Column("sleep_cron", Text),
    Column("sleep_max_s", Float),
    Column("sleep_max_tokens", BigInteger),
    required("settings", JSON),
    Column("disabled_at", UtcDateTime),
    Column("rate_tokens", Float),  # messages left in the bucket of its quota per minute
    Column("rate_filled_at", UtcDateTime),
)

keys = Table(
    "keys",
    METADATA,
    _tenant(),
    Column("hash", Text, primary_key=True),
    Column("label", Text, nullable=False, server_default=""),
    required("scopes", JSON),
    required("created_at", UtcDateTime),
    Column("expires_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
    Column("last_used_at", UtcDateTime),
    UniqueConstraint("hash"),
)

# What was said ------------------------------------------------------------------------------------

collections = Table(
    "collections",
    METADATA,
    _tenant(),
    Column("name", Text, primary_key=True),
    Column("origin", Text),  # of an imported one: which collection of which store it was first
    required("created_at", UtcDateTime),
    required("settings", JSON),
    counter("last_sequence"),
    counter("writes"),  # entry writes so far, by whomever
    counter("step"),  # commits of ingest workers so far
    counter("accepted"),  # messages in no window yet
    counter("pending"),  # messages neither extracted nor quarantined
    counter("flush_requested"),
    counter("flushed"),
    counter("consolidated_through"),  # ``writes`` as the last completed run saw it
    Column("last_accepted_at", UtcDateTime),
    Column("waiting_since", UtcDateTime),  # when its oldest accepted message came
    Index(
        "ix_collections_due",
        "waiting_since",
        sqlite_where=text("pending > 0"),
        postgresql_where=text("pending > 0"),
    ),
    Index(
        "ix_collections_pending",
        "tenant",
        sqlite_where=text("pending > 0"),
        postgresql_where=text("pending > 0"),
    ),
)

conversations = Table(
    "conversations",
    METADATA,
    *_scope("tenant", "collection"),
    Column("name", Text, primary_key=True),
    required("created_at", UtcDateTime),
    counter("last_sequence"),
    Column("last_said_at", UtcDateTime),
)

messages = Table(
    "messages",
    METADATA,
    *_scope("tenant", "collection"),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    required("id", Text),
    required("conversation", Text),
    Column("external_id", Text),
    required("role", Text),
    required("speaker", Text),
    required("content", Text),
    Column("compressed", Text),
    Column("fallback", Text),
    required("said_at", UtcDateTime),
    required("zone", Text),
    required("accepted_at", UtcDateTime),
    required("metadata", JSON),
    required("state", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("segment", Text),
    Column("redacted_at", UtcDateTime),
    UniqueConstraint("tenant", "id"),
    UniqueConstraint("tenant", "collection", "conversation", "external_id"),
    Index(None, "tenant", "collection", "state", "sequence"),
    Index(None, "tenant", "collection", "segment"),
)

segments = Table(
    "segments",
    METADATA,
    *_scope("tenant"),
    Column("id", Text, primary_key=True),
    required("conversation", Text),
    required("topic", Text),
    required("first_sequence", BigInteger),
    required("last_sequence", BigInteger),
    required("state", Text),  # buffered, extracted
    required("created_at", UtcDateTime),
    Column("extracted_at", UtcDateTime),
    Index(None, "tenant", "collection", "state", "first_sequence"),
)

idempotency = Table(
    "idempotency",
    METADATA,
    *_scope("tenant", "collection"),
    Column("key", Text, primary_key=True),
    required("body_digest", Text),
    required("reply", JSON),  # the sequences of the accepted messages, in order
    required("created_at", UtcDateTime),
)

quarantine = Table(
    "quarantine",
    METADATA,
    *_scope("tenant", "collection"),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    required("message", Text),
    required("reason", Text),
    Column("raw", Text),
    required("quarantined_at", UtcDateTime),
    Column("released_at", UtcDateTime),  # when it was sent in again
    Column("released_by", Text),
    Column("dropped_at", UtcDateTime),
    Column("dropped_by", Text),
)

leases = Table(
    "leases",
    METADATA,
    *_scope("tenant", "collection"),
    counter("epoch"),
    Column("worker", Text),
    Column("heartbeat_at", UtcDateTime),
    Column("expires_at", UtcDateTime),  # None where nobody holds it
    counter("takeovers"),  # workers that let it expire, or failed, since the last commit
    counter("careful_through"),  # messages up to here are taken one by one: one may be deadly
    Column("failure", Text),  # what the last one that failed said; None where it died
)

# What is remembered -------------------------------------------------------------------------------

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
    *_scope("tenant"),
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
    *_scope("tenant"),
    Column("entry", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    *_entry(),
    required("why", Text),
    Column("run", Text),
    ForeignKeyConstraint(["tenant", "entry"], ["entries.tenant", "entries.id"]),
    Index(None, "tenant", "run"),
)

entry_vectors = Table(
    "entry_vectors",
    METADATA,
    *_scope("tenant"),
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
        required("written_by", Text),
        required("written_at", UtcDateTime),
    ]


scratchpad_items = Table(
    "scratchpad_items",
    METADATA,
    *_scope("tenant", "collection"),
    Column("id", Text, primary_key=True),
    required("version", Integer),
    *_item(),
)

scratchpad_versions = Table(
    "scratchpad_versions",
    METADATA,
    *_scope("tenant", "collection"),
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

# Sleep --------------------------------------------------------------------------------------------

sleep_runs = Table(
    "sleep_runs",
    METADATA,
    _tenant(),
    Column("id", Text, primary_key=True),
    required("window_start", UtcDateTime),
    required("dry_run", Boolean),
    required("status", Text),
    required("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    required("totals", JSON),
    Column("error", Text),
    Column("undone", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("id"),
    # A preview of a window must not use up the window's one run.
    UniqueConstraint("tenant", "window_start", "dry_run"),
)

run_collections = Table(
    "run_collections",
    METADATA,
    *_scope("tenant", "collection"),
    Column("run", Text, primary_key=True),
    counter("through"),
    required("status", Text),
    required("seen_at", UtcDateTime),
)

ledger = Table(
    "ledger",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    *_scope(),
    required("run", Text),
    required("target", Text),
    required("target_version", Integer),
    required("candidates", JSON),
    required("action", Text),
    required("reason", Text),
    required("state", Text),
    Column("note", Text),
    required("text_before", Text),
    Column("text_after", Text),
    Column("version_after", Integer),
    Column("version_undone", Integer),  # the version that undo wrote; redo asks for it
    Column("decision", JSON(none_as_null=True)),
    required("decider", Text),
    required("decided_at", UtcDateTime),
    UniqueConstraint("run", "tenant", "collection", "target"),
    Index(None, "tenant", "collection", "target"),
    sqlite_autoincrement=True,
)

reply_cache = Table(
    "reply_cache",
    METADATA,
    Column("key", Text, primary_key=True),  # a hash over prompt and model; belongs to no tenant
    required("decision", JSON),
    required("created_at", UtcDateTime),
)

# What was asked -----------------------------------------------------------------------------------

recalls = Table(
    "recalls",
    METADATA,
    *_scope("tenant"),
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
    *_scope("tenant", "collection"),
    Column("day", Date, primary_key=True),
    Column("measure", Text, primary_key=True),
    counter("amount"),
)

# What was erased ----------------------------------------------------------------------------------

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
