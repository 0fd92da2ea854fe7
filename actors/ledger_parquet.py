"""The ledger of a run as a Parquet file for audits: one row per decision, then one per change."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.runs import LedgerRow
from pipeline.sleep.tending import Change

ROWS = 10_000
"""Rows of one row group, which is all that lies in memory at a time."""

_Plain = dict[str, Any]
_TIME = pa.timestamp("us", tz="UTC")
_CANDIDATE = pa.struct(
    [
        ("entry", pa.string()),
        ("version", pa.int32()),
        ("similarity", pa.float64()),
        ("text", pa.string()),
    ]
)
SCHEMA = pa.schema(
    [
        ("run", pa.string()),
        ("kind", pa.string()),
        ("decision", pa.int64()),
        ("tenant", pa.string()),
        ("collection", pa.string()),
        ("target", pa.string()),
        ("target_version", pa.int32()),
        ("version_after", pa.int32()),
        ("action", pa.string()),
        ("state", pa.string()),
        ("reason", pa.string()),
        ("note", pa.string()),
        ("text_before", pa.string()),
        ("text_after", pa.string()),
        ("candidates", pa.list_(_CANDIDATE)),
        ("absorbed", pa.list_(pa.string())),
        ("partner", pa.string()),
        ("decider", pa.string()),
        ("decided_at", _TIME),
    ]
)
"""The columns; null is what does not apply.

``kind`` is decision, or what followed the decisions: archive, merge, item (of the scratchpad) or
shorten (of one that was too long). ``decision`` is the row's number in the ledger, ``target`` what
was changed: an entry, or an item; its ``target_version`` is 0 where there was none before.
``partner`` is the entry that took a merged one in.
"""

Texts = Mapping[tuple[str, int], str]
"""Texts by the id and the version of what they are of."""


def write_ledger(
    rows: Iterable[LedgerRow],
    file: IO[bytes],
    *,
    texts: Texts,
    changes: Iterable[Change] = (),
    changed_texts: Texts | None = None,
) -> int:
    """Writes the rows in their order, then the changes; how many.

    Args:
        texts: of candidates.
        changed_texts: of what was changed, before and after; what was erased has none.
    """
    decided = (_plain(row, texts) for row in rows)
    changed = (_plain_change(change, changed_texts or {}) for change in changes)
    written, left = 0, chain(decided, changed)
    with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        for some in _groups(left):
            writer.write_table(pa.Table.from_pylist(some, schema=SCHEMA))
            written += len(some)
    return written


def _groups(rows: Iterator[_Plain]) -> Iterator[list[_Plain]]:
    while some := list(islice(rows, ROWS)):
        yield some


def _plain(row: LedgerRow, texts: Texts) -> _Plain:
    candidates = [
        {
            "entry": each.entry,
            "version": each.version,
            "similarity": each.similarity,
            "text": texts.get((each.entry, each.version)),
        }
        for each in row.candidates
    ]
    own = {name: getattr(row, name, None) for name in SCHEMA.names}
    return own | {
        "kind": "decision",
        "decision": row.id,
        "tenant": row.scope.tenant,
        "collection": row.scope.collection,
        "candidates": candidates,
        "absorbed": list(row.absorbed),
    }


def _plain_change(change: Change, texts: Texts) -> _Plain:
    return {
        "run": change.run,
        "kind": change.kind.value,
        "tenant": change.scope.tenant,
        "collection": change.scope.collection,
        "target": change.subject,
        "target_version": change.version_before,
        "version_after": change.version_after,
        "state": change.state,
        "reason": change.reason,
        "text_before": texts.get((change.subject, change.version_before)),
        "text_after": texts.get((change.subject, change.version_after)),
        "partner": change.partner,
        "decided_at": change.changed_at,
    }
