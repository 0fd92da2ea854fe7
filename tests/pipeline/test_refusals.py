"""Wrong values are told with what would be right."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.refusals import place_of, reason


class Colour(StrEnum):
    RED = "red"


class Room(BaseModel):
    model_config = ConfigDict(extra="forbid")

    attempts: Annotated[int, Field(gt=0)] = 1
    tone: Literal["warm", "cold"] = "warm"
    secret: Annotated[str, Field(max_length=3)] = ""
    wall: Colour = Colour.RED


class House(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kitchen: Room | None = None
    rooms: Annotated[Mapping[str, Room], Field(min_length=0)] = Field(default_factory=dict)
    yard: list[Room] = Field(default_factory=list)


def told(values: object) -> tuple[str, str]:
    """Where the first error is, and what is said about it."""
    with pytest.raises(ValidationError) as refused:
        House.model_validate(values)
    first = refused.value.errors()[0]
    return ".".join(map(str, place_of(first))), reason(first, House)


@pytest.mark.parametrize(
    ("values", "place", "words"),
    [
        ({"kitchn": {}}, "kitchn", "did you mean kitchen? Expected one of kitchen, rooms, yard"),
        ({"kitchen": {"attempt": 2}}, "kitchen.attempt", "did you mean attempts? Expected one of"),
        ({"rooms": {"a": {"tones": 2}}}, "rooms.a.tones", "did you mean tone? Expected one of"),
        ({"yard": [{"walls": 2}]}, "yard.0.walls", "did you mean wall?"),
        ({"kitchen": {"zzz": 2}}, "kitchen.zzz", "no such key; Expected one of attempts, tone"),
        ({"kitchen": {"attempts": 0}}, "kitchen.attempts", "greater than 0, got 0"),
        ({"kitchen": {"tone": "hot"}}, "kitchen.tone", "'warm' or 'cold', got 'hot'"),
        ({"kitchen": {"wall": "blue"}}, "kitchen.wall", "'red', got 'blue'"),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(
    values: object, place: str, words: str
) -> None:
    where, why = told(values)

    assert where == place
    assert words in why


def test_a_text_at_the_wrong_place_is_not_repeated() -> None:
    _, why = told({"kitchen": {"secret": "sk-12345"}})

    assert "sk-12345" not in why


@pytest.mark.parametrize(
    ("bound", "came", "told"),
    [
        ({"max_length": 3}, "four", "expected at most 3 characters, got 4"),
        ({"min_length": 1}, "", "expected at least 1 character, got 0"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "string_"])
def test_the_length_of_a_text_is_told_in_characters(
    prefix: str, bound: dict[str, int], came: str, told: str
) -> None:
    kind = prefix + ("too_long" if "max_length" in bound else "too_short")
    error = {"type": kind, "loc": ("name",), "msg": "items", "input": came, "ctx": bound}

    assert reason(error, None) == told


def test_a_key_where_none_is_known_is_told_without_a_guess() -> None:
    error = {"type": "extra_forbidden", "loc": ("a", "b"), "msg": "", "input": 1}

    assert reason(error, None) == "there is no such key"
    assert reason(error, House) == "there is no such key"
    assert reason(error, dict) == "there is no such key"
