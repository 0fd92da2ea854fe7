"""What a run does with a collection after its decisions: merge, archive, reconcile; as one plan.

All of it follows from the collection as it is, so a plan made twice is empty the second time.
Knows nothing of stores and models.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pipeline.entries import Entry
from pipeline.ids import EntryId, RunId
from pipeline.messages import Json, Scope
from pipeline.scratchpad import Arrivals, Item, ItemWrite
from pipeline.sleep.duplicates import duplicates, merged
from pipeline.sleep.forgetting import Forgetting, archived, weak
from pipeline.sleep.scratchpad import reconciled


class ChangeKind(StrEnum):
    """What sort of change the ledger tells of beside decisions."""

    ARCHIVE = "archive"
    MERGE = "merge"
    ITEM = "item"
    SHORTEN = "shorten"  # an item that gave way where the scratchpad was too long


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A collection as one instant saw it: every entry and scratchpad item, whatever their status.

    ``new`` were written by ingestion or a user since it was last tended; ``decided`` were written
    by the decisions of the run that is at work. ``through`` is the collection's write counter.
    """

    scope: Scope
    entries: tuple[Entry, ...]
    items: tuple[Item, ...]
    new: frozenset[EntryId]
    decided: frozenset[EntryId]
    settings: Mapping[str, Json]
    through: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An entry's next version; ``partner`` is the entry that took it in."""

    kind: ChangeKind
    before: Entry
    after: Entry
    why: str
    partner: EntryId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tending:
    """What to write: groups of turns that hold together or not at all, then items."""

    turns: tuple[tuple[Turn, ...], ...] = ()
    items: tuple[ItemWrite, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a run as the ledger keeps it; ``state`` is applied or undone.

    ``subject`` is an entry's or an item's id; ``version_before`` is 0 where there was none.
    """

    run: RunId
    scope: Scope
    kind: ChangeKind
    subject: str
    version_before: int
    version_after: int
    partner: str | None
    reason: str
    state: str
    changed_at: datetime


def tending(
    kept: Kept, policy: Forgetting, arrivals: Arrivals, *, merges: bool, now: datetime
) -> Tending:
    """The plan for a collection.

    What the run has just decided on is neither merged nor archived: its undo would be in the way.

    Args:
        merges: whether near-duplicates are joined.
    """
    groups = _merges(kept, now) if merges else []
    groups += _archives(kept, policy, _subjects(groups), now)
    entries = {entry.id: entry for entry in kept.entries}
    entries |= {turn.after.id: turn.after for group in groups for turn in group}
    items = reconciled(kept.items, entries, arrivals, now=now)
    return Tending(turns=tuple(groups), items=tuple(items))


def _subjects(groups: Collection[tuple[Turn, ...]]) -> frozenset[EntryId]:
    return frozenset(turn.before.id for group in groups for turn in group)


def _merges(kept: Kept, now: datetime) -> list[tuple[Turn, ...]]:
    groups = []
    undecided = [entry for entry in kept.entries if entry.id not in kept.decided]
    for found in duplicates(undecided, new=kept.new):
        stays, others = merged(found, now=now)
        count = len(others)
        why = f"took in {count} that said the same" if count > 1 else "took in one that said it too"
        own = Turn(kind=ChangeKind.MERGE, before=found.stays, after=stays, why=why)
        groups.append((own, *_taken_in(found.taken_in, others, stays)))
    return groups


def _taken_in(
    before: Collection[Entry], after: Collection[Entry], stays: Entry
) -> tuple[Turn, ...]:
    return tuple(
        Turn(
            kind=ChangeKind.MERGE,
            before=old,
            after=new,
            why=f"says the same as entry {stays.id}",
            partner=stays.id,
        )
        for old, new in zip(before, after, strict=True)
    )


def _archives(
    kept: Kept, policy: Forgetting, merged_away: Collection[EntryId], now: datetime
) -> list[tuple[Turn, ...]]:
    held = [one for one in kept.entries if one.id not in merged_away]
    found = weak(held, policy, now=now, has_grown=bool(kept.new))
    return [
        (
            Turn(
                kind=ChangeKind.ARCHIVE,
                before=one.entry,
                after=archived(one.entry, now=now),
                why=one.reason,
            ),
        )
        for one in found
        if one.entry.id not in kept.decided
    ]
