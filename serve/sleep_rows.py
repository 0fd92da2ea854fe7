"""Items of the sleep job as rows of Ray Data's blocks, and back."""

import logging
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from pipeline.errors import SlowwaveError
from pipeline.messages import Scope
from serve.sleep_after import Tended, Untended
from serve.sleep_stages import Broken, Cases, Decided, Linked, Part, Stopped

log = logging.getLogger("slowwave.sleep")

Ended = Broken | Stopped
"""A collection that goes no further; it passes through the stages that are left."""

Item = Part | Linked | Cases | Decided | Untended | Tended | Ended

KEY = "collection"
"""The column to group by."""

_T = TypeVar("_T")


def table(items: Iterable[Item]) -> pa.Table:
    """One row per item: its collection, to group by, and the item itself."""
    return _table([(_key(one), one) for one in items])


def _key(item: Item) -> str:
    return f"{item.scope.tenant}/{item.scope.collection}"


def _table(rows: Sequence[tuple[str, object]]) -> pa.Table:
    stored = [pickle.dumps(one, protocol=5) for _, one in rows]
    return pa.table(
        {
            KEY: pa.array([key for key, _ in rows], type=pa.string()),
            "item": pa.array(stored, type=pa.large_binary()),
        }
    )


def packs(found: Iterable[Item], *, targets: int) -> pa.Table:
    """One row per about so many targets, whichever collections they are of, in their order."""
    rows: list[list[Item]] = [[]]
    size = 0
    for item in found:
        more = len(item.cases) if isinstance(item, Cases) else 0
        if rows[-1] and size + more > targets:
            rows.append([])
            size = 0
        rows[-1].append(item)
        size += more
    return _table([(_key(row[0]), row) for row in rows if row])


def items(rows: pa.Table) -> Iterator[Any]:
    """The items of the rows, packed ones too."""
    for stored in rows["item"]:
        found = pickle.loads(stored.as_py())
        yield from found if isinstance(found, list) else [found]


def by_collection(rows: pa.Table) -> Iterator[list[Any]]:
    """The items of each collection; one that goes no further is that one item alone."""
    groups = defaultdict(list)
    for item in items(rows):
        groups[item.scope].append(item)
    for group in groups.values():
        yield [ended] if (ended := _ended(group)) else group


def _ended(group: Iterable[Any]) -> Ended | None:
    """What ends the collection of these items: rather what is broken than what is left."""
    found = [one for one in group if isinstance(one, Ended)]
    return next((one for one in found if isinstance(one, Broken)), found[0] if found else None)


def guarded(scope: Scope, work: Callable[[], _T]) -> _T | Broken:
    """What the work gives, or why the collection goes no further.

    One collection must not end the run of the others, whatever is wrong with it.
    """
    try:
        return work()
    except SlowwaveError as error:
        return Broken(scope=scope, reason=error.message)
    except Exception as error:
        log.exception("a collection was not consolidated")
        return Broken(scope=scope, reason=f"{type(error).__name__}: {error}")
