from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from pipeline.entries import Attributes, Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, MessageId, point_id
from pipeline.messages import Message, Role, Scope, TenantId
from pipeline.recall.filters import Origin
from pipeline.recall.labels import value_label
from pipeline.recall.lexical import sparse_passage
from pipeline.recall.periods import Period
from pipeline.recall.points import points
from pipeline.recall.text import index_text, lexical_text_of
from pipeline.state import OutboxItem

HOME = Scope(tenant=TenantId("acme"), collection="anna")
EAST = np.array([1, 0], dtype=np.float32)
NORTH = np.array([0, 1], dtype=np.float32)


def entry(
    name: str,
    text: str = "Anna likes tea.",
    *,
    sources: tuple[str, ...] = ("m1",),
    day: int = 1,
    zone: str = "UTC",
    speaker: str = "Anna",
    kind: Kind = Kind.FACT,
    status: Status = Status.ACTIVE,
) -> Entry:
    said_at = datetime(2024, 5, day, 20, tzinfo=UTC)
    return Entry(
        id=EntryId(name),
        version=1,
        text=text,
        kind=kind,
        status=status,
        speaker=speaker,
        said_at=said_at,
        zone=zone,
        language="en",
        order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
        valid_from=said_at,
        sources=tuple(MessageId(source) for source in sources),
        written_by=Writer.INGEST,
        written_at=said_at,
    )


def test_the_index_text_joins_speaker_statement_and_attributes() -> None:
    attributes = Attributes(subject="Anna", key="drink", value="tea")

    text = index_text("She likes tea.", speaker="Anna", attributes=attributes)

    assert text == "Anna: She likes tea.\nAnna drink tea"


def test_an_entry_is_also_found_by_its_topic_and_its_local_day() -> None:
    said = replace(entry("e", zone="Asia/Shanghai"), topic="drinks")

    assert lexical_text_of(said) == "Anna: Anna likes tea.\ndrinks\n2 May 2024"
    assert lexical_text_of(replace(said, language="zh")).endswith("\n2024年5月2日")


def test_the_index_text_has_no_empty_lines() -> None:
    empty = Attributes(subject="", key="", value="")

    assert index_text("我喜欢茶。", speaker="", attributes=empty) == "我喜欢茶。"
    assert index_text("Tea.", speaker="Anna", attributes=None) == "Anna: Tea."


def test_every_version_is_a_point_and_the_newest_is_current() -> None:
    old = entry("e", "Anna lives in Leiden.")
    new = replace(old, version=2, text="Anna lives in Delft.")
    item = OutboxItem(ids=(1,), scope=HOME, entry=old.id, versions=((old, EAST), (new, NORTH)))

    first, second = points(item)

    assert (first.version, first.current, second.version, second.current) == (1, False, 2, True)
    assert [first.id, second.id] == [point_id("acme", old.id, 1), point_id("acme", old.id, 2)]
    assert first.scope == second.scope == HOME
    assert first.dense is EAST
    assert second.dense is NORTH
    assert second.lexical == sparse_passage(lexical_text_of(new))
    assert (second.status, second.kind, second.speaker) == (Status.ACTIVE, Kind.FACT, "Anna")


def test_a_point_carries_the_conversations_and_the_metadata_of_its_messages() -> None:
    told = Message(
        id=MessageId("m1"),
        sequence=1,
        conversation="家",
        role=Role.USER,
        speaker="Anna",
        content="…",
        said_at=entry("e").said_at,
        accepted_at=entry("e").said_at,
        metadata={"project": "atlas"},
    )
    one = entry("e", sources=("m1", "gone"))
    sources = {told.id: Origin.of(told)}

    [point] = points(
        OutboxItem(ids=(), scope=HOME, entry=one.id, versions=((one, EAST),), sources=sources)
    )

    assert point.conversations == ("家",)
    assert value_label("project", "atlas") in point.labels
    assert point.period == Period(start=one.valid_from, end=None)
    assert (point.written_at, point.language) == (one.written_at, "en")


def test_an_erased_entry_has_no_points() -> None:
    item = OutboxItem(ids=(1,), scope=HOME, entry=EntryId("e"), versions=(), removed=("p",))

    assert points(item) == []


def test_entries_of_one_id_in_two_tenants_are_points_of_their_own() -> None:
    mine = OutboxItem(ids=(1,), scope=HOME, entry=entry("e").id, versions=((entry("e"), EAST),))
    theirs = replace(mine, scope=Scope(tenant=TenantId("globex"), collection="anna"))

    assert points(mine)[0].id != points(theirs)[0].id
