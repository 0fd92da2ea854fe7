"""Whether an imported row means something: whatever reads it later must not fail on it.

A row that cannot be read would stop more than its own collection: the index follows the entries of
all tenants in one line, and what is counted is counted on. Knows nothing of files.
"""

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Table, func, select

from actors.records.awake_load import BUFFERED, EXTRACTED
from actors.records.fsck import counted
from actors.records.rows import entry_of, message_of, version_of
from actors.records.scratchpad_rows import item_of, item_version_of
from actors.records.sleep_changes import change_of
from actors.records.sleep_rows import decision_of, ledger_row_of, run_of
from actors.records.sql import find_collection, in_scope
from actors.records.tables import entries
from actors.records.tombstones import MARKS
from pipeline.errors import InputError, SlowwaveError
from pipeline.messages import Scope
from pipeline.names import MOST_CHARS, check_name
from pipeline.recall.text import lexical_text_of
from pipeline.settings import LimitSettings, collection_settings
from pipeline.storable import HIGHEST
from pipeline.text.zones import zone_info


def check_row(table: Table, values: Mapping[str, Any], *, limits: LimitSettings) -> None:
    """Raises InputError for a row of the table that its readers could not read.

    Its field names the column. Names and texts keep the ``limits`` that requests have.
    """
    for name, value in values.items():
        if value is not None or not table.c[name].nullable:
            _check_value(f"{table.name}.{name}", name, value, limits)
    place: dict[str, Any] = {"tenant": "", "collection": "", "id": values.get("entry", 0)}
    try:
        _READERS.get(table.name, _nothing)(SimpleNamespace(**(place | dict(values))))
    except (ValueError, TypeError, OverflowError, SlowwaveError) as exc:
        raise InputError(
            f"expected a row of {table.name} that means something", field="row"
        ) from exc


def _check_value(where: str, name: str, value: Any, limits: LimitSettings) -> None:
    try:
        for key in (name, where):
            _SHAPES.get(key, _nothing)(value)
        if where in _SAID:
            _require(
                len(value) <= limits.message_chars, f"at most {limits.message_chars} characters"
            )
        if name == "metadata" and value:
            size = len(json.dumps(value, ensure_ascii=False).encode())
            _require(size <= limits.body_bytes, f"at most {limits.body_bytes} bytes")
    except ValueError as exc:
        raise InputError(f"{where}: {exc}", field=where) from exc


def check_agreement(connection: Connection, scope: Scope) -> None:
    """Raises InputError where the collection's counters are not those of its rows.

    Its field names the counter.
    """
    row = find_collection(connection, scope)
    newest = select(func.max(entries.c.new_at)).where(in_scope(entries, scope))
    for name, count in counted(connection, scope, row).items():
        if getattr(row, name) != count:
            _refuse(name, f"{count}, as its messages say", getattr(row, name))
    if row.writes < (least := connection.execute(newest).scalar() or 0):
        _refuse("writes", f"{least} or more, as its entries say", row.writes)
    for name, most in _WITHIN:
        if getattr(row, name) > getattr(row, most):
            _refuse(name, f"no more than {most}, {getattr(row, most)}", getattr(row, name))


def _refuse(counter: str, expected: str, found: int) -> None:
    where = f"collections.{counter}"
    raise InputError(f"{where}: expected {expected}, got {found}", field=where)


_WITHIN = (
    ("flush_requested", "last_sequence"),
    ("flushed", "last_sequence"),
    ("consolidated_through", "writes"),
    ("tended_through", "writes"),
)
"""Counters that follow another one and never pass it."""


def check_vector(values: Mapping[str, Any], models: Mapping[str, int]) -> None:
    """Raises InputError for a vector of a model or width that the export did not announce."""
    width = models.get(values["model"])
    if width != len(values["vector"]):
        told = "none" if width is None else f"{width} numbers"
        raise InputError(
            f"expected a vector as the first line tells ({told}), got {len(values['vector'])} "
            f"numbers of {values['model']}",
            field="entry_vectors.vector",
        )


