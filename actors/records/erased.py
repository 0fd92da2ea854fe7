"""Blanking texts in rows that stay: messages, segments, quarantine, ledger, runs.

Shared by erasure and by the retention of raw messages. Returns rows changed.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, select, update

from actors.records.sql import chunks, in_scope
from actors.records.tables import (
    entries,
    entry_versions,
    ledger,
    messages,
    quarantine,
    segments,
    sleep_runs,
)
from pipeline.messages import Scope

ERASED = "erased"
"""What stands where a reason or a note stood."""


def redact_messages(
    connection: Connection, scope: Scope, ids: Sequence[str], *, now: datetime
) -> int:
    """Takes words and names out of the messages; ids, places, times and roles stay."""
    values: dict[str, Any] = {
        "speaker": messages.c.role,  # as of a message that names nobody
        "content": "",
        "compressed": None,
        "fallback": None,
        "metadata": {},
        "redacted_at": now,
    }
    changed = 0
    for some in chunks(ids):
        mine = (in_scope(messages, scope), messages.c.id.in_(some))
        unredacted = messages.c.redacted_at.is_(None)
        statement = update(messages).where(*mine, unredacted).values(values)
        changed += connection.execute(statement).rowcount
    return changed


def blank_topics(connection: Connection, scope: Scope, ids: Sequence[str]) -> int:
    """Takes the label, which is made of words that were said, off the segments."""
    changed = 0
    for some in chunks(ids):
        mine = (in_scope(segments, scope), segments.c.id.in_(some), segments.c.topic != "")
        changed += connection.execute(update(segments).where(*mine).values(topic="")).rowcount
    return changed


def blank_entry_topics(connection: Connection, scope: Scope, ids: Iterable[str]) -> int:
    """Takes the topic off the entries and all their versions."""
    changed = 0
    for some in chunks(sorted(ids)):
        for table, key in ((entry_versions, "entry"), (entries, "id")):
            mine = (in_scope(table, scope), table.c[key].in_(some), table.c.topic != "")
            rows = connection.execute(update(table).where(*mine).values(topic="")).rowcount
            changed += rows if table is entries else 0
    return changed


def blank_quarantine(connection: Connection, scope: Scope, message_ids: Sequence[str]) -> int:
    """Takes raw texts and reasons, which may quote them, out of the messages' quarantine."""
    return _blank(
        connection,
        quarantine,
        scope,
        "message",
        message_ids,
        {"raw": None, "reason": ERASED},
    )


def drop_raws(connection: Connection, scope: Scope) -> int:
    """Takes every raw reply out of the collection's quarantine: it tells of a whole batch."""
    mine = (in_scope(quarantine, scope), quarantine.c.raw.is_not(None))
    return connection.execute(update(quarantine).where(*mine).values(raw=None)).rowcount


def blank_ledger(connection: Connection, scope: Scope, rows: Sequence[int]) -> int:
    """Takes texts, reasons and decisions out of ledger rows; ids, versions and states stay."""
    values = {
        "reason": "",
        "note": ERASED,
        "text_before": "",
        "text_after": None,
        "decision": None,
    }
    return _blank(connection, ledger, scope, "id", rows, values)


def blank_runs(connection: Connection, tenant: str) -> int:
    """Takes the error texts, which may quote anything, off the tenant's sleep runs."""
    failed = (sleep_runs.c.tenant == tenant, sleep_runs.c.error.is_not(None))
    unblanked = sleep_runs.c.error != ERASED
    return connection.execute(
        update(sleep_runs).where(*failed, unblanked).values(error=ERASED)
    ).rowcount


def segments_of_messages(connection: Connection, scope: Scope, ids: Sequence[str]) -> set[str]:
    """The segments that hold any of the messages."""
    found: set[str] = set()
    for some in chunks(ids):
        query = select(messages.c.segment).where(
            in_scope(messages, scope), messages.c.id.in_(some), messages.c.segment.is_not(None)
        )
        found.update(connection.execute(query).scalars())
    return found


def messages_of_segments(connection: Connection, scope: Scope, ids: Iterable[str]) -> set[str]:
    """The messages that lie in any of the segments."""
    found: set[str] = set()
    for some in chunks(sorted(ids)):
        query = select(messages.c.id).where(in_scope(messages, scope), messages.c.segment.in_(some))
        found.update(connection.execute(query).scalars())
    return found


def _blank(
    connection: Connection,
    table: Table,
    scope: Scope,
    key: str,
    values_of_key: Sequence[Any],
    values: dict[str, Any],
) -> int:
    changed = 0
    for some in chunks(values_of_key):
        mine = (in_scope(table, scope), table.c[key].in_(some))
        changed += connection.execute(update(table).where(*mine).values(values)).rowcount
    return changed
