"""A collection from the lines of an export: all of it or nothing, and twice is once.

A row that is there must say the same as its line; so an export goes into an empty place, or onto
itself. What was erased here does not come back: an export of a collection that was erased, or that
is older than an erasure in it, is refused by the tombstones of its origin.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from sqlalchemy import ColumnElement, Connection, Engine, Table, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from actors.records.bulk import upsert
from actors.records.engine import writing
from actors.records.export import FORMAT, VERSION
from actors.records.sql import chunks
from actors.records.tables import (
    collections,
    entries,
    entry_vectors,
    erasures,
    index_ops,
    leases,
    ledger,
    sleep_runs,
    tenants,
)
from actors.records.tombstones import erased_before, origin_of, within
from actors.records.transfer_checks import check_agreement, check_row, check_vector
from actors.records.transfer_rows import columns_of, exported, key_of, told, values_of
from pipeline.awake.idle import idle_at
from pipeline.errors import Conflict, InputError, NotFound
from pipeline.messages import Scope
from pipeline.settings import LimitSettings

_MAX_LINE = 64 * 1024 * 1024
_OF_TENANT = ("erasures", "sleep_runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the first line of an export says: ``models`` gives each model's width."""

    origin: str
    models: Mapping[str, int]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Rows per table that were added, and how many were there already."""

    added: Mapping[str, int]
    known: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A line's row and its place in the file, from 1."""

    line: int
    values: dict[str, Any]


_Read = Callable[[], Iterator[tuple[Table, _Row]]]
"""Reads all rows of the file, checked, once more."""


