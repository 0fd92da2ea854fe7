"""Whether entries say what their newest versions say, which are kept beside them.

Strength and last use change no version and may differ.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, Text, cast, insert, or_, select, update

from actors.records.entry_writes import SHARED
from actors.records.sql import in_scope
from actors.records.tables import entries, entry_versions, index_ops
from pipeline.ids import identity
from pipeline.messages import Scope
from pipeline.state import Difference

_COMPARED = [name for name in SHARED if name not in ("strength", "last_used_at")]


def unlike_versions(connection: Connection, scope: Scope, *, repair: bool) -> Iterator[Difference]:
    """Entries whose row is not the newest version.

    A repair copies the version into the row where the version's own digest vouches for its text.
    """
    for row in connection.execute(_suspects(scope)).all():
        wrong = [name for name in _COMPARED if row._mapping[name] != row._mapping[_kept(name)]]
        if not wrong:
            continue
        is_sound = _is_sound(row)
        if repair and is_sound:
            _restore(connection, scope, row, wrong)
        yield Difference(
            kind="unlike its version",
            scope=scope,
            subject=f"entry {row.id}",
            detail=f"expected what version {row.version} says, found another {', '.join(wrong)}",
            repaired=repair and is_sound,
        )


def _suspects(scope: Scope) -> Select[Any]:
    """Entries beside their versions where the stored values differ in any column."""
    versions = entry_versions.c
    same = (
        (versions.tenant == entries.c.tenant)
        & (versions.entry == entries.c.id)
        & (versions.version == entries.c.version)
    )
    unlike = [
        cast(entries.c[name], Text).is_distinct_from(cast(versions[name], Text))
        for name in _COMPARED
    ]
    kept = [versions[name].label(_kept(name)) for name in _COMPARED]
    query = select(entries, *kept).join(entry_versions, same)
    return query.where(in_scope(entries, scope), or_(*unlike)).order_by(entries.c.id)


def _kept(name: str) -> str:
    return f"kept_{name}"


def _is_sound(row: Row[Any]) -> bool:
    """Whether the version's text is the one that was written with its digest."""
    kept = row._mapping
    said = identity(kept["kept_text"], kept["kept_speaker"], kept["kept_kind"])
    return bool(said == kept["kept_identity"])


def _restore(connection: Connection, scope: Scope, row: Row[Any], wrong: Sequence[str]) -> None:
    values = {name: row._mapping[_kept(name)] for name in wrong}
    mine = (in_scope(entries, scope), entries.c.id == row.id)
    connection.execute(update(entries).where(*mine).values(values))
    written_at: datetime = row._mapping["kept_written_at"]
    place = {"tenant": scope.tenant, "collection": scope.collection, "entry": row.id}
    connection.execute(insert(index_ops).values(**place, created_at=written_at))
