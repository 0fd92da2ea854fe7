"""Whether an imported row means something: whatever reads it later must not fail on it.

A row that cannot be read would stop more than its own collection: the index follows the entries of
all tenants in one line. Knows nothing of files.
"""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Table

from actors.records.awake_load import BUFFERED, EXTRACTED
from actors.records.rows import entry_of, message_of, version_of
from actors.records.sleep_rows import decision_of, ledger_row_of, run_of
from actors.records.tombstones import MARKS
from pipeline.errors import InputError, SlowwaveError
from pipeline.recall.text import lexical_text_of


def check_row(table: Table, values: Mapping[str, Any]) -> None:
    """Raises InputError for a row of the table that its readers could not read."""
    place: dict[str, Any] = {"tenant": "", "collection": "", "id": values.get("entry", 0)}
    try:
        for name, check in _SHAPES.items():
            if name in values:
                check(values[name])
        _READERS.get(table.name, _nothing)(SimpleNamespace(**(place | dict(values))))
    except (ValueError, TypeError, SlowwaveError) as exc:
        raise InputError(
            f"expected a row of {table.name} that means something", field="row"
        ) from exc


def check_vector(values: Mapping[str, Any], models: Mapping[str, int]) -> None:
    """Raises InputError for a vector of a model or width that the export did not announce."""
    width = models.get(values["model"])
    if width != len(values["vector"]):
        told = "none" if width is None else f"{width} numbers"
        raise InputError(
            f"expected a vector as the first line tells ({told}), got {len(values['vector'])} "
            f"numbers of {values['model']}",
            field="vector",
        )


def _nothing(_row: Any) -> None:
    """Rows that are read as they lie."""


def _entry(row: Any) -> None:
    lexical_text_of(entry_of(row))


def _version(row: Any) -> None:
    lexical_text_of(version_of(row).entry)


def _ledger_row(row: Any) -> None:
    for each in ledger_row_of(row).candidates:
        _require(isinstance(each.entry, str) and type(each.version) is int)
        _require(type(each.similarity) in (int, float))
    if row.decision is not None:
        decision_of(row.decision)


def _segment(row: Any) -> None:
    _require(row.state in (BUFFERED, EXTRACTED))


_READERS: Mapping[str, Callable[[Any], object]] = {
    "messages": message_of,
    "segments": _segment,
    "entries": _entry,
    "entry_versions": _version,
    "sleep_runs": run_of,
    "ledger": _ledger_row,
}


def _texts(value: Any) -> None:
    _require(isinstance(value, list) and all(isinstance(one, str) for one in value))


def _numbers(value: Any) -> None:
    _require(isinstance(value, list) and all(type(one) is int for one in value))


def _mapping(value: Any) -> None:
    _require(isinstance(value, dict))


def _counts(value: Any) -> None:
    _mapping(value)
    _all_whole(value.values())


def _marks(value: Any) -> None:
    _counts(value)
    _require({*MARKS, "epoch"} <= set(value))


def _all_whole(values: Iterable[object]) -> None:
    _require(all(type(one) is int and abs(one) < 2**63 for one in values))


def _require(is_met: bool) -> None:
    if not is_met:
        raise ValueError("another shape")


_SHAPES: Mapping[str, Callable[[Any], None]] = {
    "sources": _texts,
    "entities": _texts,
    "entries": _texts,
    "reply": _numbers,
    "metadata": _mapping,
    "settings": _mapping,
    "totals": _counts,
    "receipt": _counts,
    "marks": _marks,
}
"""What each column of JSON holds, in whatever table."""