class SqlImport:
    """Imports over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def load(
        self,
        scope: Scope,
        file: BinaryIO,
        *,
        model: str,
        width: int,
        now: datetime,
        limits: LimitSettings = LimitSettings(),  # noqa: B008  (frozen)
    ) -> Imported:
        """Stores the export in ``file``, which is read twice, as the collection.

        Args:
            model: the embedding model that the service runs, whose vectors are ``width`` wide.

        Raises:
            InputError: the file is no whole export, a row means nothing or holds more than a
                request may, with its line; or its vectors are of another model or width.
            Conflict: something of it is there and says otherwise, or it was erased here.
            NotFound: there is no such tenant.
        """
        head = check(file)
        _check_models(head, model=model, width=width)
        read = partial(_all_rows, file, limits)
        with writing(self._engine, scope.tenant) as connection:
            _check_tombstones(connection, scope, head, read)
            try:
                return _store(connection, scope, head, read, now)
            except IntegrityError as exc:
                raise Conflict(
                    "an id of the export is taken by another collection of this store",
                    field="file",
                ) from exc


# Reading ------------------------------------------------------------------------------------------


def check(file: BinaryIO) -> Head:
    """The head of a whole export, read from its start to its end.

    Raises:
        InputError: it is cut off, changed or something else; the message names the line.
    """
    file.seek(0)
    hashed = hashlib.sha256()
    found: dict[str, int] = {}
    head: Head | None = None
    for number, line in enumerate(_raw_lines(file), start=1):
        document = _document(line, number)
        if head is None:
            head = _head(document)
        elif "sha256" in document:
            _check_end(file, document, number, hashed.hexdigest(), head, found)
            return head
        else:
            table = _table(document, number).name
            found[table] = found.get(table, 0) + 1
        hashed.update(line)
    raise _wrong(sum(found.values()) + 2, "expected a checksum, got the end of the file")


def _raw_lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(_MAX_LINE):
        yield line


def _document(line: bytes, number: int) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as exc:
        raise _wrong(number, "expected JSON in UTF-8") from exc
    if not isinstance(document, dict) or not line.endswith(b"\n"):
        raise _wrong(number, "expected one JSON object")
    return document


def _head(document: Mapping[str, Any]) -> Head:
    match document:
        case {
            "format": str(name),
            "version": int(version),
            "origin": str(origin),
            "models": dict(models),
            "counts": dict(counts),
        } if name == FORMAT:
            if version != VERSION:
                raise _wrong(1, f"expected version {VERSION} of the format, got {version}")
            return Head(origin=origin, models=models, counts=counts)
    raise _wrong(1, "expected the first line of an export of a collection")


def _table(document: Mapping[str, Any], number: int) -> Table:
    known = {rule.table.name: rule.table for rule in exported()}
    match document:
        case {"table": str(name), "row": dict()} if name in known:
            return known[name]
    raise _wrong(number, "expected a row of an exported table")


def _check_end(
    file: BinaryIO,
    document: Mapping[str, Any],
    number: int,
    digest: str,
    head: Head,
    found: Mapping[str, int],
) -> None:
    if document != {"lines": number - 1, "sha256": digest}:
        raise _wrong(number, "the checksum is not that of the lines before")
    if {name: count for name, count in head.counts.items() if count} != dict(found):
        raise _wrong(number, "the rows are not as many as the first line says")
    if found.get(collections.name) != 1:
        raise _wrong(1, "expected the rows of one collection")
    if file.read(1):
        raise _wrong(number + 1, "expected the end of the file")


def _wrong(number: int, reason: str, *, field: str | None = None) -> InputError:
    return InputError(f"line {number}: {reason}", field=field or "file")


def _check_models(head: Head, *, model: str, width: int) -> None:
    for name, stored in head.models.items():
        if name != model:
            raise InputError(
                f"expected vectors of {model}, the export holds those of {name}", field="model"
            )
        if stored != width:
            raise InputError(
                f"expected vectors of {width} numbers, the export's have {stored}", field="model"
            )


# Tombstones ---------------------------------------------------------------------------------------


def _check_tombstones(connection: Connection, scope: Scope, head: Head, read: _Read) -> None:
    """Raises Conflict where something was erased here that the export does not know of."""
    mine = (erasures.c.tenant == scope.tenant, erasures.c.origin == head.origin)
    columns = (erasures.c.kind, erasures.c.subject, erasures.c.erased_at)
    here = connection.execute(select(*columns).where(*mine)).all()
    if not here:
        return
    known = {
        (row.values["kind"], row.values["subject"], row.values["erased_at"])
        for row in _rows(read, "erasures")
    }
    for row in here:
        if (row.kind, row.subject, row.erased_at) not in known:
            raise Conflict(
                f"the export is older than an erasure of {row.erased_at.isoformat()} "
                f"({row.kind}) in the same collection, and would bring it back",
                field="file",
            )


def _rows(read: _Read, wanted: str) -> Iterator[_Row]:
    """The rows of one table."""
    for table, row in read():
        if table.name == wanted:
            yield row


def _all_rows(file: BinaryIO, limits: LimitSettings) -> Iterator[tuple[Table, _Row]]:
    file.seek(0)
    for number, line in enumerate(_raw_lines(file), start=1):
        document = _document(line, number)
        if number == 1 or "sha256" in document:
            continue
        table = _table(document, number)
        try:
            values = values_of(table, document["row"])
            check_row(table, values, limits=limits)
        except InputError as exc:
            raise _wrong(number, exc.message, field=exc.field) from exc
        yield table, _Row(line=number, values=values)


# Writing ------------------------------------------------------------------------------------------


def _store(
    connection: Connection, scope: Scope, head: Head, read: _Read, now: datetime
) -> Imported:
    known = select(tenants.c.name).where(tenants.c.name == scope.tenant)
    if connection.execute(known).first() is None:
        raise NotFound(f"no tenant {scope.tenant!r}", field="tenant")
    added: dict[str, int] = {}
    count = line = 0
    for table, some in _pages(read):
        count += len(some)
        if table is entry_vectors:
            _check_vectors(some, head)
        fresh = _fresh(connection, scope, table, some, head)
        if fresh:
            rows = [_placed(scope, table, row, head) for row in fresh]
            connection.execute(insert(table), rows)
            added[table.name] = added.get(table.name, 0) + len(fresh)
            _follow(connection, scope, table, fresh, now)
        if table is collections:
            line = some[0].line
    if added:
        _check_agreement(connection, scope, line)
    return Imported(added=added, known=count - sum(added.values()))


def _check_agreement(connection: Connection, scope: Scope, line: int) -> None:
    try:
        check_agreement(connection, scope)
    except InputError as exc:
        raise _wrong(line, exc.message, field=exc.field) from exc


def _check_vectors(rows: Sequence[_Row], head: Head) -> None:
    for row in rows:
        try:
            check_vector(row.values, head.models)
        except InputError as exc:
            raise _wrong(row.line, exc.message, field=exc.field) from exc


def _pages(read: _Read) -> Iterator[tuple[Table, list[_Row]]]:
    """Rows of one table, in runs short enough for one statement."""
    held: list[_Row] = []
    present: Table | None = None
    for table, row in read():
        if present is not None and (table is not present or len(held) == 200):
            yield present, held
            held = []
        present = table
        held.append(row)
    if present is not None and held:
        yield present, held


def _fresh(
    connection: Connection, scope: Scope, table: Table, rows: Sequence[_Row], head: Head
) -> list[_Row]:
    """The rows that are not there yet. Raises Conflict where one is and says otherwise."""
    stored = _stored(connection, scope, table, rows)
    keys = [column.name for column in key_of(table)]
    fresh = []
    for row in rows:
        kept = stored.get(tuple(row.values[name] for name in keys))
        if kept is None:
            fresh.append(row)
        elif not _is_same(kept, scope, table, row, head):
            raise Conflict(
                f"line {row.line}: {table.name} holds {_clash(kept, scope)}", field="file"
            )
    return fresh


def _clash(kept: Any, scope: Scope) -> str:
    place = kept._mapping.get("collection", scope.collection)
    if place != scope.collection:
        return (
            f"this row in the collection {place!r}; an export goes into one collection of a "
            "tenant, under another name only in another tenant or store"
        )
    return "another row in its place; an export goes into an empty collection or onto itself"


def _stored(
    connection: Connection, scope: Scope, table: Table, rows: Sequence[_Row]
) -> dict[tuple[Any, ...], Any]:
    keys = key_of(table)
    found: dict[tuple[Any, ...], Any] = {}
    for some in chunks(rows):
        query = select(table).where(_place(table, scope))
        if keys:
            wanted = [tuple(row.values[key.name] for key in keys) for row in some]
            query = query.where(tuple_(*keys).in_(wanted))
        for row in connection.execute(query):
            found[tuple(row._mapping[key.name] for key in keys)] = row
    return found


def _place(table: Table, scope: Scope) -> ColumnElement[bool]:
    """Where a row with the same key would be the same one: in the collection, or in the tenant."""
    inside: ColumnElement[bool] = table.c.tenant == scope.tenant
    if table is collections:
        return inside & (table.c.name == scope.collection)
    is_keyed = "collection" in table.primary_key or table is ledger
    return inside & (table.c.collection == scope.collection) if is_keyed else inside


def _is_same(kept: Any, scope: Scope, table: Table, row: _Row, head: Head) -> bool:
    names = [column.name for column in columns_of(table)]
    here = kept._mapping
    if "collection" in here and here["collection"] != scope.collection:
        return False
    if table is collections and origin_of(kept) != head.origin:
        return False
    return told({name: here[name] for name in names}) == told(row.values)


def _placed(scope: Scope, table: Table, row: _Row, head: Head) -> dict[str, Any]:
    values = {"tenant": scope.tenant, **row.values}
    if table is collections:
        named = {"name": scope.collection, "origin": head.origin}
        return values | named | {"idle_at": idle_at(values["settings"], values["last_accepted_at"])}
    if table is erasures:
        return values | {"within": within(scope), "cleaned_at": row.values["erased_at"]}
    return values if table is sleep_runs else values | {"collection": scope.collection}


def _follow(
    connection: Connection, scope: Scope, table: Table, rows: Sequence[_Row], now: datetime
) -> None:
    """What an export does not hold: the lease of a new collection, the index' work."""
    place = {"tenant": scope.tenant, "collection": scope.collection}
    if table is collections:
        marks = erased_before(connection, scope) or {"epoch": 0}
        upsert(connection, leases, [place | {"epoch": marks["epoch"]}], changes=())
    if table is entries:
        ops = [place | {"entry": row.values["id"], "created_at": now} for row in rows]
        connection.execute(insert(index_ops), ops)
