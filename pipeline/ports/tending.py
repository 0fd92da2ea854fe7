"""What a run does with collections after its decisions, as a store offers it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from pipeline.chat import Spent
from pipeline.entries import Kind
from pipeline.ids import RunId
from pipeline.messages import Scope, TenantId
from pipeline.runs import DueCollection
from pipeline.scratchpad import ItemWrite
from pipeline.sleep.tending import Kept, Tending


class TendingStore(Protocol):
    """Whole collections to read, and plans written by compare-and-set with ledger rows.

    What was changed meanwhile wins over the plan; where something was erased meanwhile nothing of
    it is written.
    """

    def untended(
        self,
        tenant: TenantId,
        *,
        collection: str | None = None,
        faded_before: Mapping[Kind, datetime] | None = None,
        capacity: int | None = None,
    ) -> list[DueCollection]:
        """Collections, by name, of which something was written since they were last tended.

        Also those with current entries last touched before ``faded_before`` of their kind, and
        those with more than their own capacity, or ``capacity``, of them.
        """
        ...

    def kept(self, scope: Scope, *, run: RunId) -> Kept:
        """The collection as it is now. Raises NotFound."""
        ...

    def tend(
        self,
        run: RunId,
        scope: Scope,
        plan: Tending,
        *,
        through: int,
        now: datetime,
        is_done: bool = True,
    ) -> None:
        """Writes the plan, made when the write counter stood at ``through``.

        Doing it twice changes nothing. With ``is_done`` the collection counts as tended up to
        there.
        """
        ...

    def shorten(
        self,
        run: RunId,
        scope: Scope,
        groups: Sequence[Sequence[ItemWrite]],
        *,
        spent: Sequence[Spent],
        through: int,
        now: datetime,
    ) -> None:
        """Writes items that give way, each group as a whole or not at all.

        ``spent`` is added to the usage in any case.
        """
        ...

    def changed(
        self, tenant: TenantId, run: RunId, *, collection: str | None = None
    ) -> dict[str, int]:
        """What the run has changed so far, of all or of one collection.

        Counts archived, merged (into another), items and shortened, each thing once.
        """
        ...
