from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.entries import Entry, Kind, OrderKey, Status, Writer
from pipeline.errors import InputError
from pipeline.ids import EntryId, MessageId
from pipeline.recall.filters import (
    DEEPEST,
    MOST_COMPARISONS,
    MOST_VALUES,
    Comparison,
    Every,
    Filter,
    Not,
    Operator,
    Origin,
    Some,
    asks_sources,
    holds,
    parse_filter,
)
from pipeline.recall.labels import MANY, MOST_LABELS, key_label, labels, value_label

NOON = datetime(2025, 5, 8, 12, tzinfo=UTC)
ENTRY = Entry(
    id=EntryId("e"),
    version=1,
    text="Mara kocht Tee.",
    kind=Kind.FACT,
    status=Status.ACTIVE,
    speaker="Mara",
    said_at=NOON,
    zone="UTC",
    language="de",
    order=OrderKey(said_at=NOON, sequence=1, ordinal=0),
    valid_from=NOON,
    sources=(MessageId("m1"), MessageId("m2")),
    written_by=Writer.INGEST,
    written_at=NOON,
    metadata={
        "rank": 2,
        "tags": ["tea", "茶"],
        "done": True,
        "due": "2025-06-01",
        "deep": {"a": 1},
    },
)
ORIGINS = (
    Origin(conversation="c1", metadata={"channel": "mail", "n": 1.0, "nothing": None}),
    Origin(conversation="家", metadata={}),
)


def passes(raw: dict[str, Any]) -> bool:
    return holds(parse_filter(raw), ENTRY, ORIGINS)


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "fact"},
        {"kind": {"in": ["event", "fact"]}},
        {"status": {"eq": "active"}},
        {"speaker": "Mara"},
        {"language": {"in": ["de", "en"]}},
        {"conversation": "c1"},
        {"conversation": "家"},
        {"said_at": {"gte": "2025-05-08T12:00:00Z", "lte": "2025-05-08T12:00:00Z"}},
        {"said_at": "2025-05-08T14:00:00+02:00"},
        {"said_at": {"in": ["2025-05-07", NOON.timestamp()]}},
        {"written_at": {"gt": "2025-05-08", "lt": "2025-05-09"}},
        {"valid_from": {"lt": "2025年5月9日"}},
        {"metadata.rank": 2.0},
        {"metadata.rank": {"gt": 1, "lte": 2}},
        {"metadata.tags": "茶"},
        {"metadata.tags": {"in": ["coffee", "tea"]}},
        {"metadata.done": True},
        {"metadata.due": {"gte": "2025-05-31", "lt": "2025-06-02"}},
        {"metadata.channel": "mail"},
        {"metadata.n": 1},
        {"not": {"speaker": "Bob"}},
        {"not": {"valid_to": {"gt": "2000-01-01"}}},
        {"or": [{"kind": "event"}, {"speaker": "Mara"}]},
        {"and": [{"kind": "fact"}, {"or": [{"language": "de"}, {"language": "zh"}]}]},
        {"kind": "fact", "not": {"and": [{"speaker": "Mara"}, {"language": "en"}]}},
    ],
)
def test_an_entry_passes_what_is_true_of_it(raw: dict[str, Any]) -> None:
    assert passes(raw)
    assert not passes({"not": raw})


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "event"},
        {"speaker": "mara"},
        {"conversation": "c2"},
        {"said_at": {"gt": "2025-05-08T12:00:00Z"}},
        {"said_at": {"lt": "2025-05-08T12:00:00Z"}},
        {"valid_to": {"lt": "2100-01-01"}},
        {"metadata.rank": "2"},
        {"metadata.rank": True},
        {"metadata.done": 1},
        {"metadata.rank": {"gt": "2025-01-01"}},
        {"metadata.due": {"gt": 3}},
        {"metadata.channel": {"gt": "2025-01-01"}},
        {"metadata.done": {"gte": 0}},
        {"metadata.deep": "a"},
        {"metadata.deep.a": 1},
        {"metadata.colour": "red"},
        {"kind": "fact", "speaker": "Bob"},
    ],
)
def test_an_entry_does_not_pass_what_is_not_true_of_it(raw: dict[str, Any]) -> None:
    assert not passes(raw)
    assert passes({"not": raw})


def _nested(levels: int) -> dict[str, Any]:
    raw: dict[str, Any] = {"kind": "fact"}
    for _ in range(levels):
        raw = {"not": raw}
    return raw


