from datetime import UTC, datetime

import pytest

from pipeline.entries import Attributes, Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, ItemId, MessageId
from pipeline.messages import Message, MessageState, Role
from pipeline.recall.conflicts import (
    MOST_UNSURE,
    Evidence,
    Layer,
    Reason,
    conflicts,
    of_entry,
    of_item,
    of_messages,
    of_question,
    stronger,
)
from pipeline.recall.lines import Remembered
from pipeline.scratchpad import Item, ItemStatus


def at(day: int) -> datetime:
    return datetime(2024, 5, day, 20, tzinfo=UTC)


def evidence(
    text: str, *, day: int = 1, layer: Layer = Layer.EPISODIC, kind: Kind = Kind.FACT
) -> Evidence:
    return Evidence(layer=layer, text=text, kind=kind, said_at=at(day))


def entry(name: str, text: str, *, day: int = 1, status: Status = Status.ACTIVE) -> Entry:
    return Entry(
        id=EntryId(name),
        version=1,
        text=text,
        kind=Kind.FACT,
        status=status,
        speaker="Anna",
        said_at=at(day),
        zone="Asia/Shanghai",
        language="en",
        order=OrderKey(said_at=at(day), sequence=day, ordinal=0),
        valid_from=at(day),
        sources=(MessageId(f"m{name}"),),
        written_by=Writer.INGEST,
        written_at=at(day),
        attributes=Attributes(subject="Anna", key="lives in", value=text.split()[-1]),
    )


def test_of_two_facts_the_newer_stands_whatever_its_layer() -> None:
    old = evidence("Anna gets up at 7:00.", day=1, layer=Layer.WORKING_MEMORY)
    new = evidence("Anna gets up at 8:00.", day=2)

    assert stronger(old, new) is stronger(new, old) is new


def test_of_two_facts_of_one_instant_the_layer_decides() -> None:
    pad = evidence("Anna gets up at 7:00.", layer=Layer.SCRATCHPAD)
    found = evidence("Anna gets up at 8:00.")
    said = evidence("I get up at 9:00.", layer=Layer.WORKING_MEMORY)

    assert stronger(found, pad) is pad
    assert stronger(pad, said) is said


def test_of_two_instructions_the_layer_decides_before_the_time() -> None:
    old = evidence("Be brief.", day=1, layer=Layer.SCRATCHPAD, kind=Kind.INSTRUCTION)
    new = evidence("Be long.", day=2, kind=Kind.INSTRUCTION)

    assert stronger(old, new) is stronger(new, old) is old


@pytest.mark.parametrize(
    ("standing", "asked", "question"),
    [
        (
            "Please always answer in 3 lines.",
            "Where is my boat? Please always answer in 5 lines.",
            'You asked for "Please always answer in 3 lines." and for '
            '"Please always answer in 5 lines.". Shall the second hold from now on?',
        ),
        (
            "请一律用3行回答。",
            "船在哪里？请一律用5行回答。",
            "您之前要求：“请一律用3行回答。”，又要求：“请一律用5行回答。”。以后以后者为准吗？",
        ),
    ],
)
def test_what_the_question_asks_for_stands_above_every_standing_instruction(
    standing: str, asked: str, question: str
) -> None:
    rule = evidence(standing, day=9, layer=Layer.SCRATCHPAD, kind=Kind.INSTRUCTION)
    language = "en" if asked.isascii() else "zh"

    (found,) = conflicts([rule, *of_question(asked)], [], language=language)

    assert found.stands.layer is Layer.QUESTION
    assert found.against is rule
    assert found.question == question


def test_a_contradiction_comes_with_both_sides_and_a_question() -> None:
    old, new = entry("a", "Anna lives in Bergen"), entry("b", "Anna lives in Oslo", day=3)

    (found,) = conflicts([of_entry(new), of_entry(old)], [], language="en")

    assert found.reason is Reason.CONTRADICTORY
    assert (found.stands.entries, found.stands.messages) == (("b",), ("mb",))
    assert found.against is not None
    assert found.against.entries == ("a",)
    assert found.question == (
        'On 2024-05-02 I noted "Anna lives in Bergen", on 2024-05-04 "Anna lives in Oslo". '
        "Which one holds?"
    )


def test_a_contradiction_in_chinese_is_asked_about_in_chinese() -> None:
    pair = [evidence("小李每天七点起床。"), evidence("小李每天八点起床。", day=3)]

    (found,) = conflicts(pair, [], language="zh-CN")

    assert found.question == (
        "2024-05-01的记录是“小李每天七点起床。”，2024-05-03是“小李每天八点起床。”。哪一个对？"
    )


def test_what_was_just_said_is_held_against_what_is_remembered() -> None:
    pad = Item(
        id=ItemId("i"),
        version=1,
        slot="profile",
        text="The boat leaves at 7:00.",
        status=ItemStatus.ACTIVE,
        said_at=at(1),
        written_by=Writer.USER,
        written_at=at(1),
    )
    said = [
        message("m1", "The boat leaves at 9:00.", day=2),
        message("m2", "The boat leaves at 5:00.", day=3, role=Role.ASSISTANT),
        message("m3", "The boat leaves at 6:00.", day=3, state=MessageState.EXTRACTED),
    ]

    (found,) = conflicts(
        [of_item(pad, is_instruction=False), *of_messages(said)], [], language="en"
    )

    assert found.stands.messages == ("m1",)
    assert of_item(pad, is_instruction=True).kind is Kind.INSTRUCTION


def message(
    name: str,
    text: str,
    *,
    day: int,
    role: Role = Role.USER,
    state: MessageState = MessageState.ACCEPTED,
) -> Message:
    return Message(
        id=MessageId(name),
        sequence=day,
        conversation="c",
        role=role,
        speaker="Anna",
        content=text,
        said_at=at(day),
        accepted_at=at(day),
        state=state,
    )


def test_two_events_that_differ_are_two_events() -> None:
    pair = [
        evidence("Anna left the harbour at 7:00.", kind=Kind.EVENT),
        evidence("Anna left the harbour at 8:00.", day=3, kind=Kind.EVENT),
    ]

    assert conflicts(pair, [], language="en") == []


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", 'On 2024-05-02 I noted "Anna lives in Oslo", which was not certain. Is it so?'),
        ("zh", "2024-05-02的记录是“Anna lives in Oslo”，但当时不确定。现在确定了吗？"),
    ],
)
def test_what_was_said_unsurely_is_asked_about(language: str, question: str) -> None:
    sure = Remembered(entry=entry("a", "Anna lives in Oslo"))
    unsure = [
        Remembered(entry=entry(f"{i}", "Anna lives in Oslo", status=Status.TENTATIVE))
        for i in range(9)
    ]

    found = conflicts([], [sure, *unsure], language=language)

    assert len(found) == MOST_UNSURE
    assert (found[0].reason, found[0].against) == (Reason.TENTATIVE, None)
    assert found[0].question == question


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Anna asked: Please always answer in 3 lines.", "Please always answer in 5 lines."),
        ("Anna说：渡轮每天七点开。", "渡轮每天九点开。"),
    ],
)
def test_who_said_it_is_no_part_of_what_was_said(old: str, new: str) -> None:
    found = conflicts([of_entry(entry("a", old)), evidence(new, day=4)], [], language="en")

    assert [one.stands.text for one in found] == [new]
