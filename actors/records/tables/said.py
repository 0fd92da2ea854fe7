"""Collections, what was said in them, and how far it is extracted."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from actors.records.columns import UtcDateTime, counter, required
from actors.records.tables.base import METADATA, of_scope, of_tenant

collections = Table(
    "collections",
    METADATA,
    of_tenant(),
    Column("name", Text, primary_key=True),
    Column("origin", Text),  # of an imported one: which collection of which store it was first
    required("created_at", UtcDateTime),
    required("settings", JSON),
    counter("last_sequence"),
    counter("erased"),  # of its messages; the others up to ``last_sequence`` are there
    counter("writes"),  # entry writes so far, by whomever
    counter("step"),  # commits of ingest workers so far
    counter("accepted"),  # messages in no window yet
    counter("pending"),  # messages neither extracted nor quarantined
    counter("flush_requested"),
    counter("flushed"),
    counter("consolidated_through"),  # ``writes`` as the last completed run saw it
    counter("tended_through"),  # ``writes`` as forgetting and the scratchpad saw it
    Column("last_accepted_at", UtcDateTime),
    Column("idle_at", UtcDateTime),  # by its own settings; None where the service's say
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
    *of_scope("tenant", "collection"),
    Column("name", Text, primary_key=True),
    required("created_at", UtcDateTime),
    counter("last_sequence"),
    counter("ending_through"),  # it ended there, and the worker has not seen it yet; 0: it has
    Column("last_said_at", UtcDateTime),
    Index(
        "ix_conversations_ending",
        "tenant",
        "collection",
        sqlite_where=text("ending_through > 0"),
        postgresql_where=text("ending_through > 0"),
    ),
)

messages = Table(
    "messages",
    METADATA,
    *of_scope("tenant", "collection"),
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
    Index(
        None,
        "tenant",
        "collection",
        "segment",
        sqlite_where=text("segment IS NOT NULL"),
        postgresql_where=text("segment IS NOT NULL"),
    ),
    Index(
        None,
        "tenant",
        "fallback",
        sqlite_where=text("fallback IS NOT NULL"),
        postgresql_where=text("fallback IS NOT NULL"),
    ),
)

segments = Table(
    "segments",
    METADATA,
    *of_scope("tenant"),
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
    *of_scope("tenant", "collection"),
    Column("key", Text, primary_key=True),
    required("body_digest", Text),
    required("reply", JSON),  # the sequences of the accepted messages, in order
    required("created_at", UtcDateTime),
)

quarantine = Table(
    "quarantine",
    METADATA,
    *of_scope("tenant", "collection"),
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
    *of_scope("tenant", "collection"),
    counter("epoch"),
    Column("worker", Text),
    Column("heartbeat_at", UtcDateTime),
    Column("expires_at", UtcDateTime),  # None where nobody holds it
    counter("takeovers"),  # workers that let it expire, or failed, since the last commit
    counter("careful_through"),  # messages up to here are taken one by one: one may be deadly
    Column("failure", Text),  # what the last one that failed said; None where it died
    Column("retry_at", UtcDateTime),  # not before then, since an endpoint did not answer
)
