"""Metadata as words that an index can match: one per key, one per key and value.

They are digests, so whatever stands in a key or value is matched whole and means nothing to an
engine. A word says only that a value is there; what it is greater than is judged on the entry.
"""

import json
from collections.abc import Sequence

from pipeline.entries import Entry
from pipeline.ids import digest
from pipeline.recall.filters import Origin, metadata_values

MOST_LABELS = 64
"""Words of one entry; one that would have more has ``MANY`` instead of the rest."""

MANY = "many"
"""Says that any key and value may be there."""

_CHARS = 16


def key_label(key: str) -> str:
    """The word for a key with any value."""
    return digest("key", key)[:_CHARS]


def value_label(key: str, value: str | bool | int | float) -> str:
    """The word for a key with this value; equal numbers have one word, however written."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return digest("value", key, json.dumps(value))[:_CHARS]


def labels(entry: Entry, sources: Sequence[Origin]) -> tuple[str, ...]:
    """The words of an entry's metadata and of its source messages', in order, each once."""
    found: dict[str, None] = {}
    for key, value in metadata_values(entry, sources):
        found |= dict.fromkeys((key_label(key), value_label(key, value)))
        if len(found) > MOST_LABELS:
            return (*list(found)[: MOST_LABELS - 1], MANY)
    return tuple(found)
