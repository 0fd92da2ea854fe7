"""Every table of the record store, keyed by tenant first. Knows no statement and no connection."""

from actors.records.tables.asleep import (
    ledger,
    ledger_changes,
    reply_cache,
    run_collections,
    sleep_runs,
)
from actors.records.tables.base import METADATA
from actors.records.tables.kept import erasures, recalls, usage
from actors.records.tables.remembered import (
    ORDER,
    entries,
    entry_vectors,
    entry_versions,
    index_ops,
    scratchpad_items,
    scratchpad_versions,
)
from actors.records.tables.said import (
    collections,
    conversations,
    idempotency,
    leases,
    messages,
    quarantine,
    segments,
)
from actors.records.tables.who import keys, tenants

__all__ = [
    "METADATA",
    "ORDER",
    "collections",
    "conversations",
    "entries",
    "entry_vectors",
    "entry_versions",
    "erasures",
    "idempotency",
    "index_ops",
    "keys",
    "leases",
    "ledger",
    "ledger_changes",
    "messages",
    "quarantine",
    "recalls",
    "reply_cache",
    "run_collections",
    "scratchpad_items",
    "scratchpad_versions",
    "segments",
    "sleep_runs",
    "tenants",
    "usage",
]
