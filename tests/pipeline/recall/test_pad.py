from datetime import UTC, datetime

import pytest

from pipeline.entries import Entry, Kind, OrderKey, Status, Writer
from pipeline.ids import EntryId, ItemId, item_id
from pipeline.recall.pad import holding, relevant, standing
from pipeline.scratchpad import Item, ItemStatus

MAY = datetime(2024, 5, 1, tzinfo=UTC)


def entry(name: str, text: str, *, day: int = 1) -> Entry:
    said_at = MAY.replace(day=day)
    return Entry(
        id=EntryId(name),
        version=1,
        text=text,
        kind=Kind.INSTRUCTION,
        status=Status.ACTIVE,
        speaker="Anna",
        said_at=said_at,
        zone="UTC",
        language="en",
        order=OrderKey(said_at=said_at, sequence=day, ordinal=0),
        valid_from=said_at,
        sources=(),
        written_by=Writer.INGEST,
        written_at=said_at,
    )


def item(
    name: str,
    text: str,
    *,
    slot: str = "profile",
    of: str | None = None,
    status: ItemStatus = ItemStatus.ACTIVE,
    writer: Writer = Writer.INGEST,
    day: int = 1,
) -> Item:
    return Item(
        id=ItemId(name) if of is None else item_id(EntryId(of)),
        version=1,
        slot=slot,
        text=text,
        status=status,
        said_at=MAY.replace(day=day),
        written_by=writer,
        written_at=MAY,
        entries=() if of is None else (EntryId(of),),
    )


PAD = [
    item("tea", "Anna likes green tea."),
    item("herons", "Anna keeps herons."),
    item("cat", "安娜养了一只黑猫。"),
]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What tea does Anna like?", ["tea", "herons"]),
        ("谁养了黑猫？", ["cat"]),
        ("Who sails?", []),
        ("?", []),
    ],
)
def test_items_bear_on_a_question_by_their_words(question: str, names: list[str]) -> None:
    assert [one.id for one in relevant(PAD, question, near={})] == names


def test_an_item_whose_entry_is_near_the_question_bears_on_it_without_a_word_in_common() -> None:
    far = item("", "Anna drinks oolong.", of="far")
    near = item("", "Anna drinks sencha.", of="near")

    found = relevant(
        [*PAD, far, near], "Beverages?", near={EntryId("far"): 0.3, EntryId("near"): 0.7}
    )

    assert found == [near, far]


def test_instructions_are_their_entries_unless_a_person_said_otherwise() -> None:
    kept, edited, removed = (
        entry(name, f"Be {name}.", day=1) for name in ("kept", "edited", "gone")
    )
    items = [
        item("", "Be kept.", slot="rules", of="kept"),
        item("", "请用中文回答。", slot="rules", of="edited", writer=Writer.USER),
        item(
            "", "Be gone.", slot="rules", of="gone", status=ItemStatus.REMOVED, writer=Writer.USER
        ),
        item("mine", "Never mention herons.", slot="rules", writer=Writer.USER, day=9),
        item("old", "Never mention cats.", slot="rules", status=ItemStatus.REMOVED),
        item("tea", "Anna likes tea."),
    ]

    found = standing([kept, edited, removed], items, slots=["rules"])

    assert found[0].text == "Never mention herons."
    assert sorted(one.text for one in found[1:]) == ["Be kept.", "请用中文回答。"]


def test_an_item_is_noted_while_it_holds_and_no_entry_says_the_same() -> None:
    tea = entry("tea", "Anna likes tea.")
    mine = item("mine", "Anna keeps herons.", writer=Writer.USER)
    same = item("", "Anna likes tea", of="tea")
    edited = item("", "Anna likes black tea.", of="tea", writer=Writer.USER)
    gone = item("", "Anna likes coffee.", of="coffee")
    current = {tea.id: tea}

    assert holding([mine, same, edited, gone], current) == [mine, edited]
