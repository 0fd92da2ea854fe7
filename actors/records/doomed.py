"""Which rows an entry or a conversation takes with it when it is erased. Changes nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from actors.records.erased import messages_of_segments, segments_of_messages
from actors.records.sql import in_scope
from actors.records.tables import entry_versions, ledger_changes, messages, segments
from pipeline.entries import Writer
from pipeline.ids import EntryId
from pipeline.messages import Scope

_TOLD = (Writer.INGEST.value, Writer.USER.value)


@dataclass(slots=True)
class _Held:
    """An entry's versions; ``own`` are the sources it had without what sleep merged in."""

    versions: list[int] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doomed:
    """What goes: entries with their versions, messages, segments.

    ``conversation`` goes as a whole, with its messages and segments; where it is None these stay
    without their texts. ``labelled`` are other entries that carry a segment's topic label;
    ``partly`` other entries of which some sources go.
    """

    entries: dict[str, list[int]]
    messages: list[str]
    segments: list[str]
    labelled: set[str]
    partly: set[str]
    conversation: str | None = None


def doomed_entry(connection: Connection, scope: Scope, entry: EntryId, *, siblings: bool) -> Doomed:
    """The entry, its source messages and, if asked for, all other entries from those.

    What was merged into it because it said the same goes with it.
    """
    held = _held(connection, scope)
    gone = {str(entry), *_taken_in(connection, scope, entry)} & held.keys()
    said = {source for one in gone for source in held[one].sources}
    if siblings:
        gone |= {one for one, each in held.items() if each.own & said}
        said |= {source for one in gone for source in held[one].own}
    inside = segments_of_messages(connection, scope, sorted(said))
    return Doomed(
        entries={one: held[one].versions for one in sorted(gone)},
        messages=sorted(said),
        segments=sorted(inside),
        labelled=_touching(held, messages_of_segments(connection, scope, inside)) - gone,
        partly=set(),
    )


def doomed_conversation(connection: Connection, scope: Scope, conversation: str) -> Doomed:
    """The conversation and every entry that came from it alone."""
    held = _held(connection, scope)
    query = select(messages.c.id).where(
        in_scope(messages, scope), messages.c.conversation == conversation
    )
    said = set(connection.execute(query).scalars())
    inside = select(segments.c.id).where(
        in_scope(segments, scope), segments.c.conversation == conversation
    )
    gone = {one for one, each in held.items() if each.own and each.own <= said}
    touched = _touching(held, said) - gone
    return Doomed(
        entries={one: held[one].versions for one in sorted(gone)},
        messages=sorted(said),
        segments=sorted(connection.execute(inside).scalars()),
        labelled=touched,
        partly=touched,
        conversation=conversation,
    )


def _taken_in(connection: Connection, scope: Scope, entry: EntryId) -> set[str]:
    """The near-duplicates that were merged into the entry, and into those."""
    pairs = [
        (row.subject, row.partner)
        for row in connection.execute(
            select(ledger_changes.c.subject, ledger_changes.c.partner).where(
                in_scope(ledger_changes, scope),
                ledger_changes.c.partner.is_not(None),
                ledger_changes.c.state == "applied",
            )
        )
    ]
    found: set[str] = {entry}
    while more := {one for one, into in pairs if into in found} - found:
        found |= more
    return found - {entry}


def _held(connection: Connection, scope: Scope) -> dict[str, _Held]:
    """Every entry of the collection with its sources, without any text."""
    columns = entry_versions.c
    query = (
        select(columns.entry, columns.version, columns.sources, columns.written_by)
        .where(in_scope(entry_versions, scope))
        .order_by(columns.entry, columns.version)
    )
    found: dict[str, _Held] = {}
    before: dict[str, set[str]] = {}
    for row in connection.execute(query):
        each = found.setdefault(row.entry, _Held())
        now = set(row.sources)
        each.versions.append(row.version)
        each.sources |= now
        if row.written_by in _TOLD:  # what ingestion added to what was there, merged or not
            each.own |= now - before.get(row.entry, set())
        before[row.entry] = now
    return found


def _touching(held: dict[str, _Held], said: Iterable[str]) -> set[str]:
    wanted = set(said)
    return {one for one, each in held.items() if each.sources & wanted}
