"""Sleep runs, their ledger, and cached replies."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from actors.records.columns import COUNTER, UtcDateTime, counter, required
from actors.records.tables.base import METADATA, of_scope, of_tenant

sleep_runs = Table(
    "sleep_runs",
    METADATA,
    of_tenant(),
    Column("id", Text, primary_key=True),
    required("window_start", UtcDateTime),
    required("dry_run", Boolean),
    required("status", Text),
    required("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    required("totals", JSON),
    Column("error", Text),
    Column("undone", Boolean, nullable=False, server_default=false()),
    Column("trigger", Text, nullable=False, server_default="asked"),
    required("options", JSON),
    Column("deadline", UtcDateTime),
    Column("max_tokens", BigInteger),
    counter("tokens"),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("seen_at", UtcDateTime),  # when its job was last known to live
    Column("stop", Text),
    # A preview of a window must not use up the window's one run.
    UniqueConstraint("tenant", "window_start", "dry_run"),
)

run_collections = Table(
    "run_collections",
    METADATA,
    *of_scope("tenant", "collection"),
    Column("run", Text, primary_key=True),
    counter("through"),
    required("status", Text),
    required("seen_at", UtcDateTime),
)

ledger = Table(
    "ledger",
    METADATA,
    Column("id", COUNTER, primary_key=True),
    *of_scope(),
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
    Column("absorbed", JSON(none_as_null=True)),  # per entry the versions before, after and undone
    required("decider", Text),
    required("decided_at", UtcDateTime),
    UniqueConstraint("run", "tenant", "collection", "target"),
    Index(None, "tenant", "collection", "target"),
    sqlite_autoincrement=True,
)

ledger_changes = Table(
    "ledger_changes",
    METADATA,
    *of_scope("tenant", "collection"),
    Column("run", Text, primary_key=True),
    Column("subject", Text, primary_key=True),  # an entry, or a scratchpad item
    required("ordinal", Integer),  # the order inside the run
    required("kind", Text),  # archive, merge, item, shorten
    required("version_before", Integer),  # 0 where there was none
    required("version_after", Integer),
    Column("version_undone", Integer),
    Column("partner", Text),  # of a merge: the entry that stayed
    required("reason", Text),
    required("state", Text),  # applied, undone
    required("changed_at", UtcDateTime),
    Index(None, "tenant", "collection", "subject"),
)
"""What a run changed after its decisions. Holds no text: those are in the versions it names."""

reply_cache = Table(
    "reply_cache",
    METADATA,
    *of_scope("tenant", "collection"),
    Column("key", Text, primary_key=True),  # a hash over prompt and model
    required("decision", JSON),
    required("created_at", UtcDateTime),
)