def _nothing(_value: Any) -> None:
    """What is taken as it lies."""


def _entry(row: Any) -> None:
    lexical_text_of(entry_of(row))


def _version(row: Any) -> None:
    lexical_text_of(version_of(row).entry)


def _ledger_row(row: Any) -> None:
    for each in ledger_row_of(row).candidates:
        is_version = isinstance(each.entry, str) and _is_count(each.version)
        _require(is_version and type(each.similarity) in (int, float), "weighed versions")
    for absorbed in row.absorbed or ():
        name, *versions = absorbed
        told = (one is None or _is_count(one) for one in versions)
        _require(isinstance(name, str) and len(versions) in (2, 3) and all(told), "versions")
    if row.decision is not None:
        decision_of(row.decision)


def _segment(row: Any) -> None:
    _require(row.state in (BUFFERED, EXTRACTED), f"{BUFFERED} or {EXTRACTED}")


def _message(row: Any) -> None:
    message = message_of(row)
    zone_info(message.zone)
    _require(bool(message.content.strip()) or message.redacted_at is not None, "some content")


_READERS: Mapping[str, Callable[[Any], object]] = {
    "messages": _message,
    "segments": _segment,
    "entries": _entry,
    "entry_versions": _version,
    "sleep_runs": run_of,
    "ledger": _ledger_row,
    "ledger_changes": change_of,
    "scratchpad_items": item_of,
    "scratchpad_versions": item_version_of,
}

_SAID = (
    "messages.content",
    "messages.compressed",
    "entries.text",
    "entry_versions.text",
    "scratchpad_items.text",
    "scratchpad_versions.text",
)
"""Texts that are no longer than a message may be."""


def _texts(value: Any) -> None:
    is_list = isinstance(value, list)
    _require(is_list and all(isinstance(one, str) for one in value), "a list of texts")


def _places(value: Any) -> None:
    is_list = isinstance(value, list)
    _require(is_list and all(_is_count(one) and one > 0 for one in value), "a list of sequences")


def _mapping(value: Any) -> None:
    _require(isinstance(value, dict), "an object")


def _own_settings(value: Any) -> None:
    try:
        collection_settings(value)
    except InputError as exc:
        raise ValueError(exc.message) from exc


def _counts(value: Any) -> None:
    _mapping(value)
    _require(all(_is_count(one) for one in value.values()), f"counts of 0 to {HIGHEST}")


def _marks(value: Any) -> None:
    _counts(value)
    _require({*MARKS, "epoch"} <= set(value), f"{', '.join(MARKS)} and epoch")


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= HIGHEST


def _name(value: str) -> None:
    _require(0 < len(value) <= MOST_CHARS, f"1 to {MOST_CHARS} characters")


def _path_name(value: str) -> None:
    _name(value)
    check_name(value)


def _zone(value: str) -> None:
    _require(len(value) <= 64, "at most 64 characters")


def _require(is_met: bool, expected: str) -> None:
    if not is_met:
        raise ValueError(f"expected {expected}")


_SHAPES: Mapping[str, Callable[[Any], None]] = {
    "sources": _texts,
    "entities": _texts,
    "entries": _texts,
    "conflicts": _texts,
    "reply": _places,
    "metadata": _mapping,
    "settings": _mapping,
    "collections.settings": _own_settings,
    "totals": _counts,
    "receipt": _counts,
    "slot": _name,
    "ledger_changes.subject": _path_name,
    "marks": _marks,
    "zone": _zone,
    "speaker": _name,
    "external_id": _name,
    "idempotency.key": _name,
    "conversations.name": _path_name,
    **dict.fromkeys(("id", "entry", "item", "run", "target", "message"), _path_name),
    **dict.fromkeys(("conversation", "segment"), _path_name),
}
"""What a column holds, in whatever table it is or in the one that is named."""
