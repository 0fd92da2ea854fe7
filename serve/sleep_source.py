"""The first operator of the sleep job: due collections, read in bins of about equal work."""

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa
from ray.data import DataContext
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from pipeline.messages import Scope
from pipeline.ports import SleepStore
from pipeline.runs import DueCollection
from pipeline.sleep.packing import bins
from serve.sleep_limits import Limits
from serve.sleep_rows import Item, guarded, table
from serve.sleep_stages import Broken, Part, Plans, SleepParts, Stopped, limits_of, read

BIN_ENTRIES = 10_000
"""Entries that one read task takes, and one block of small collections holds."""


class DueCollections(Datasource):
    """The due collections of all runs; a block holds several small ones or a part of a large one.

    ``packed`` are the bins, each the work of one read task.
    """

    def __init__(self, due: Sequence[DueCollection], plans: Plans, parts: SleepParts) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Ray leaves it untyped
        scopes = [one.scope for one in due]
        self.packed = bins(scopes, [one.entries for one in due], capacity=BIN_ENTRIES)
        self._plans = plans
        self._parts = parts

    def get_name(self) -> str:
        """As the Ray dashboard shows it."""
        return "SleepCollections"

    def estimate_inmemory_data_size(self) -> int | None:
        """Unknown."""
        return None

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: DataContext | None = None,
    ) -> list[ReadTask]:
        """One task per bin."""
        return [
            ReadTask(
                partial(_read, scopes, self._plans, self._parts),
                BlockMetadata(None, None, None, None),
            )
            for scopes in self.packed
        ]


def _read(scopes: Sequence[Scope], plans: Plans, parts: SleepParts) -> Iterator[pa.Table]:
    store, limits = parts.open_store(), limits_of(plans, parts)
    small: list[Item] = []
    for scope in scopes:
        found = _parts_of(store, scope, plans, parts, limits)
        if len(found) == 1:
            small += found
        else:
            yield from (table([part]) for part in found)
    if small:
        yield table(small)


def _parts_of(
    store: SleepStore, scope: Scope, plans: Plans, parts: SleepParts, limits: Limits
) -> Sequence[Part | Broken | Stopped]:
    plan = plans[scope.tenant]
    stop = limits.stop(scope.tenant)
    if stop is not None:
        return [Stopped(scope=scope, stop=stop)]
    full = plan.run.options.full
    found = guarded(
        scope, lambda: list(read(store, scope, model=parts.model, only=plan.only, is_full=full))
    )
    return [found] if isinstance(found, Broken) else found
