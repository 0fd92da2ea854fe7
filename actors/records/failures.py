"""What a refusal of the database means for the caller, and which calls are made again."""

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import isfunction
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError, TimeoutError

from pipeline.errors import StoreError

T = TypeVar("T")

DELAYS_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Pauses before each further try: together longer than a database needs to restart."""

_TAKEN_BACK = ("40001", "40P01")
"""The states of a serialization failure and of a deadlock: PostgreSQL has rolled back."""


class RolledBack(StoreError):
    """The store refused and nothing of the transaction remains: it may be tried again."""


@contextmanager
def translated(*, is_commit: bool = False) -> Iterator[None]:
    """Says the driver's errors in our words.

    Args:
        is_commit: the block ends the transaction, so that a lost connection says nothing about
            whether it was written.

    Raises:
        RolledBack: a deadlock or a serialization failure, or the connection was lost before
            the end.
        StoreError: any other refusal.
    """
    try:
        yield
    except TimeoutError as exc:
        raise StoreError(f"the record store has no connection left: {exc}") from exc
    except OverflowError as exc:  # of SQLite's driver, which SQLAlchemy lets through as it is
        raise StoreError(f"the record store cannot hold a number: {exc}") from exc
    except DBAPIError as exc:
        is_undone = _is_taken_back(exc) or (_is_lost(exc) and not is_commit)
        kind = RolledBack if is_undone else StoreError
        message = f"the record store refused: {type(exc).__name__}: {exc.orig}"
        raise kind(message) from exc


def _is_lost(error: DBAPIError) -> bool:
    """That the connection is gone, or never came about."""
    state = getattr(error.orig, "sqlstate", "")
    # psycopg names no state where the server cannot be reached; SQLite's errors have none at all.
    return error.connection_invalidated or (state is None and error.statement is None)


def _is_taken_back(error: DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) in _TAKEN_BACK


def retrying(store: type[T]) -> type[T]:
    """The class with public methods that are made again after ``RolledBack``, and then StoreError.

    Only for stores whose methods write in one transaction each: then nothing is done twice.
    """
    for name, method in list(vars(store).items()):
        if isfunction(method) and not name.startswith("_"):
            setattr(store, name, retried(method))
    return store


def retried(method: Callable[..., Any]) -> Callable[..., Any]:
    """The call, made again after ``RolledBack``, and then StoreError; it must be safe to repeat."""

    @functools.wraps(method)
    def tried(*args: object, **options: object) -> object:
        for delay_s in DELAYS_S:
            try:
                return method(*args, **options)
            except RolledBack:
                time.sleep(delay_s)
        try:
            return method(*args, **options)
        except RolledBack as exc:
            raise StoreError(f"{exc.message} (tried {len(DELAYS_S) + 1} times)") from exc

    return tried
