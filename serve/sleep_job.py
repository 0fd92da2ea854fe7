"""The sleep run as a Ray Data job: read, neighbours, queue, decide, write, each its own operator.

Only the write stage and the reply cache write, and both may be repeated: a worker that dies
changes nothing twice. Knows Ray; what each stage does is in ``sleep_stages``.
"""

import pickle
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy, DataContext, Dataset, TaskPoolStrategy
from ray.data.block import Block, BlockAccessor, BlockMetadata
from ray.data.datasource import Datasink, Datasource, ReadTask

from pipeline.errors import StoreError
from pipeline.messages import Scope
from pipeline.settings import ConsolidationSettings
from pipeline.sleep.packing import bins
from pipeline.state import DueCollection, SleepRun
from serve.sleep_settling import Decides, settle
from serve.sleep_stages import (
    Broken,
    Cases,
    Decided,
    Linked,
    Part,
    SleepParts,
    Writing,
    Written,
    invert,
    link,
    read,
)

__all__ = ["JobWorkers", "SleepParts", "consolidate"]

BIN_ENTRIES = 10_000
"""Entries that one read task takes, and one block of small collections holds."""

BLOCK_BYTES = 1 << 20
"""Ray Data joins rows up to this size into one block, the unit that a worker takes."""

Item = Part | Linked | Cases | Decided | Broken


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWorkers:
    """Logical CPUs of one worker of each stage, and how many workers a stage has at most.

    Ray Data fuses neighbouring stages that ask for the same, so the numbers differ on purpose.
    Its shuffles before queue and write ask for one whole CPU.
    """

    read_cpus: float = 0.2
    neighbour_cpus: float = 0.5
    queue_cpus: float = 0.2
    decide_cpus: float = 0.1
    write_cpus: float = 0.3
    readers: int = 2
    neighbours: int = 2
    queuers: int = 2
    deciders: int = 1
    writers: int = 2


def consolidate(
    run: SleepRun,
    *,
    parts: SleepParts,
    settings: ConsolidationSettings,
    collection: str | None = None,
    workers: JobWorkers | None = None,
    progress: bool = False,
) -> dict[str, int]:
    """The run's totals: targets, update, delete, ignore, skipped, failed, model_calls, collections.

    Decides what is due for the run's tenant, or for one of its collections, and writes it. Where
    nothing is due it asks nothing of Ray. ``model_calls`` leaves out replies from the cache. A
    failed decision is counted and due again; a collection that cannot be read or written does not
    stop the others.

    Raises:
        StoreError: some collections could not be read or written, named with their reasons. The
            others are done; ``totals`` of the error counts them.
    """
    due = parts.open_store().due(run.tenant, collection=collection)
    results: list[Written | Broken] = []
    if due:
        results = _run_job(run, due, parts, settings, workers or JobWorkers(), progress=progress)
    totals = _totals(one for one in results if isinstance(one, Written))
    broken = [one for one in results if isinstance(one, Broken)]
    if broken:
        raise _incomplete(broken, len(results), totals)
    return totals


def _totals(written: Iterable[Written]) -> dict[str, int]:
    names = ("targets", "update", "delete", "ignore", "skipped", "failed", "model_calls")
    counts: Counter[str] = Counter()
    for one in written:
        counts.update({**one.counts, "collections": 1})
    return {name: counts[name] for name in (*names, "collections")}


def _incomplete(broken: Sequence[Broken], count: int, totals: dict[str, int]) -> StoreError:
    reasons = "; ".join(f"{one.scope.collection}: {one.reason}" for one in broken[:5])
    error = StoreError(f"{len(broken)} of {count} collections were not consolidated: {reasons}")
    error.totals = totals  # type: ignore[attr-defined]  # travels with the error between processes
    return error


# The plan ---------------------------------------------------------------------------------------


def _run_job(
    run: SleepRun,
    due: Sequence[DueCollection],
    parts: SleepParts,
    settings: ConsolidationSettings,
    workers: JobWorkers,
    *,
    progress: bool,
) -> list[Written | Broken]:
    context = DataContext.get_current().copy()
    context.enable_progress_bars = progress
    context.print_on_execution_start = progress
    context.target_max_block_size = BLOCK_BYTES
    sink = _LedgerDatasink(run, parts)
    with DataContext.current(context), warnings.catch_warnings():
        # A small run has fewer blocks than a stage may have workers, which is as it should be.
        warnings.filterwarnings("ignore", "The maximum number of concurrent tasks", UserWarning)
        source = _DueCollections(due, parts)
        decided = _decided(source, parts, settings, workers)
        _grouped(decided, source, workers.writers).write_datasink(
            sink, ray_remote_args={"num_cpus": workers.write_cpus}, concurrency=workers.writers
        )
    return sink.results


