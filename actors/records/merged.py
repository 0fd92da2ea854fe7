"""Which entries sleep made from erased ones, and what they are without them.

An entry that an update merged with an erased one holds its text from that version on. Such versions
say again what the last version before them said; where that is the present one, a further version
does, so that nobody who still holds the merged text can write it by compare-and-set.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from actors.records.erased import ERASED
from actors.records.rows import entry_of, entry_values
from actors.records.sleep_rows import copy_vectors, write_version
from actors.records.sql import in_scope
from actors.records.tables import entries, entry_vectors, entry_versions, index_ops, ledger
from pipeline.entries import Entry, Writer
from pipeline.messages import Scope

_SAID = ("text", "speaker", "language", "kind", "attributes", "entities", "topic", "sources")
"""The fields of an entry that a merged version takes from the version before."""


@dataclass(slots=True)
class Traces:
    """What still holds words of erased entries.

    ``ledger`` are rows that may quote them; ``reasons`` the (entry, run) whose versions may;
    ``merged`` per entry the versions that hold them; ``lost`` entries with no version without.
    """

    ledger: list[int] = field(default_factory=list)
    reasons: set[tuple[str, str]] = field(default_factory=set)
    merged: dict[str, set[int]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decided:
    """A ledger row, without its texts."""

    id: int
    run: str
    target: str
    candidates: frozenset[str]
    used: frozenset[str]


def traces(connection: Connection, scope: Scope, erased: Iterable[str]) -> Traces:
    """Everything that sleep made of the erased entries, and of what was made of those."""
    gone = set(erased)
    rows = _decisions(connection, scope)
    reached = _reached(rows, gone)
    found = Traces()
    for target in sorted(reached - gone):
        runs = {row.run for row in rows if row.target == target and row.used & reached}
        versions = _merged_versions(connection, scope, target, runs)
        if versions is None:
            found.lost.add(target)
        else:
            found.merged[target] = versions
    for row in rows:
        if row.target in reached or row.candidates & reached:
            found.ledger.append(row.id)
            found.reasons.add((row.target, row.run))
    return found


def _reached(rows: Sequence[_Decided], erased: set[str]) -> set[str]:
    """The erased entries and all that took something from them, over any number of steps."""
    reached = set(erased)
    while more := {row.target for row in rows if row.used & reached} - reached:
        reached |= more
    return reached


def _decisions(connection: Connection, scope: Scope) -> list[_Decided]:
    columns = (ledger.c.id, ledger.c.run, ledger.c.target, ledger.c.candidates, ledger.c.decision)
    query = select(*columns).where(in_scope(ledger, scope)).order_by(ledger.c.id)
    return [_decided(row) for row in connection.execute(query)]


def _decided(row: Any) -> _Decided:
    """A row whose decision was erased before may have used any of its candidates."""
    candidates = frozenset(str(entry) for entry, _version, _similarity in row.candidates)
    match row.decision:
        case None:
            used = candidates
        case {"action": "update", "used": list(named)}:
            used = frozenset(named)
        case _:
            used = frozenset()
    return _Decided(id=row.id, run=row.run, target=row.target, candidates=candidates, used=used)


def _versions(connection: Connection, scope: Scope, entry: str) -> list[Any]:
    query = (
        select(entry_versions, entry_versions.c.entry.label("id"))
        .where(in_scope(entry_versions, scope), entry_versions.c.entry == entry)
        .order_by(entry_versions.c.version)
    )
    return list(connection.execute(query))


def _merged_versions(
    connection: Connection, scope: Scope, entry: str, runs: set[str]
) -> set[int] | None:
    """The versions that hold words of what the runs merged in; None where the first one does.

    A version that says what an earlier one said is what that one is. Any other text written after
    a merged one may be made of it, by whomever.
    """
    merged: set[int] = set()
    is_merged: dict[str, bool] = {}
    before = False
    for row in _versions(connection, scope, entry):
        if row.text in is_merged:
            now = is_merged[row.text]
        else:
            now = before or (row.written_by == Writer.SLEEP.value and row.run in runs)
        is_merged[row.text] = before = now
        if now:
            merged.add(row.version)
    return None if 1 in merged else merged


def take_out(
    connection: Connection, scope: Scope, merged: Mapping[str, set[int]], *, now: datetime
) -> int:
    """Gives the merged versions the words of the version before; how many rows of versions."""
    changed = 0
    for entry, versions in sorted(merged.items()):
        if versions:
            changed += len(versions)
            _take_out(connection, scope, entry, versions, now)
    return changed


def _take_out(
    connection: Connection, scope: Scope, entry: str, versions: set[int], now: datetime
) -> None:
    rows = {row.version: row for row in _versions(connection, scope, entry)}
    clean = 0
    for version in sorted(rows):
        if version in versions:
            _rewrite(connection, scope, entry_of(rows[version]), entry_of(rows[clean]))
        else:
            clean = version
    newest = max(rows)
    if newest in versions:
        _say_again(connection, scope, entry, clean=entry_of(rows[clean]), now=now)
    place = {"tenant": scope.tenant, "collection": scope.collection, "entry": entry}
    connection.execute(index_ops.insert().values(**place, created_at=now))


def _rewrite(connection: Connection, scope: Scope, merged: Entry, clean: Entry) -> None:
    """The version as if nothing had been merged in; its vectors follow."""
    after = _without(merged, clean)
    mine = (in_scope(entry_versions, scope), entry_versions.c.entry == merged.id)
    connection.execute(
        update(entry_versions)
        .where(*mine, entry_versions.c.version == merged.version)
        .values(**entry_values(after), why=ERASED)
    )
    connection.execute(
        delete(entry_vectors).where(
            in_scope(entry_vectors, scope),
            entry_vectors.c.entry == merged.id,
            entry_vectors.c.version == merged.version,
        )
    )
    copy_vectors(connection, scope, after, version=clean.version)


def _without(merged: Entry, clean: Entry) -> Entry:
    return replace(merged, **{name: getattr(clean, name) for name in _SAID})


def _say_again(
    connection: Connection, scope: Scope, entry: str, *, clean: Entry, now: datetime
) -> None:
    query = select(entries).where(in_scope(entries, scope), entries.c.id == entry)
    present = entry_of(connection.execute(query).one())
    after = replace(
        _without(present, clean),
        version=present.version + 1,
        order=clean.order,
        said_at=clean.said_at,
        zone=clean.zone,
        written_by=Writer.UNDO,
        written_at=now,
    )
    write_version(connection, scope, present, after, why="an erased entry was taken out", run=None)
    copy_vectors(connection, scope, after, version=clean.version)


def drop_reasons(connection: Connection, scope: Scope, reasons: Sequence[tuple[str, str]]) -> int:
    """Takes the reasons, which may quote what was erased, off the versions that runs wrote."""
    changed = 0
    for entry, run in reasons:
        mine = (
            in_scope(entry_versions, scope),
            entry_versions.c.entry == entry,
            entry_versions.c.run == run,
        )
        changed += connection.execute(
            update(entry_versions).where(*mine).values(why=ERASED)
        ).rowcount
    return changed