@pytest.mark.parametrize(
    ("raw", "field", "told"),
    [
        ({}, "filter", "empty"),
        ({"and": []}, "filter.and", "empty"),
        ({"or": {"kind": "fact"}}, "filter.or", "list of filters"),
        ({"or": [{"kind": "fact"}, "x"]}, "filter.or[1]", "object"),
        ({"not": [{"kind": "fact"}]}, "filter.not", "object"),
        ({"not": {}}, "filter.not", "empty"),
        ({"colour": "red"}, "filter", "colour"),
        ({"tenant": "globex"}, "filter", "tenant"),
        ({"collection": "x"}, "filter", "collection"),
        ({"metadata.": "x"}, "filter", "metadata"),
        ({"AND": []}, "filter", "AND"),
        ({"said_at": {"ne": "2025"}}, "filter.said_at", "ne"),
        ({"kind": {"gt": "fact"}}, "filter.kind", "eq, in"),
        ({"said_at": {}}, "filter.said_at", "empty"),
        ({"said_at": {"gte": "soon"}}, "filter.said_at.gte", "time"),
        ({"said_at": {"gte": True}}, "filter.said_at.gte", "bool"),
        ({"said_at": None}, "filter.said_at", "NoneType"),
        ({"kind": "wish"}, "filter.kind", "wish"),
        ({"status": 3}, "filter.status", "int"),
        ({"kind": {"in": ["fact", "wish"]}}, "filter.kind.in[1]", "wish"),
        ({"kind": {"in": "fact"}}, "filter.kind.in", "list"),
        ({"kind": {"in": []}}, "filter.kind.in", "empty"),
        ({"speaker": {"in": ["x"] * (MOST_VALUES + 1)}}, "filter.speaker.in", "at most"),
        ({"speaker": 7}, "filter.speaker", "text"),
        ({"speaker": "x" * 1001}, "filter.speaker", "characters"),
        ({"speaker": "a\x00"}, "filter.speaker", "NUL"),
        ({"metadata." + "x" * 1001: 1}, "filter", "characters"),
        ({"metadata.a": None}, "filter.metadata.a", "NoneType"),
        ({"metadata.a": {"eq": [1]}}, "filter.metadata.a.eq", "list"),
        ({"metadata.a": {"gt": True}}, "filter.metadata.a.gt", "number or a time"),
        ({"metadata.a": {"gt": float("inf")}}, "filter.metadata.a.gt", "finite"),
        ({"and": [{"or": [{"hue": 1}]}]}, "filter.and[0].or[0]", "hue"),
        (_nested(DEEPEST), "filter" + ".not" * DEEPEST, "levels"),
        ({"or": [{"kind": "fact"}] * (MOST_COMPARISONS + 1)}, "filter", "comparisons"),
    ],
)
def test_what_is_no_filter_is_refused_by_name(raw: Any, field: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_filter(raw)

    assert refused.value.field == field
    assert told in refused.value.message


def test_several_keys_and_operators_of_one_object_must_all_hold() -> None:
    found = parse_filter({"speaker": "Mara", "metadata.n": {"gt": 1, "lt": 3}})

    assert found == Every(
        parts=(
            Comparison(field="speaker", operator=Operator.EQ, values=("Mara",)),
            Comparison(field="metadata.n", operator=Operator.GT, values=(1,)),
            Comparison(field="metadata.n", operator=Operator.LT, values=(3,)),
        )
    )


@pytest.mark.parametrize(
    ("raw", "asks"),
    [
        ({"speaker": "Mara"}, False),
        ({"not": {"conversation": "c"}}, True),
        ({"or": [{"kind": "fact"}, {"metadata.a": 1}]}, True),
    ],
)
def test_only_conversations_and_metadata_ask_for_the_messages(raw: Any, asks: bool) -> None:
    assert asks_sources(parse_filter(raw)) is asks


def test_equal_values_have_one_label_and_different_ones_have_not() -> None:
    values: list[str | bool | int | float] = [1, 1.5, True, "1", "true", "一", 10**40]

    assert value_label("k", 1) == value_label("k", 1.0)
    assert value_label("k", "ab") != value_label("ka", "b")
    assert len({value_label("k", value) for value in values} | {key_label("k")}) == 8


def test_labels_are_those_of_the_entry_and_its_messages() -> None:
    found = labels(ENTRY, ORIGINS)

    assert key_label("channel") in found
    assert {value_label("tags", "tea"), value_label("tags", "茶")} <= set(found)
    assert key_label("deep") not in found
    assert len(found) == len(set(found))


def test_an_entry_with_too_much_metadata_says_that_anything_may_be_there() -> None:
    many = replace(ENTRY, metadata={"list": list(range(200))})

    found = labels(many, ())

    assert len(found) == MOST_LABELS
    assert found[-1] == MANY


def test_a_filter_of_every_form_can_be_built_by_hand() -> None:
    fact: Filter = Comparison(field="kind", operator=Operator.EQ, values=("fact",))

    assert holds(Some(parts=(Not(part=fact), fact)), ENTRY)
