"""Tenants and their keys."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    Table,
    Text,
    UniqueConstraint,
)

from actors.records.columns import UtcDateTime, required
from actors.records.tables.base import METADATA, of_tenant

tenants = Table(
    "tenants",
    METADATA,
    Column("name", Text, primary_key=True),
    required("created_at", UtcDateTime),
    Column("zone", Text, nullable=False, server_default="UTC"),
    Column("sleep_window", Text),  # its name; the schedule counts where it has one
    Column("sleep_cron", Text),
    Column("sleep_max_s", Float),
    Column("sleep_max_tokens", BigInteger),
    Column("sleep_idle_s", Float),
    required("settings", JSON),
    Column("disabled_at", UtcDateTime),
    Column("rate_tokens", Float),  # messages left in the bucket of its quota per minute
    Column("rate_filled_at", UtcDateTime),
)

keys = Table(
    "keys",
    METADATA,
    of_tenant(),
    Column("hash", Text, primary_key=True),
    Column("label", Text, nullable=False, server_default=""),
    required("scopes", JSON),
    required("created_at", UtcDateTime),
    Column("expires_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
    Column("last_used_at", UtcDateTime),
    UniqueConstraint("hash"),
)
