"""The last operator of a sleep job: collections tended after their decisions, a row per collection.

It is a pipeline of its own, since what must be tended shows once the decisions are written, and
much of it no decision was due for. It writes by compare-and-set, so a worker that dies changes
nothing twice.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy, DataContext

from pipeline.messages import Scope
from pipeline.runs import DueCollection, Stop
from pipeline.sleep.packing import bins
from serve.sleep_after import AfterParts, Tended, Tender, Untended, to_tend
from serve.sleep_outcome import Result
from serve.sleep_rows import guarded, items, table
from serve.sleep_stages import Broken, Plans, SleepParts, Stopped, limits_of

BLOCK_BYTES = 1 << 20
"""Ray Data joins rows up to this size into one block, the unit that a worker takes."""

BIN_ENTRIES = 10_000
"""Entries that one worker tends before it reports, at most."""

BINS_EACH = 4
"""Bins per worker, so that none waits long for the others."""


@contextmanager
def data_context(*, progress: bool) -> Iterator[None]:
    """The settings of Ray Data that hold for the pipelines of a sleep job."""
    context = DataContext.get_current().copy()
    context.enable_progress_bars = progress
    context.print_on_execution_start = progress
    context.target_max_block_size = BLOCK_BYTES
    with DataContext.current(context), warnings.catch_warnings():
        # A small run has fewer blocks than a stage may have workers, which is as it should be.
        warnings.filterwarnings("ignore", "The maximum number of concurrent tasks", UserWarning)
        yield


def tend_all(
    plans: Plans,
    parts: SleepParts,
    *,
    left: frozenset[Scope],
    workers: int,
    cpus: float,
    name: str,
    progress: bool = False,
) -> list[Result]:
    """What became of each collection of the runs that has something to tend.

    Where none has, or the time of all is over, nothing is asked of Ray.

    Args:
        left: collections that a run left undecided; they are left here too.
        workers: how many there are at most, of ``cpus`` logical CPUs each.
        name: what the Ray dashboard calls the pipeline.
    """
    if parts.after is None:
        return []
    found = [one for one in _found(plans, parts.after) if one.scope not in left]
    over = _over(plans, parts)
    due = [one for one in found if one.scope.tenant not in over]
    results: list[Result] = [
        Stopped(scope=one.scope, stop=Stop.WINDOW) for one in found if one.scope.tenant in over
    ]
    if due:
        with data_context(progress=progress):
            results += _job(due, plans, parts, workers=workers, cpus=cpus, name=name)
    return results


def _found(plans: Plans, after: AfterParts) -> Iterator[DueCollection]:
    for plan in plans.values():
        yield from to_tend(plan.run, after, collection=plan.run.options.collection)


def _over(plans: Plans, parts: SleepParts) -> set[str]:
    """The tenants whose time is over."""
    limits = limits_of(plans, parts)
    return {tenant for tenant in plans if limits.stop(tenant) is Stop.WINDOW}


def _job(
    due: Sequence[DueCollection],
    plans: Plans,
    parts: SleepParts,
    *,
    workers: int,
    cpus: float,
    name: str,
) -> list[Result]:
    entries = [one.entries for one in due]
    capacity = max(1, min(BIN_ENTRIES, sum(entries) // (BINS_EACH * workers)))
    packed = bins([one.scope for one in due], entries, capacity=capacity)
    tended = ray.data.from_arrow(
        [table(Untended(scope=scope) for scope in scopes) for scopes in packed]
    ).map_batches(
        Tend,
        fn_constructor_args=(plans, parts),
        batch_size=1,
        batch_format="pyarrow",
        num_cpus=cpus,
        compute=ActorPoolStrategy(size=min(workers, len(packed))),
    )
    tended.set_name(name)
    batches = tended.iter_batches(batch_size=None, batch_format="pyarrow")
    return [one for batch in batches for one in items(batch)]


class Tend:
    """One worker of the stage; the Ray dashboard shows its name."""

    def __init__(self, plans: Plans, parts: SleepParts) -> None:
        if parts.after is None:
            raise ValueError("expected what merging, forgetting and the scratchpad need, got none")
        self._plans = plans
        self._limits = limits_of(plans, parts)
        self._tender = Tender(parts.after, self._limits)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Collections to what became of them."""
        return table(self._one(item.scope) for item in items(batch))

    def _one(self, scope: Scope) -> Tended | Broken | Stopped:
        if self._limits.stop(scope.tenant) is Stop.WINDOW:
            return Stopped(scope=scope, stop=Stop.WINDOW)
        run = self._plans[scope.tenant].run
        return guarded(scope, partial(self._tender.tend, run, scope))
