from dataclasses import replace
from datetime import UTC, datetime

from statements import statement

from pipeline.entries import Entry, Kind, Status, Writer
from pipeline.ids import EntryId, MessageId
from pipeline.sleep.absorb import absorbed, absorbed_by

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def _entry(name: str, text: str, *, day: int = 0) -> Entry:
    return statement(name, text, start=NOON, day=day, speaker="Ida", sources=(MessageId("m"),))


def test_only_what_the_same_speaker_said_and_no_user_wrote_is_absorbed() -> None:
    target = _entry("t", "Ida grows beans and peas.")
    same = _entry("same", "Ida grows peas.", day=1)
    others = [
        replace(same, id=EntryId("speaker"), speaker="Tom"),
        replace(same, id=EntryId("kind"), kind=Kind.TASK),
        replace(same, id=EntryId("user"), written_by=Writer.USER),
        replace(same, id=EntryId("gone"), status=Status.OUTDATED),
    ]

    assert absorbed_by(target, [same, *others]) == (EntryId("same"),)


def test_an_absorbed_entry_is_outdated_with_a_link_and_keeps_its_text() -> None:
    target, entry = _entry("t", "Ida grows beans and peas.", day=1), _entry("e", "Ida grows peas.")

    after = absorbed(entry, target, now=NOON)

    assert (after.status, after.superseded_by, after.text) == (
        Status.OUTDATED,
        target.id,
        entry.text,
    )
    assert (after.version, after.valid_to, after.written_by) == (2, target.said_at, Writer.SLEEP)
