"""What a decision makes of its target: always a next version, never a removal.

Source: arXiv 2510.18866, section 3.3. Upstream lightmem.py@8fc9a91 removes what it deletes and
keeps the time of what it updates; here a deleted entry stays readable in history, and an updated
one moves to the time of the newest source it took in. Knows nothing of stores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TypeVar, assert_never

from pipeline.entries import Attributes, Decision, Delete, Entry, Ignore, Status, Update, Writer
from pipeline.errors import InputError
from pipeline.ids import EntryId
from pipeline.tasks import closed_by

_T = TypeVar("_T")


def apply(
    entry: Entry, decision: Decision, candidates: Mapping[EntryId, Entry], *, now: datetime
) -> Entry:
    """The entry after the decision; unchanged after Ignore, else its next version.

    Raises:
        InputError: the decision uses an entry that is not among the candidates.
    """
    match decision:
        case Ignore():
            return entry
        case Update(text=text, used=used):
            return _updated(entry, text, [_known(candidates, one) for one in used], now)
        case Delete(superseded_by=newer):
            return _superseded(entry, _known(candidates, newer), now)
        case _:
            assert_never(decision)


def used_by(decision: Decision) -> tuple[EntryId, ...]:
    """The candidates that a decision rests on."""
    match decision:
        case Ignore():
            return ()
        case Update(used=used):
            return used
        case Delete(superseded_by=newer):
            return (newer,)
        case _:
            assert_never(decision)


def restore(current: Entry, before: Entry, *, now: datetime) -> Entry:
    """The next version of ``current`` that says again what ``before`` said, written by undo.

    Strength and last use are kept as they are: they belong to no version.
    """
    return replace(
        before,
        version=current.version + 1,
        written_by=Writer.UNDO,
        written_at=now,
        strength=current.strength,
        last_used_at=current.last_used_at,
    )


def _known(candidates: Mapping[EntryId, Entry], wanted: EntryId) -> Entry:
    if wanted not in candidates:
        raise InputError(f"expected one of the candidates, got entry {wanted}")
    return candidates[wanted]


def _updated(entry: Entry, text: str, used: Sequence[Entry], now: datetime) -> Entry:
    newest = max([entry, *used], key=lambda one: one.order)
    return replace(
        entry,
        version=entry.version + 1,
        text=text,
        order=newest.order,
        said_at=newest.said_at,
        zone=newest.zone,
        sources=_union([entry.sources, *(one.sources for one in used)]),
        entities=_union([entry.entities, *(one.entities for one in used)]),
        attributes=_attributes(entry, used),
        written_by=Writer.SLEEP,
        written_at=now,
    )


def _union(parts: Sequence[Sequence[_T]]) -> tuple[_T, ...]:
    """All members in order, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(parts)))


def _attributes(entry: Entry, used: Sequence[Entry]) -> Attributes | None:
    """The newest value for what the entry is about; another subject or key does not displace it."""
    own = entry.attributes
    for one in sorted(used, key=lambda one: one.order, reverse=True):
        newer = one.attributes
        if newer and (own is None or (newer.subject, newer.key) == (own.subject, own.key)):
            return newer
    return own


def _superseded(entry: Entry, newer: Entry, now: datetime) -> Entry:
    # Both said at one instant: neither came after the other, so the older one lost a conflict.
    is_conflict = entry.said_at == newer.said_at
    return replace(
        closed_by(entry, newer),
        version=entry.version + 1,
        status=Status.CONTRADICTED if is_conflict else Status.OUTDATED,
        superseded_by=newer.id,
        valid_to=newer.said_at,
        written_by=Writer.SLEEP,
        written_at=now,
    )
