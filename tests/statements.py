"""Entries that tests of decisions compare, made without a store."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pipeline.entries import Candidate, Case, Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, MessageId


def statement(
    name: str,
    text: str,
    *,
    start: datetime,
    day: int = 0,
    speaker: str = "user",
    sources: Sequence[MessageId] = (),
) -> Entry:
    """What somebody said that many days after the start."""
    said_at = start + timedelta(days=day)
    return Entry(
        id=EntryId(name),
        version=1,
        text=text,
        kind=Kind.FACT,
        status=Status.ACTIVE,
        speaker=speaker,
        said_at=said_at,
        zone="UTC",
        language="en",
        order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
        valid_from=said_at,
        sources=tuple(sources),
        written_by=Writer.INGEST,
        written_at=said_at,
    )


def compared(target: Entry, *newer: Entry) -> Case:
    """The target with newer entries that may bear on it."""
    candidates = tuple(Candidate(entry=one, similarity=0.9) for one in newer)
    return Case(target=target, candidates=candidates)
