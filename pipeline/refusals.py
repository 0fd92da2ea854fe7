"""What is wrong with values from outside: told by key, with what would be valid.

Knows the errors of Pydantic and nothing of where the values came from.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

Place = Sequence[int | str]
"""The way to a value: keys and indices, as an error of Pydantic has it."""

_KEY = "[key]"
_NEAR = 0.6
_LENGTHS = {
    "too_long": ("most", "max_length"),
    "string_too_long": ("most", "max_length"),
    "too_short": ("least", "min_length"),
    "string_too_short": ("least", "min_length"),
}


def place_of(error: Mapping[str, Any]) -> tuple[int | str, ...]:
    """Where the value stands that the error is about."""
    return tuple(part for part in error["loc"] if part != _KEY)


def reason(error: Mapping[str, Any], model: object, *, of: Place | None = None) -> str:
    """What was expected and what came; for an unknown key the nearest one and all there are.

    Values are told only where they were to be one of a few words, a number or yes and no: another
    may be a secret at a wrong place.

    Args:
        error: one of a ValidationError's ``errors()``.
        model: the annotation that the value was read as.
        of: the place of the value in ``model``; None is that of the error.
    """
    place = place_of(error) if of is None else of
    if error["type"] == "extra_forbidden":
        return _unknown(str(place[-1]), _keys(model, place[:-1]))
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    came = error["input"]
    if isinstance(came, str) and error["type"] in _LENGTHS:
        return _length(error["type"], error["ctx"], came)
    told = str(error["msg"])
    is_choice = error["type"] in ("literal_error", "enum")
    is_plain = isinstance(came, bool | int | float) or (is_choice and isinstance(came, str))
    return f"{told}, got {came!r}" if is_plain else told


def _length(kind: str, bounds: Mapping[str, Any], came: str) -> str:
    """A text's bound in characters, whoever found it."""
    word, bound = _LENGTHS[kind]
    count = bounds[bound]
    return f"expected at {word} {count} character{'' if count == 1 else 's'}, got {len(came)}"


def _unknown(key: str, valid: Sequence[str]) -> str:
    if not valid:
        return "there is no such key"
    near = get_close_matches(key, valid, n=1, cutoff=_NEAR)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"there is no such key; {hint}Expected one of {', '.join(valid)}"


def _keys(annotation: object, place: Place) -> list[str]:
    """The keys of the section at a place; none where there is no section."""
    found = _unwrapped(annotation)
    fields: Mapping[str, Any] | None = getattr(found, "model_fields", None)
    if not place:
        return list(fields or ())
    if fields is not None:
        field = fields.get(str(place[0]))
        return [] if field is None else _keys(field.annotation, place[1:])
    inside = get_args(found)
    return _keys(inside[-1], place[1:]) if inside else []


def _unwrapped(annotation: object) -> Any:
    """The annotation without what surrounds it: constraints, and None beside it."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _unwrapped(get_args(annotation)[0])
    if origin in (Union, UnionType):
        some = [each for each in get_args(annotation) if each is not type(None)]
        return _unwrapped(some[0])
    return annotation
