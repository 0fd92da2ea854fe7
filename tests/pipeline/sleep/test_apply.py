"""What each decision makes of its target."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pipeline.entries import (
    Attributes,
    Delete,
    Entry,
    Ignore,
    Kind,
    OrderKey,
    Status,
    Update,
    Writer,
)
from pipeline.errors import InputError
from pipeline.ids import EntryId, MessageId
from pipeline.sleep.apply import apply, restore, used_by

MAY, JUNE, JULY = (datetime(2024, month, 3, 9, tzinfo=UTC) for month in (5, 6, 7))
NIGHT = datetime(2024, 8, 1, 2, tzinfo=UTC)


def _entry(name: str, text: str, said_at: datetime, *, sequence: int) -> Entry:
    return Entry(
        id=EntryId(name),
        version=1,
        text=text,
        kind=Kind.FACT,
        status=Status.ACTIVE,
        speaker="Mina",
        said_at=said_at,
        zone="Europe/Oslo",
        language="en",
        order=OrderKey(said_at=said_at, sequence=sequence, ordinal=0),
        valid_from=said_at,
        sources=(MessageId(f"m{sequence}"),),
        written_by=Writer.INGEST,
        written_at=said_at,
    )


KEEPS_BEES = _entry("bees", "Mina keeps bees.", MAY, sequence=1)
TWO_HIVES = _entry("hives", "Mina keeps bees in two hives.", JUNE, sequence=2)
ON_THE_ROOF = replace(
    _entry("roof", "米娜在屋顶上养蜂。", JULY, sequence=3), zone="Asia/Shanghai", language="zh"
)
SOLD_THE_BEES = _entry("sold", "Mina sold her bees.", JULY, sequence=4)
CANDIDATES = {one.id: one for one in (TWO_HIVES, ON_THE_ROOF, SOLD_THE_BEES)}


def test_ignore_changes_nothing() -> None:
    assert apply(KEEPS_BEES, Ignore(reason="unrelated"), CANDIDATES, now=NIGHT) is KEEPS_BEES


def test_an_update_takes_the_time_of_its_newest_source_and_keeps_when_it_began() -> None:
    decision = Update(
        text="Mina keeps bees in two hives on the roof.",
        used=(ON_THE_ROOF.id, TWO_HIVES.id),
        reason="adds where",
    )

    after = apply(KEEPS_BEES, decision, CANDIDATES, now=NIGHT)

    assert after.text == "Mina keeps bees in two hives on the roof."
    assert (after.order, after.said_at, after.zone) == (ON_THE_ROOF.order, JULY, "Asia/Shanghai")
    assert (after.valid_from, after.valid_to) == (MAY, None)
    assert after.sources == ("m1", "m3", "m2")
    assert (after.version, after.written_by, after.written_at) == (2, Writer.SLEEP, NIGHT)
    assert (after.language, after.speaker, after.status) == ("en", "Mina", Status.ACTIVE)


def test_an_update_that_uses_no_candidate_keeps_its_place() -> None:
    after = apply(KEEPS_BEES, Update(text="Bees.", used=(), reason="shorter"), {}, now=NIGHT)

    assert (after.order, after.said_at) == (KEEPS_BEES.order, MAY)


def test_an_update_takes_the_newest_value_of_the_same_attribute_only() -> None:
    def attributed(entry: Entry, key: str, value: str) -> Entry:
        return replace(entry, attributes=Attributes(subject="Mina", key=key, value=value))

    one = attributed(KEEPS_BEES, "hives", "1")
    two = attributed(TWO_HIVES, "hives", "2")
    roof = attributed(ON_THE_ROOF, "place", "roof")
    decision = Update(text="…", used=(roof.id, two.id), reason="adds")

    after = apply(one, decision, {two.id: two, roof.id: roof}, now=NIGHT)
    bare = apply(KEEPS_BEES, decision, {two.id: two, roof.id: roof}, now=NIGHT)

    assert after.attributes == two.attributes
    assert bare.attributes == roof.attributes


def test_a_delete_marks_the_entry_outdated_and_names_what_replaced_it() -> None:
    after = apply(
        KEEPS_BEES, Delete(superseded_by=SOLD_THE_BEES.id, reason="sold"), CANDIDATES, now=NIGHT
    )

    assert (after.status, after.superseded_by, after.valid_to) == (Status.OUTDATED, "sold", JULY)
    assert (after.text, after.version, after.valid_from) == (KEEPS_BEES.text, 2, MAY)


def test_a_delete_between_statements_of_one_instant_is_a_contradiction() -> None:
    rival = _entry("rival", "Mina keeps no bees.", MAY, sequence=2)

    after = apply(
        KEEPS_BEES, Delete(superseded_by=rival.id, reason="both"), {rival.id: rival}, now=NIGHT
    )

    assert after.status is Status.CONTRADICTED


@pytest.mark.parametrize(
    "decision",
    [
        Update(text="…", used=(EntryId("other"),), reason="adds"),
        Delete(superseded_by=EntryId("other"), reason="sold"),
    ],
)
def test_a_decision_on_an_entry_that_is_no_candidate_is_refused(
    decision: Update | Delete,
) -> None:
    with pytest.raises(InputError, match="entry other"):
        apply(KEEPS_BEES, decision, CANDIDATES, now=NIGHT)


def test_a_decision_rests_on_the_candidates_it_names() -> None:
    assert used_by(Ignore(reason="")) == ()
    assert used_by(Update(text="", used=(EntryId("a"),), reason="")) == ("a",)
    assert used_by(Delete(superseded_by=EntryId("b"), reason="")) == ("b",)


def test_restoring_says_again_what_was_said_before_as_a_new_version() -> None:
    deleted = apply(
        KEEPS_BEES, Delete(superseded_by=SOLD_THE_BEES.id, reason="sold"), CANDIDATES, now=NIGHT
    )
    used_since = replace(deleted, strength=1.2, last_used_at=NIGHT)

    after = restore(used_since, KEEPS_BEES, now=NIGHT)

    assert (after.status, after.superseded_by, after.valid_to) == (Status.ACTIVE, None, None)
    assert (after.version, after.written_by) == (3, Writer.UNDO)
    assert (after.strength, after.last_used_at) == (1.2, NIGHT)
