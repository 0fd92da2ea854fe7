"""Tells SQLite's planner how the tables will have grown, before they have.

Without statistics SQLite takes any index that begins with tenant and collection for a good one,
and reads a whole collection to find one message by its id. Statistics of a young store would be
no better, so those of a grown one are written down.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, text

from actors.records.tables import METADATA

_ROWS = 10_000_000
_ALIKE = {"tenant": 100_000, "collection": 10_000, "conversation": 1_000, "state": 1_000}
"""Rows that share a value of the column, and of those before it in an index."""
_FEW_ALIKE = 10
"""The same for any other column."""


def describe_growth(connection: Connection) -> None:
    """Writes the statistics of a grown store (sqlite.org/fileformat2.html, section 2.6.3)."""
    connection.execute(text("ANALYZE sqlite_schema"))  # makes the table where there is none
    connection.execute(text("DELETE FROM sqlite_stat1"))
    for table in METADATA.sorted_tables:
        for index in connection.execute(text(f"PRAGMA index_list({table.name})")).all():
            info = connection.execute(text(f"PRAGMA index_info({index.name})")).all()
            stat = _statistic([row.name for row in info], is_unique=bool(index.unique))
            row = {"table": table.name, "index": index.name, "stat": stat}
            connection.execute(text("INSERT INTO sqlite_stat1 VALUES (:table, :index, :stat)"), row)
    connection.execute(text("ANALYZE sqlite_schema"))  # reads it


def _statistic(columns: Sequence[str], *, is_unique: bool) -> str:
    """All rows, then the rows alike in the first column, in the first two, and so on."""
    alike = [_ROWS]
    for column in columns:
        alike.append(min(alike[-1], _ALIKE.get(column, _FEW_ALIKE)))
    if is_unique:
        alike[-1] = 1
    return " ".join(map(str, alike))