def _decided(
    source: "_DueCollections",
    parts: SleepParts,
    settings: ConsolidationSettings,
    workers: JobWorkers,
) -> Dataset:
    found = ray.data.read_datasource(
        source,
        num_cpus=workers.read_cpus,
        concurrency=workers.readers,
        override_num_blocks=len(source.packed),
    ).map_batches(
        partial(find_neighbours, settings=settings, min_similarity=parts.min_similarity),
        batch_size=1,
        batch_format="pyarrow",
        num_cpus=workers.neighbour_cpus,
        compute=TaskPoolStrategy(size=workers.neighbours),
    )
    return (
        _grouped(found, source, workers.queuers)
        .map_batches(
            queue_targets,
            batch_size=None,
            batch_format="pyarrow",
            num_cpus=workers.queue_cpus,
            compute=TaskPoolStrategy(size=workers.queuers),
        )
        .map_batches(
            Decide,
            fn_constructor_args=(parts,),
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=workers.decide_cpus,
            compute=ActorPoolStrategy(size=workers.deciders),
        )
    )


def _grouped(rows: Dataset, source: "_DueCollections", workers: int) -> Dataset:
    """The rows of each collection in one block; a small run is one block."""
    return rows.repartition(min(len(source.packed), 4 * workers), keys=["collection"])


# Rows -------------------------------------------------------------------------------------------


def _table(items: Iterable[Item]) -> pa.Table:
    """One row per item: its collection, to group by, and the item itself."""
    items = list(items)
    return pa.table(
        {
            "collection": pa.array([one.scope.collection for one in items], type=pa.string()),
            "item": pa.array(
                [pickle.dumps(one, protocol=5) for one in items], type=pa.large_binary()
            ),
        }
    )


def _items(table: pa.Table) -> Iterator[Any]:
    return (pickle.loads(packed.as_py()) for packed in table["item"])


def _by_collection(table: pa.Table) -> Iterator[list[Any]]:
    groups = defaultdict(list)
    for item in _items(table):
        groups[item.scope].append(item)
    yield from groups.values()


# Stages -----------------------------------------------------------------------------------------


class _DueCollections(Datasource):
    """The due collections; a block holds several small ones or one part of a large one."""

    def __init__(self, due: Sequence[DueCollection], parts: SleepParts) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Ray leaves it untyped
        scopes = [one.scope for one in due]
        self.packed = bins(scopes, [one.entries for one in due], capacity=BIN_ENTRIES)
        self._parts = parts

    def get_name(self) -> str:
        return "SleepCollections"

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: DataContext | None = None,
    ) -> list[ReadTask]:
        return [
            ReadTask(partial(_read, scopes, self._parts), BlockMetadata(None, None, None, None))
            for scopes in self.packed
        ]


def _read(scopes: Sequence[Scope], parts: SleepParts) -> Iterator[pa.Table]:
    store = parts.open_store()
    small: list[Part | Broken] = []
    for scope in scopes:
        found = list(read(store, scope, model=parts.model))
        if len(found) == 1:
            small += found
        else:
            yield from (_table([part]) for part in found)
    if small:
        yield _table(small)


def find_neighbours(
    batch: pa.Table, *, settings: ConsolidationSettings, min_similarity: float
) -> pa.Table:
    """Parts to links. Stages show their names in the Ray dashboard, so these have plain ones."""
    return _table(
        one
        if isinstance(one, Broken)
        else link(one, settings=settings, min_similarity=min_similarity)
        for one in _items(batch)
    )


def queue_targets(block: pa.Table) -> pa.Table:
    """Links, a collection in one block, to cases."""
    queued: list[Item] = []
    for group in _by_collection(block):
        queued += group if isinstance(group[0], Broken) else invert(group)
    return _table(queued)


def _deciding(parts: SleepParts) -> Decides:
    # Imported here, so that no worker that does not decide loads the lexicons it needs.
    from serve.sleep_deciding import Deciding

    return Deciding(
        store=parts.open_store(), decider=parts.open_decider(), clock=parts.open_clock()
    )


class Decide:
    """One worker of the decide stage."""

    def __init__(self, parts: SleepParts) -> None:
        self._deciding = _deciding(parts)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Cases to decisions."""
        return _table(
            one if isinstance(one, Broken) else self._deciding.decide(one) for one in _items(batch)
        )


class _LateDeciding:
    """A decider that is opened when something must be decided again, which is rare."""

    def __init__(self, parts: SleepParts) -> None:
        self._parts = parts
        self._deciding: Decides | None = None

    def decide(self, chunk: Cases) -> Decided:
        if self._deciding is None:
            self._deciding = _deciding(self._parts)
        return self._deciding.decide(chunk)


class _LedgerDatasink(Datasink[list[Written | Broken]]):
    """Writes every collection of its blocks; ``results`` holds them all once the job is done."""

    def __init__(self, run: SleepRun, parts: SleepParts) -> None:
        self._run = run
        self._parts = parts
        self.results: list[Written | Broken] = []

    def get_name(self) -> str:
        return "SleepLedger"

    def write(self, blocks: Iterable[Block], ctx: Any) -> list[Written | Broken]:
        store, clock = self._parts.open_store(), self._parts.open_clock()
        writing = Writing(self._run, self._parts, store=store, clock=clock)
        deciding = _LateDeciding(self._parts)
        results: list[Written | Broken] = []
        for block in blocks:
            for group in _by_collection(BlockAccessor.for_block(block).to_arrow()):
                if isinstance(group[0], Broken):
                    results.append(group[0])
                else:
                    results.append(writing.write(settle(group, deciding=deciding, clock=clock)))
        return results

    def on_write_complete(self, write_result: Any) -> None:
        for part in write_result.write_returns:
            self.results += part
