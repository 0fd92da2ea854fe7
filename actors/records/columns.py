"""Column types that mean the same on SQLite and PostgreSQL; knows nothing of tables."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, Column, DateTime, Dialect, Integer, LargeBinary
from sqlalchemy.exc import DontWrapMixin
from sqlalchemy.types import TypeDecorator, TypeEngine

from pipeline.errors import InputError


class UnstorableValue(InputError, DontWrapMixin):
    """A value that no column takes, said in our words and not in the driver's."""


class UtcDateTime(TypeDecorator[datetime]):
    """An instant, stored in UTC with microseconds; a naive datetime is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The instant in UTC; SQLite keeps it as sortable text without the offset."""
        if value is None:
            return None
        return _bare(value) if dialect.name == "sqlite" else _in_utc(value)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The instant, timezone-aware, in UTC."""
        if value is None or value.tzinfo is UTC:
            return value
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _in_utc(value: datetime) -> datetime:
    if value.tzinfo is UTC:
        return value
    if value.utcoffset() is None:
        raise UnstorableValue(f"expected a time with a zone, got naive {value.isoformat()}")
    return value.astimezone(UTC)


@lru_cache(maxsize=1_000)  # a row holds the same instant several times
def _bare(value: datetime) -> datetime:
    return _in_utc(value).replace(tzinfo=None)


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
        vector = np.frombuffer(value, dtype="<f2").astype(np.float32)
        length = float(np.linalg.norm(vector))
        return vector / np.float32(length) if length > 0 else vector


COUNTER = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only for the type INTEGER."""


def required(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]]) -> Column[Any]:
    """A column that is never NULL."""
    return Column(name, kind, nullable=False)


def counter(name: str) -> Column[int]:
    """A number that begins at 0."""
    return Column(name, BigInteger, nullable=False, server_default="0")
