from dataclasses import replace
from datetime import UTC, datetime

from pipeline.entries import Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, MessageId
from pipeline.recall.periods import Period, periods, version_at


def day(number: int, month: int = 1) -> datetime:
    return datetime(2025, month, number, tzinfo=UTC)


FIRST = Entry(
    id=EntryId("e"),
    version=1,
    text="Mara lives in Lisbon.",
    kind=Kind.FACT,
    status=Status.ACTIVE,
    speaker="Mara",
    said_at=day(1),
    zone="UTC",
    language="en",
    order=OrderKey(said_at=day(1), sequence=1, ordinal=0),
    valid_from=day(1),
    sources=(MessageId("m1"),),
    written_by=Writer.INGEST,
    written_at=day(1, 12),
)


def following(before: Entry, by: Writer, **changes: object) -> Entry:
    written_at = day(before.version, 12)
    version = before.version + 1
    return replace(before, version=version, written_by=by, written_at=written_at, **changes)  # type: ignore[arg-type]


def updated(before: Entry, text: str, at: int) -> Entry:
    return following(before, Writer.SLEEP, text=text, said_at=day(at))


def ended(before: Entry, at: int, status: Status = Status.OUTDATED) -> Entry:
    return following(before, Writer.SLEEP, status=status, valid_to=day(at))


def test_an_entry_holds_from_when_it_was_said() -> None:
    assert periods([FIRST]) == [Period(start=day(1), end=None)]
    assert version_at([FIRST], day(1)) is FIRST
    assert version_at([FIRST], day(1).replace(year=2024)) is None


def test_each_text_holds_until_the_next_was_said() -> None:
    second = updated(FIRST, "Mara 住在里斯本，养了一只猫。", 5)
    versions = [FIRST, second, ended(second, 9)]

    assert periods(versions) == [
        Period(start=day(1), end=day(5)),
        Period(start=day(5), end=day(9)),
        None,
    ]
    assert version_at(versions, day(4)) is FIRST
    assert version_at(versions, day(5)) is second
    assert version_at(versions, day(9)) is None


def test_what_is_said_again_holds_from_the_first_time_on() -> None:
    again = following(FIRST, Writer.INGEST, said_at=day(7))

    assert version_at([FIRST, again], day(3)) is FIRST
    assert version_at([FIRST, again], day(7)) is again


def test_what_a_user_corrects_was_wrong_from_its_beginning() -> None:
    again = following(FIRST, Writer.INGEST, said_at=day(7))
    corrected = following(again, Writer.USER, text="Mara lives in Porto.")

    assert [version_at([FIRST, again, corrected], day(n)) for n in (1, 7)] == [corrected] * 2


def test_a_correction_of_an_update_leaves_what_held_before_it() -> None:
    second = updated(FIRST, "Mara lives in Lisbon with a cat.", 5)
    corrected = following(second, Writer.USER, text="Mara lives in Lisbon with a dog.")

    assert version_at([FIRST, second, corrected], day(4)) is FIRST
    assert version_at([FIRST, second, corrected], day(5)) is corrected


def test_what_undo_restores_holds_as_if_nothing_had_come_between() -> None:
    second = updated(FIRST, "Mara lives in Porto.", 5)
    undone = following(second, Writer.UNDO, text=FIRST.text, said_at=FIRST.said_at)

    assert periods([FIRST, second, undone]) == [None, None, Period(start=day(1), end=None)]


def test_what_undo_says_for_the_first_time_holds_from_where_the_last_did() -> None:
    second = updated(FIRST, "Mara lives in Porto.", 5)
    rewritten = following(second, Writer.UNDO, text="Mara lives somewhere.")

    assert version_at([FIRST, second, rewritten], day(6)) is rewritten
    assert version_at([FIRST, second, rewritten], day(2)) is FIRST


def test_an_archived_entry_held_until_it_was_archived() -> None:
    archived = following(FIRST, Writer.SLEEP, status=Status.ARCHIVED)

    assert version_at([FIRST, archived], day(2)) is FIRST
    assert version_at([FIRST, archived], archived.written_at) is None


def test_a_restored_entry_has_no_end() -> None:
    versions = [FIRST, ended(FIRST, 9)]
    versions.append(following(versions[-1], Writer.USER, status=Status.ACTIVE, valid_to=None))

    assert version_at(versions, day(20)) is versions[-1]


def test_what_lost_a_conflict_the_moment_it_was_said_never_held() -> None:
    lost = ended(FIRST, 1, Status.CONTRADICTED)

    assert periods([FIRST, lost]) == [None, None]
