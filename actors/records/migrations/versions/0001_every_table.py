"""Create every table of the record store."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies the change."""
    op.create_table(
        "erasures",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("within", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("marks", sa.JSON(), nullable=False),
        sa.Column("receipt", sa.JSON(), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("cleaned_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_erasures_tenant_within"), "erasures", ["tenant", "within"], unique=False
    )
    op.create_index(
        op.f("ix_erasures_tenant_origin"), "erasures", ["tenant", "origin"], unique=False
    )
    op.create_table(
        "tenants",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("zone", sa.Text(), server_default="UTC", nullable=False),
        sa.Column("sleep_window", sa.Text(), nullable=True),
        sa.Column("sleep_cron", sa.Text(), nullable=True),
        sa.Column("sleep_max_s", sa.Float(), nullable=True),
        sa.Column("sleep_max_tokens", sa.BigInteger(), nullable=True),
        sa.Column("sleep_idle_s", sa.Float(), nullable=True),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("rate_tokens", sa.Float(), nullable=True),
        sa.Column("rate_filled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_tenants")),
    )
    op.create_table(
        "collections",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("last_sequence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("erased", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("writes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("step", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("accepted", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("pending", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("flush_requested", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("flushed", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("consolidated_through", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("tended_through", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("idle_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("waiting_since", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["tenant"], ["tenants.name"], name=op.f("fk_collections_tenants")),
        sa.PrimaryKeyConstraint("tenant", "name", name=op.f("pk_collections")),
    )
    op.create_index(
        "ix_collections_due",
        "collections",
        ["waiting_since"],
        unique=False,
        sqlite_where=sa.text("pending > 0"),
        postgresql_where=sa.text("pending > 0"),
    )
    op.create_index(
        "ix_collections_pending",
        "collections",
        ["tenant"],
        unique=False,
        sqlite_where=sa.text("pending > 0"),
        postgresql_where=sa.text("pending > 0"),
    )
    op.create_table(
        "keys",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), server_default="", nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["tenant"], ["tenants.name"], name=op.f("fk_keys_tenants")),
        sa.PrimaryKeyConstraint("tenant", "hash", name=op.f("pk_keys")),
        sa.UniqueConstraint("hash", name=op.f("uq_keys_hash")),
    )
    op.create_table(
        "sleep_runs",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("window_start", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("totals", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("undone", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("trigger", sa.Text(), server_default="asked", nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=True),
        sa.Column("max_tokens", sa.BigInteger(), nullable=True),
        sa.Column("tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stop", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["tenant"], ["tenants.name"], name=op.f("fk_sleep_runs_tenants")),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_sleep_runs")),
        sa.UniqueConstraint(
            "tenant",
            "window_start",
            "dry_run",
            name=op.f("uq_sleep_runs_tenant_window_start_dry_run"),
        ),
    )
    op.create_table(
        "reply_cache",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("decision", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_reply_cache_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "key", name=op.f("pk_reply_cache")),
    )
    op.create_table(
        "conversations",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_sequence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("ending_through", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_said_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_conversations_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "name", name=op.f("pk_conversations")),
    )
    op.create_index(
        "ix_conversations_ending",
        "conversations",
        ["tenant", "collection"],
        unique=False,
        sqlite_where=sa.text("ending_through > 0"),
        postgresql_where=sa.text("ending_through > 0"),
    )
    op.create_table(
        "entries",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("order_said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("order_sequence", sa.BigInteger(), nullable=False),
        sa.Column("order_ordinal", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_to", sa.DateTime(timezone=True), nullable=True),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("entities", sa.JSON(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("strength", sa.Float(), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("written_by", sa.Text(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("new_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_entries_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_entries")),
    )
    op.create_index(
        "ix_entries_order",
        "entries",
        ["tenant", "collection", "order_said_at", "order_sequence", "order_ordinal", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_entries_tenant_collection_identity"),
        "entries",
        ["tenant", "collection", "identity"],
        unique=False,
    )
    op.create_index(
        op.f("ix_entries_tenant_collection_new_at"),
        "entries",
        ["tenant", "collection", "new_at"],
        unique=False,
    )
    op.create_table(
        "idempotency",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("body_digest", sa.Text(), nullable=False),
        sa.Column("reply", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_idempotency_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "key", name=op.f("pk_idempotency")),
    )
    op.create_table(
        "index_ops",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("removed", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_index_ops")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_index_ops_tenant_collection"), "index_ops", ["tenant", "collection"], unique=False
    )
    op.create_index(
        op.f("ix_index_ops_tenant_entry"), "index_ops", ["tenant", "entry"], unique=False
    )
    op.create_table(
        "leases",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("takeovers", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("careful_through", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_leases_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", name=op.f("pk_leases")),
    )
    op.create_table(
        "ledger",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("target_version", sa.Integer(), nullable=False),
        sa.Column("candidates", sa.JSON(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("text_before", sa.Text(), nullable=False),
        sa.Column("text_after", sa.Text(), nullable=True),
        sa.Column("version_after", sa.Integer(), nullable=True),
        sa.Column("version_undone", sa.Integer(), nullable=True),
        sa.Column("decision", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("absorbed", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("decider", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_ledger_collections"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.UniqueConstraint(
            "run",
            "tenant",
            "collection",
            "target",
            name=op.f("uq_ledger_run_tenant_collection_target"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        op.f("ix_ledger_tenant_collection_target"),
        "ledger",
        ["tenant", "collection", "target"],
        unique=False,
    )
    op.create_table(
        "messages",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("compressed", sa.Text(), nullable=True),
        sa.Column("fallback", sa.Text(), nullable=True),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("segment", sa.Text(), nullable=True),
        sa.Column("redacted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_messages_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "sequence", name=op.f("pk_messages")),
        sa.UniqueConstraint(
            "tenant",
            "collection",
            "conversation",
            "external_id",
            name=op.f("uq_messages_tenant_collection_conversation_external_id"),
        ),
        sa.UniqueConstraint("tenant", "id", name=op.f("uq_messages_tenant_id")),
    )
    op.create_index(
        op.f("ix_messages_tenant_collection_state_sequence"),
        "messages",
        ["tenant", "collection", "state", "sequence"],
        unique=False,
    )
    op.create_index(
        op.f("ix_messages_tenant_collection_segment"),
        "messages",
        ["tenant", "collection", "segment"],
        unique=False,
        sqlite_where=sa.text("segment IS NOT NULL"),
        postgresql_where=sa.text("segment IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_messages_tenant_fallback"),
        "messages",
        ["tenant", "fallback"],
        unique=False,
        sqlite_where=sa.text("fallback IS NOT NULL"),
        postgresql_where=sa.text("fallback IS NOT NULL"),
    )
    op.create_table(
        "quarantine",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("raw", sa.Text(), nullable=True),
        sa.Column("quarantined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("released_by", sa.Text(), nullable=True),
        sa.Column("dropped_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("dropped_by", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_quarantine_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "sequence", name=op.f("pk_quarantine")),
    )
    op.create_table(
        "recalls",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("returned", sa.JSON(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_recalls_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_recalls")),
    )
    op.create_index(
        op.f("ix_recalls_tenant_collection_created_at"),
        "recalls",
        ["tenant", "collection", "created_at"],
        unique=False,
    )
    op.create_table(
        "run_collections",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("through", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_run_collections_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "run", name=op.f("pk_run_collections")),
    )
    op.create_table(
        "ledger_changes",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("version_before", sa.Integer(), nullable=False),
        sa.Column("version_after", sa.Integer(), nullable=False),
        sa.Column("version_undone", sa.Integer(), nullable=True),
        sa.Column("partner", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_ledger_changes_collections"),
        ),
        sa.PrimaryKeyConstraint(
            "tenant", "collection", "run", "subject", name=op.f("pk_ledger_changes")
        ),
    )
    op.create_index(
        op.f("ix_ledger_changes_tenant_collection_subject"),
        "ledger_changes",
        ["tenant", "collection", "subject"],
        unique=False,
    )
    op.create_table(
        "scratchpad_items",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("entries", sa.JSON(), nullable=False),
        sa.Column("conflicts", sa.JSON(), nullable=False),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("written_by", sa.Text(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_scratchpad_items_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "collection", "id", name=op.f("pk_scratchpad_items")),
    )
    op.create_table(
        "scratchpad_versions",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("entries", sa.JSON(), nullable=False),
        sa.Column("conflicts", sa.JSON(), nullable=False),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("written_by", sa.Text(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_scratchpad_versions_collections"),
        ),
        sa.PrimaryKeyConstraint(
            "tenant", "collection", "item", "version", name=op.f("pk_scratchpad_versions")
        ),
    )
    op.create_table(
        "segments",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("first_sequence", sa.BigInteger(), nullable=False),
        sa.Column("last_sequence", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("extracted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_segments_collections"),
        ),
        sa.PrimaryKeyConstraint("tenant", "id", name=op.f("pk_segments")),
    )
    op.create_index(
        op.f("ix_segments_tenant_collection_state_first_sequence"),
        "segments",
        ["tenant", "collection", "state", "first_sequence"],
        unique=False,
    )
    op.create_table(
        "usage",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_usage_collections"),
        ),
        sa.PrimaryKeyConstraint(
            "tenant", "collection", "day", "purpose", "model", "measure", name=op.f("pk_usage")
        ),
    )
    op.create_table(
        "entry_versions",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("order_said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("order_sequence", sa.BigInteger(), nullable=False),
        sa.Column("order_ordinal", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_to", sa.DateTime(timezone=True), nullable=True),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("entities", sa.JSON(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("strength", sa.Float(), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("written_by", sa.Text(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_entry_versions_collections"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant", "entry"],
            ["entries.tenant", "entries.id"],
            name=op.f("fk_entry_versions_entries"),
        ),
        sa.PrimaryKeyConstraint("tenant", "entry", "version", name=op.f("pk_entry_versions")),
    )
    op.create_index(
        op.f("ix_entry_versions_tenant_run"),
        "entry_versions",
        ["tenant", "run"],
        unique=False,
        sqlite_where=sa.text("run IS NOT NULL"),
        postgresql_where=sa.text("run IS NOT NULL"),
    )
    op.create_table(
        "entry_vectors",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant", "collection"],
            ["collections.tenant", "collections.name"],
            name=op.f("fk_entry_vectors_collections"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant", "entry", "version"],
            ["entry_versions.tenant", "entry_versions.entry", "entry_versions.version"],
            name=op.f("fk_entry_vectors_entry_versions"),
        ),
        sa.PrimaryKeyConstraint(
            "tenant", "entry", "version", "model", name=op.f("pk_entry_vectors")
        ),
    )


def downgrade() -> None:
    """Takes it back."""
    op.drop_table("entry_vectors")
    op.drop_index(op.f("ix_entry_versions_tenant_run"), table_name="entry_versions")
    op.drop_table("entry_versions")
    op.drop_table("usage")
    op.drop_index(op.f("ix_segments_tenant_collection_state_first_sequence"), table_name="segments")
    op.drop_table("segments")
    op.drop_table("scratchpad_versions")
    op.drop_table("scratchpad_items")
    op.drop_index(
        op.f("ix_ledger_changes_tenant_collection_subject"), table_name="ledger_changes"
    )
    op.drop_table("ledger_changes")
    op.drop_table("run_collections")
    op.drop_index(op.f("ix_recalls_tenant_collection_created_at"), table_name="recalls")
    op.drop_table("recalls")
    op.drop_table("quarantine")
    op.drop_index(op.f("ix_messages_tenant_collection_segment"), table_name="messages")
    op.drop_index(op.f("ix_messages_tenant_collection_state_sequence"), table_name="messages")
    op.drop_table("messages")
    op.drop_index(op.f("ix_ledger_tenant_collection_target"), table_name="ledger")
    op.drop_table("ledger")
    op.drop_table("leases")
    op.drop_index(op.f("ix_index_ops_tenant_entry"), table_name="index_ops")
    op.drop_index(op.f("ix_index_ops_tenant_collection"), table_name="index_ops")
    op.drop_table("index_ops")
    op.drop_table("idempotency")
    op.drop_index(op.f("ix_entries_tenant_collection_new_at"), table_name="entries")
    op.drop_index(op.f("ix_entries_tenant_collection_identity"), table_name="entries")
    op.drop_index("ix_entries_order", table_name="entries")
    op.drop_table("entries")
    op.drop_index(
        "ix_conversations_ending",
        table_name="conversations",
        sqlite_where=sa.text("ending_through > 0"),
        postgresql_where=sa.text("ending_through > 0"),
    )
    op.drop_table("conversations")
    op.drop_table("reply_cache")
    op.drop_table("sleep_runs")
    op.drop_table("keys")
    op.drop_index(
        "ix_collections_pending",
        table_name="collections",
        sqlite_where=sa.text("pending > 0"),
        postgresql_where=sa.text("pending > 0"),
    )
    op.drop_index(
        "ix_collections_due",
        table_name="collections",
        sqlite_where=sa.text("pending > 0"),
        postgresql_where=sa.text("pending > 0"),
    )
    op.drop_table("collections")
    op.drop_table("tenants")
    op.drop_index(op.f("ix_erasures_tenant_origin"), table_name="erasures")
    op.drop_index(op.f("ix_erasures_tenant_within"), table_name="erasures")
    op.drop_table("erasures")
