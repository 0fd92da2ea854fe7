"""Column types that mean the same on SQLite and PostgreSQL; knows nothing of tables."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, Column, DateTime, Dialect, Integer, LargeBinary
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.types import TypeDecorator, TypeEngine

from pipeline.errors import InputError


class UnstorableValue(InputError, DontWrapMixin):
    """A value that no column takes, said in our words and not in the driver's."""


_BARE_CHARS = len("2025-03-01 10:00:00.000000")
"""Without the offset."""


class UtcDateTime(TypeDecorator[datetime]):
    """An instant, stored in UTC with microseconds; a naive datetime is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[datetime | None], object] | None:
        """The instant in UTC; SQLite keeps it as sortable text without the offset."""
        return _to_text if dialect.name == "sqlite" else _to_utc

    def result_processor(
        self, dialect: Dialect, coltype: object
    ) -> Callable[[Any], datetime | None] | None:
        """The instant, timezone-aware, in UTC."""
        return _from_text if dialect.name == "sqlite" else _to_utc


def _to_utc(value: datetime | None) -> datetime | None:
    if value is None or value.tzinfo is UTC:
        return value
    if value.utcoffset() is None:
        raise UnstorableValue(f"expected a time with a zone, got naive {value.isoformat()}")
    return value.astimezone(UTC)


def _to_text(value: datetime | None) -> str | None:
    instant = _to_utc(value)
    return None if instant is None else instant.isoformat(" ", "microseconds")[:_BARE_CHARS]


def _from_text(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value + "+00:00")


class HalfVector(TypeDecorator[NDArray[np.float32]]):
    """An L2-normalised vector ``(dim,)``, stored as little-endian float16, read as float32.

    Reading normalises again, since rounding to 11 bits moves the length by up to 5e-4.
    """

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(
        self, value: NDArray[np.float32] | None, dialect: Dialect
    ) -> bytes | None:
        """``2 * dim`` bytes."""
        if value is None:
            return None
        if value.ndim != 1 or not np.isfinite(value).all():
            raise UnstorableValue(f"expected one finite vector, got shape {value.shape}")
        return value.astype("<f2").tobytes()

    def process_result_value(
        self, value: bytes | None, dialect: Dialect
    ) -> NDArray[np.float32] | None:
        """``(dim,)``, float32, of length 1; a zero vector stays zero."""
        if value is None:
            return None
        # Half a number can only be damage: its width tells, whoever reads it goes on.
        whole = value[: len(value) // 2 * 2]
        vector = np.frombuffer(whole, dtype="<f2").astype(np.float32)
        length = float(np.linalg.norm(vector))
        return vector / np.float32(length) if 0 < length < np.inf else vector


COUNTER = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only for the type INTEGER."""


def required(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]]) -> Column[Any]:
    """A column that is never NULL."""
    return Column(name, kind, nullable=False)


def counter(name: str) -> Column[int]:
    """A number that begins at 0."""
    return Column(name, BigInteger, nullable=False, server_default="0")
