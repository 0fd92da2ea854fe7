"""Entries and scratchpad items of tests, a line each."""

from datetime import UTC, datetime, timedelta

from pipeline.entries import Attributes, Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, ItemId, MessageId, item_id
from pipeline.scratchpad import Item, ItemStatus

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def entry(
    name: str,
    text: str,
    *,
    day: int = 0,
    kind: Kind = Kind.FACT,
    status: Status = Status.ACTIVE,
    speaker: str = "Mara",
    strength: float = 1.0,
    by: Writer = Writer.INGEST,
    newer: str | None = None,
    attributes: Attributes | None = None,
) -> Entry:
    """An entry that was said and written on a day after the first of March."""
    said_at = NOON + timedelta(days=day)
    return Entry(
        id=EntryId(name),
        version=1,
        text=text,
        kind=kind,
        status=status,
        speaker=speaker,
        said_at=said_at,
        zone="UTC",
        language="en",
        order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
        valid_from=said_at,
        sources=(MessageId(f"message of {name}"),),
        written_by=by,
        written_at=said_at,
        strength=strength,
        superseded_by=None if newer is None else EntryId(newer),
        attributes=attributes,
    )


def item(
    name: str,
    text: str,
    *,
    day: int = 0,
    slot: str = "profile",
    status: ItemStatus = ItemStatus.ACTIVE,
    by: Writer = Writer.INGEST,
    times: int = 1,
) -> Item:
    """The item of an entry of this name; ``times`` is how often it was said."""
    said_at = NOON + timedelta(days=day)
    return Item(
        id=item_id(EntryId(name)),
        version=1,
        slot=slot,
        text=text,
        status=status,
        said_at=said_at,
        written_by=by,
        written_at=said_at,
        sources=tuple(MessageId(f"{name} {number}") for number in range(times)),
        entries=(EntryId(name),),
    )


def written(name: str, text: str, *, day: int = 0, slot: str = "profile") -> Item:
    """An item that a user wrote."""
    said_at = NOON + timedelta(days=day)
    return Item(
        id=ItemId(name),
        version=1,
        slot=slot,
        text=text,
        status=ItemStatus.ACTIVE,
        said_at=said_at,
        written_by=Writer.USER,
        written_at=said_at,
    )
