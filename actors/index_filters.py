"""What a point must be to be found, in the words that both Qdrant engines share.

A condition may let through more than the filter it was made of, never less: the rest is judged on
the entry. What an engine cannot say, as the order of metadata, becomes what it can.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from pipeline.entries import Kind
from pipeline.recall.filters import (
    METADATA,
    TIMES,
    Comparison,
    Every,
    Filter,
    Not,
    Operator,
    Some,
)
from pipeline.recall.labels import MANY, key_label, value_label
from pipeline.tasks import STATE_KEY

LABELS_FIELD = "metadata"


@dataclass(frozen=True, slots=True, kw_only=True)
class Is:
    """A field is the value, or a list that has it."""

    field: str
    value: str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """A field is one of the values, or a list that has one of them; never empty."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A field of time lies within the bounds that are given."""

    field: str
    gte: datetime | None = None
    gt: datetime | None = None
    lte: datetime | None = None
    lt: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """All of ``every`` hold, none of ``none``, and one of ``some`` where there are any."""

    every: tuple["Condition", ...] = ()
    some: tuple["Condition", ...] = ()
    none: tuple["Condition", ...] = ()


BOUNDS = ("gte", "gt", "lte", "lt")

Condition = Is | Among | Between | Conditions


def where_conditions(where: Filter) -> Condition | None:
    """What an engine can say of a filter; None where it can say nothing."""
    return _wide(where, is_denied=False)


def _wide(where: Filter, *, is_denied: bool) -> Condition | None:
    """True for every point for which the filter, or its denial, is."""
    match where:
        case Comparison():
            return _denied(where) if is_denied else _affirmed(where)
        case Not(part=part):
            return _wide(part, is_denied=not is_denied)
        case Every(parts=parts):
            return (_some if is_denied else _every)(parts, is_denied=is_denied)
        case Some(parts=parts):
            return (_every if is_denied else _some)(parts, is_denied=is_denied)
        case _:
            assert_never(where)


def _every(parts: Sequence[Filter], *, is_denied: bool) -> Condition | None:
    said = [one for part in parts if (one := _wide(part, is_denied=is_denied)) is not None]
    return Conditions(every=tuple(said)) if said else None


def _some(parts: Sequence[Filter], *, is_denied: bool) -> Condition | None:
    said = [one for part in parts if (one := _wide(part, is_denied=is_denied)) is not None]
    return Conditions(some=tuple(said)) if len(said) == len(parts) else None


def _affirmed(asked: Comparison) -> Condition:
    if asked.field == STATE_KEY:
        return Among(field="kind", values=(Kind.TASK.value,))
    if not asked.field.startswith(METADATA):
        return _exact(asked)
    key = asked.field.removeprefix(METADATA)
    if asked.operator not in (Operator.EQ, Operator.IN):
        return Among(field=LABELS_FIELD, values=(key_label(key), MANY))
    return Among(field=LABELS_FIELD, values=(*_value_labels(asked), MANY))


def _denied(asked: Comparison) -> Condition | None:
    if asked.field == STATE_KEY:
        return None
    if not asked.field.startswith(METADATA):
        return Conditions(none=(_exact(asked),))
    if asked.operator not in (Operator.EQ, Operator.IN):
        return None
    return Conditions(none=(Among(field=LABELS_FIELD, values=_value_labels(asked)),))


def _exact(asked: Comparison) -> Condition:
    if asked.field not in TIMES:
        return Among(field=asked.field, values=tuple(map(str, asked.values)))
    instants = [value for value in asked.values if isinstance(value, datetime)]
    match asked.operator:
        case Operator.EQ | Operator.IN:
            same = (Between(field=asked.field, gte=one, lte=one) for one in instants)
            return Conditions(some=tuple(same))
        case Operator.GTE:
            return Between(field=asked.field, gte=instants[0])
        case Operator.LTE:
            return Between(field=asked.field, lte=instants[0])
        case Operator.GT:
            return Between(field=asked.field, gt=instants[0])
        case Operator.LT:
            return Between(field=asked.field, lt=instants[0])
        case _:
            assert_never(asked.operator)


def _value_labels(asked: Comparison) -> tuple[str, ...]:
    key = asked.field.removeprefix(METADATA)
    values = (value for value in asked.values if not isinstance(value, datetime))
    return tuple(value_label(key, value) for value in values)
