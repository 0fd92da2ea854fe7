"""What an entry becomes when a user corrects it, or when it is said again. Knows no database."""

from dataclasses import replace
from datetime import datetime

from pipeline.entries import CURRENT, Entry, EntryChange, OrderKey, Statement, Status, Writer
from pipeline.errors import InputError
from pipeline.ids import EntryId, MessageId


def revised(entry: Entry, change: EntryChange, *, now: datetime) -> Entry:
    """The entry after a user's correction, in its next version; itself where nothing differs.

    Raises:
        InputError: the change is empty, its text is blank or its status is none of ours.
    """
    _check(change)
    after = entry
    if change.text is not None and change.text != entry.text:
        after = replace(after, text=change.text, attributes=None, entities=())
    if change.status is not None and change.status != entry.status:
        after = _with_status(after, Status(change.status), now)
    if change.metadata is not None:
        after = replace(after, metadata=dict(change.metadata))
    if after == entry:
        return entry
    return replace(after, version=entry.version + 1, written_by=Writer.USER, written_at=now)


def _check(change: EntryChange) -> None:
    if change.text is None and change.status is None and change.metadata is None:
        raise InputError("expected a text, a status or metadata, got none of them", field="body")
    if change.text is not None and not change.text.strip():
        raise InputError("expected a text, got only blanks", field="text")
    if change.status is not None and change.status not in set(Status):
        known = ", ".join(Status)
        raise InputError(f"expected one of {known}, got {change.status!r}", field="status")


def _with_status(entry: Entry, status: Status, now: datetime) -> Entry:
    """An entry that no longer holds says since when; one that holds again forgets it."""
    if status in CURRENT:
        return replace(entry, status=status, valid_to=None, superseded_by=None)
    if status is Status.ARCHIVED:
        return replace(entry, status=status)
    return replace(entry, status=status, valid_to=entry.valid_to or now)


def first_version(entry: EntryId, statement: Statement, *, now: datetime) -> Entry:
    """The entry that a new statement becomes; it holds since it was said."""
    return Entry(
        id=entry,
        version=1,
        text=statement.text,
        kind=statement.kind,
        status=statement.status,
        speaker=statement.speaker,
        said_at=statement.said_at,
        zone=statement.zone,
        language=statement.language,
        order=order_of(statement),
        valid_from=statement.said_at,
        sources=statement.sources,
        written_by=Writer.INGEST,
        written_at=now,
        attributes=statement.attributes,
        entities=statement.entities,
        topic=statement.topic,
        metadata=statement.metadata,
    )


def order_of(statement: Statement) -> OrderKey:
    """Where a statement stands among all of its collection."""
    return OrderKey(
        said_at=statement.said_at, sequence=statement.sequence, ordinal=statement.ordinal
    )


def said_again(entry: Entry, statement: Statement) -> Entry:
    """The entry with the statement's sources too, in the same version.

    Its time and place become those of the newer of the two, whose sources come first;
    ``valid_from`` stays. The entry itself where it has all the sources already.
    """
    if set(statement.sources) <= set(entry.sources):
        return entry
    if order_of(statement) < entry.order:
        return replace(entry, sources=_union(entry.sources, statement.sources))
    return replace(
        entry,
        sources=_union(statement.sources, entry.sources),
        said_at=statement.said_at,
        zone=statement.zone,
        order=order_of(statement),
    )


def _union(first: tuple[MessageId, ...], second: tuple[MessageId, ...]) -> tuple[MessageId, ...]:
    return tuple(dict.fromkeys((*first, *second)))
