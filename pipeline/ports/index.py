"""The vector index, what it must hold, and what it has still to follow."""

from collections.abc import Sequence
from typing import Protocol

from pipeline.ids import EntryId
from pipeline.messages import Scope, TenantId
from pipeline.state import IndexHits, IndexPoint, IndexQuery, OutboxItem, StoredPoint

EntryKey = tuple[TenantId, EntryId]
"""An entry among those of all tenants."""


class VectorIndex(Protocol):
    """Derived search structure over entry versions. It may lag; it is never the truth."""

    @property
    def dim(self) -> int:
        """The width of its vectors."""
        ...

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Writes the points as they are given; doing it twice changes nothing."""
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Removes the points; unknown ids are no error."""
        ...

    def search(self, queries: Sequence[IndexQuery]) -> list[IndexHits]:
        """Per query the best dense and lexical hits, best first, ties broken by entry id.

        Scores are rounded to 6 digits. Never contains a point of another tenant or of a collection
        that is not asked. May contain points that a query's filter refuses, never lacks one that
        it lets through.
        """
        ...

    def count(self, scope: Scope | None = None) -> int:
        """Points of one scope, or of all."""
        ...

    def count_old(self) -> int:
        """Points that lack what queries may ask for now, since an older version wrote them."""
        ...

    def points(self, ids: Sequence[str]) -> dict[str, StoredPoint]:
        """Those of the ids that the index holds, as they lie there."""
        ...

    def scan(
        self, whose: Scope | TenantId | None = None, *, after: str | None = None, limit: int = 1000
    ) -> list[StoredPoint]:
        """Points of a collection, a tenant or all, by id, those above ``after``; empty at the end.

        Those of a tenant are also those of collections that nothing else knows of.
        """
        ...

    def begin_rebuild(self, token: str) -> None:
        """Starts to fill the index anew beside what it holds, which is searched meanwhile.

        One begun before and not ended is given up. ``token`` was never used before.
        """
        ...

    def rebuild(self, points: Sequence[IndexPoint]) -> None:
        """Writes points that the new index must hold; ``upsert`` and ``delete`` reach it too."""
        ...

    def end_rebuild(self) -> None:
        """From now on holds what was written since ``begin_rebuild``, and nothing else.

        Where the files are ours, no byte of what was removed before is left in them.
        """
        ...


class IndexSource(Protocol):
    """What the index must hold, read from the record store."""

    def page(
        self, scope: Scope | None = None, *, after: EntryKey | None = None, limit: int = 500
    ) -> list[OutboxItem]:
        """Entries with all their versions, by tenant and id, those above ``after``."""
        ...

    def unknown(self, points: Sequence[StoredPoint]) -> list[StoredPoint]:
        """Those of the points that belong to no version of an entry of their scope."""
        ...

    def pending(self, items: Sequence[OutboxItem]) -> set[EntryKey]:
        """The items' entries that have changes the index has not taken."""
        ...


class Outbox(Protocol):
    """What the index has still to follow."""

    def pending(self, *, limit: int) -> list[OutboxItem]:
        """The oldest changed entries, each with the points it must have now."""
        ...

    def done(self, items: Sequence[OutboxItem]) -> None:
        """Forgets items that the index has taken; doing it twice changes nothing."""
        ...

    def lag(self, scope: Scope) -> int:
        """How many changes of the scope the index has not taken."""
        ...

    def owe_all(self) -> int:
        """Lists every entry that is not listed yet as changed; how many that are.

        For an index that holds nothing: until it has an entry, the lag says so.
        """
        ...
