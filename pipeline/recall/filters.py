"""Which entries a search may find: typed comparisons of their fields, joined by and, or and not.

A filter is read from JSON, refused by name where it is none, and judged here on what the record
store holds. ``pipeline/recall/labels.py`` and the index say the same beforehand where they can.
Knows nothing of stores; a tenant is no field of it.

    {"kind": {"in": ["event", "fact"]}, "said_at": {"gte": "2024-05-01", "lt": "2024-06-01"},
     "not": {"speaker": "Bob"}, "metadata.project": "atlas"}
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self, assert_never

from pipeline.entries import Entry, Kind, Status
from pipeline.errors import InputError
from pipeline.messages import Json, Message
from pipeline.storable import check_text
from pipeline.tasks import STATE_KEY, TaskState, task_state
from pipeline.text.times import parse_time, time_of

MOST_COMPARISONS = 64
"""Comparisons in one filter."""
DEEPEST = 8
"""Levels of and, or and not inside each other."""
MOST_VALUES = 100
"""Values in one ``in``."""
MOST_CHARS = 1_000
"""Characters of one value, and of the name of a field."""

METADATA = "metadata."


class Operator(StrEnum):
    """How a field is compared."""

    EQ = "eq"
    IN = "in"
    GTE = "gte"
    LTE = "lte"
    GT = "gt"
    LT = "lt"


Scalar = str | bool | int | float | datetime
"""What a field is compared with."""

TIMES = ("said_at", "written_at", "valid_from", "valid_to")
TEXTS = ("speaker", "conversation", "language")
_WORDS: Mapping[str, type[Kind] | type[Status] | type[TaskState]] = {
    "kind": Kind,
    "status": Status,
    STATE_KEY: TaskState,
}
FIELDS = (*TIMES, *TEXTS, *_WORDS)
"""The fields, beside ``metadata.`` with any name."""

_ORDERS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.GTE: operator.ge,
    Operator.LTE: operator.le,
    Operator.GT: operator.gt,
    Operator.LT: operator.lt,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a source message lends to its entries."""

    conversation: str
    metadata: Mapping[str, Json]

    @classmethod
    def of(cls, message: Message) -> Self:
        """That of a message."""
        return cls(conversation=message.conversation, metadata=message.metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A field compared with values of its type: several only for ``in``, times in UTC."""

    field: str
    operator: Operator
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """All parts hold; never empty."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Some:
    """At least one part holds; never empty."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """The part does not hold; a field that an entry lacks holds for none."""

    part: "Filter"


Filter = Comparison | Every | Some | Not


def parse_filter(raw: Mapping[str, Json], *, field: str = "filter") -> Filter:
    """The filter that the JSON object says; its keys are fields, ``and``, ``or`` and ``not``.

    All keys of one object must hold. A value is compared by ``{operator: value}``, by several
    operators that must all hold, or by itself, which means ``eq``.

    Raises:
        InputError: an unknown field, operator or type, an empty part, or too much of anything;
            its field is the path to it.
    """
    found = _parsed(raw, field, 1)
    count = len(list(comparisons(found)))
    if count > MOST_COMPARISONS:
        raise InputError(
            f"expected at most {MOST_COMPARISONS} comparisons, got {count}", field=field
        )
    return found


def comparisons(filter_: Filter) -> Iterator[Comparison]:
    """Every comparison of a filter."""
    match filter_:
        case Comparison():
            yield filter_
        case Not(part=part):
            yield from comparisons(part)
        case Every(parts=parts) | Some(parts=parts):
            for part in parts:
                yield from comparisons(part)
        case _:
            assert_never(filter_)


def asks_sources(filter_: Filter) -> bool:
    """Whether it can be judged only with the messages that an entry came from."""
    return any(
        asked.field == "conversation" or asked.field.startswith(METADATA)
        for asked in comparisons(filter_)
    )


def holds(filter_: Filter, entry: Entry, sources: Sequence[Origin] = ()) -> bool:
    """Whether an entry passes.

    Args:
        sources: those of the messages it came from: of them are its conversations, and they
            share their metadata with it.
    """
    match filter_:
        case Comparison():
            return any(_passes(filter_, value) for value in _values(filter_, entry, sources))
        case Not(part=part):
            return not holds(part, entry, sources)
        case Every(parts=parts):
            return all(holds(part, entry, sources) for part in parts)
        case Some(parts=parts):
            return any(holds(part, entry, sources) for part in parts)
        case _:
            assert_never(filter_)


def metadata_values(
    entry: Entry, sources: Sequence[Origin]
) -> Iterator[tuple[str, str | bool | int | float]]:
    """Every key with each text, number or truth value under it; the members of a list one by one.

    An object inside metadata, and null, are compared with nothing.
    """
    for held in (entry.metadata, *(source.metadata for source in sources)):
        for key, value in held.items():
            is_list = isinstance(value, Sequence) and not isinstance(value, str)
            for each in value if is_list and isinstance(value, Sequence) else (value,):
                if isinstance(each, str | bool | int | float):
                    yield key, each


# Reading ----------------------------------------------------------------------------------------


def _parsed(raw: object, at: str, depth: int) -> Filter:
    fields = _object(raw, at, "an object of fields, and, or, not")
    if depth > DEEPEST:
        raise InputError(f"expected at most {DEEPEST} levels, got more", field=at)
    parts = [part for key, value in fields.items() for part in _part(key, value, at, depth)]
    return parts[0] if len(parts) == 1 else Every(parts=tuple(parts))


def _object(raw: object, at: str, expected: str) -> Mapping[str, object]:
    if not isinstance(raw, Mapping) or not raw:
        came = "an empty one" if isinstance(raw, Mapping) else _type(raw)
        raise InputError(f"expected {expected}, got {came}", field=at)
    return raw


def _part(key: str, value: object, at: str, depth: int) -> list[Filter]:
    match key:
        case "and" | "or":
            parts = tuple(_several(value, f"{at}.{key}", depth))
            return [Every(parts=parts) if key == "and" else Some(parts=parts)]
        case "not":
            return [Not(part=_parsed(value, f"{at}.not", depth + 1))]
        case _:
            return list(_comparisons(key, value, at))


def _several(value: object, at: str, depth: int) -> list[Filter]:
    if not isinstance(value, list | tuple) or not value:
        came = "an empty one" if isinstance(value, list | tuple) else _type(value)
        raise InputError(f"expected a list of filters, got {came}", field=at)
    return [_parsed(one, f"{at}[{place}]", depth + 1) for place, one in enumerate(value)]


def _comparisons(name: str, value: object, at: str) -> Iterator[Filter]:
    _check_field(name, at)
    where = f"{at}.{name}"
    if not isinstance(value, Mapping):
        yield _comparison(name, Operator.EQ, value, where)
        return
    for key, operand in _object(value, where, "an operator and a value").items():
        _check_operator(name, key, where)
        yield _comparison(name, Operator(key), operand, f"{where}.{key}")


def _check_field(name: str, at: str) -> None:
    is_metadata = name.startswith(METADATA) and len(name) > len(METADATA)
    if name not in FIELDS and not is_metadata:
        known = ", ".join((*FIELDS, f"{METADATA}<key>", "and", "or", "not"))
        raise InputError(f"expected one of {known}, got {_shown(name)}", field=at)
    _check_text(name, at)


def _check_operator(name: str, key: str, at: str) -> None:
    is_ordered = name in TIMES or name.startswith(METADATA)
    allowed = [*Operator] if is_ordered else [Operator.EQ, Operator.IN]
    if key not in allowed:
        raise InputError(f"expected one of {', '.join(allowed)}, got {_shown(key)}", field=at)


def _comparison(name: str, how: Operator, value: object, at: str) -> Comparison:
    if how is not Operator.IN:
        return Comparison(field=name, operator=how, values=(_scalar(name, how, value, at),))
    if not isinstance(value, list | tuple) or not value:
        came = "an empty one" if isinstance(value, list | tuple) else _type(value)
        raise InputError(f"expected a list of values, got {came}", field=at)
    if len(value) > MOST_VALUES:
        raise InputError(f"expected at most {MOST_VALUES} values, got {len(value)}", field=at)
    values = [_scalar(name, how, one, f"{at}[{place}]") for place, one in enumerate(value)]
    return Comparison(field=name, operator=how, values=tuple(values))


def _scalar(name: str, how: Operator, value: object, at: str) -> Scalar:
    if isinstance(value, str):
        _check_text(value, at)
    if name in TIMES:
        return _time(value, at)
    if name in _WORDS:
        return _word(_WORDS[name], value, at)
    if name.startswith(METADATA):
        return _of_metadata(how, value, at)
    if not isinstance(value, str):
        raise InputError(f"expected a text, got {_type(value)}", field=at)
    return value


def _of_metadata(how: Operator, value: object, at: str) -> Scalar:
    is_equality = how in (Operator.EQ, Operator.IN)
    if isinstance(value, bool) and is_equality:
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"expected a finite number, got {value}", field=at)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if is_equality else _time(value, at)
    expected = "a text, a number or true or false" if is_equality else "a number or a time"
    raise InputError(f"expected {expected}, got {_type(value)}", field=at)


def _word(known: type[Kind] | type[Status] | type[TaskState], value: object, at: str) -> str:
    if not isinstance(value, str) or value not in list(known):
        came = _shown(value) if isinstance(value, str) else _type(value)
        raise InputError(f"expected one of {', '.join(known)}, got {came}", field=at)
    return value


def _time(value: object, at: str) -> datetime:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"expected a time, got {_type(value)}", field=at)
    return time_of(value, field=at)


def _check_text(text: str, at: str) -> None:
    if len(text) > MOST_CHARS:
        raise InputError(f"expected at most {MOST_CHARS} characters, got {len(text)}", field=at)
    try:
        check_text(text)
    except ValueError as exc:
        raise InputError(str(exc), field=at) from exc


def _type(value: object) -> str:
    return f"a value of type {type(value).__name__}"


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 80 else f"{text[:80]}...")


# Judging ----------------------------------------------------------------------------------------


def _values(asked: Comparison, entry: Entry, sources: Sequence[Origin]) -> Iterator[Scalar]:
    """What the entry has in the field; nothing where it lacks it."""
    if asked.field.startswith(METADATA):
        wanted = asked.field.removeprefix(METADATA)
        yield from (value for key, value in metadata_values(entry, sources) if key == wanted)
    elif asked.field == "conversation":
        yield from (source.conversation for source in sources)
    elif asked.field == STATE_KEY:
        state = task_state(entry)
        yield from () if state is None else (state.value,)
    else:
        value = getattr(entry, asked.field)
        if value is not None:
            yield value


def _passes(asked: Comparison, value: Scalar) -> bool:
    if asked.operator in (Operator.EQ, Operator.IN):
        return any(_is_same(value, wanted) for wanted in asked.values)
    (bound,) = asked.values
    found = _time_of(value) if isinstance(bound, datetime) else value
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    is_comparable = isinstance(found, datetime) or (is_number and not isinstance(bound, datetime))
    return is_comparable and _ORDERS[asked.operator](found, bound)


def _is_same(value: Scalar, wanted: Scalar) -> bool:
    """Equal in JSON: 1 and 1.0 are, 1 and true are not."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


def _time_of(value: Scalar) -> Scalar | None:
    """The instant that a value is or says; None where it says none."""
    if not isinstance(value, str):
        return value if isinstance(value, datetime) else None
    try:
        return parse_time(value, zone=None)[0]
    except InputError:
        return None
