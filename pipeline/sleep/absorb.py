"""Candidates that an update holds whole: said twice, one of the two may rest.

Source: arXiv 2510.18866, section 3.3, changes the target alone, so what it took in stays beside it.
This option lets the newer entry rest with a link. Knows nothing of stores.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pipeline.entries import CURRENT, Entry, Status, Writer
from pipeline.ids import EntryId
from pipeline.sleep.contained import contains


def absorbed_by(target: Entry, used: Sequence[Entry]) -> tuple[EntryId, ...]:
    """Those of the used candidates that the updated target holds whole.

    One that a user wrote is left alone, as is one of another kind or speaker: what it says may be
    the same, who says it is not.
    """
    return tuple(
        entry.id
        for entry in used
        if entry.status in CURRENT
        and entry.written_by is not Writer.USER
        and (entry.kind, entry.speaker) == (target.kind, target.speaker)
        and contains(target.text, entry.text)
    )


def absorbed(entry: Entry, target: Entry, *, now: datetime) -> Entry:
    """The entry's next version once the target holds it: outdated, with a link to the target."""
    return replace(
        entry,
        version=entry.version + 1,
        status=Status.OUTDATED,
        superseded_by=target.id,
        valid_to=target.said_at,
        written_by=Writer.SLEEP,
        written_at=now,
    )
