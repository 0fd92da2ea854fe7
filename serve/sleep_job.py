"""The sleep run as a Ray Data job: read, neighbours, queue, decide, write and tend, each its own
operator.

Only the last two and the reply cache write, and all may be repeated: a worker that dies changes
nothing twice. Knows Ray; what each stage does is in ``sleep_stages``. Run as
``python -m serve.sleep_job --window NAME``, it consolidates whoever has that window now.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy, Dataset, TaskPoolStrategy

from pipeline.errors import SlowwaveError
from pipeline.messages import TenantId
from pipeline.ports import Products
from pipeline.runs import DueCollection, SleepRun
from pipeline.settings import ConsolidationSettings
from pipeline.vectors import Vectors
from serve.sleep_lasting import lasting
from serve.sleep_outcome import Outcome, Result, outcome_of
from serve.sleep_rows import KEY, Item, by_collection, guarded, items, packs, table
from serve.sleep_sink import LedgerDatasink, deciding_of
from serve.sleep_source import DueCollections
from serve.sleep_stages import (
    BUDGETED_TARGETS,
    TARGETS,
    Broken,
    Cases,
    Decided,
    Part,
    Plans,
    RunPlan,
    SleepParts,
    Stopped,
    invert,
    limits_of,
    link,
    numbers,
)
from serve.sleep_tending import data_context, tend_all

if TYPE_CHECKING:
    pass

__all__ = ["JobWorkers", "Outcome", "SleepParts", "consolidate", "consolidate_all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWorkers:
    """Logical CPUs of one worker of each stage, and how many workers a stage has at most.

    ``targets`` is how many targets a decider is given at once: fewer share the work more evenly.
    Ray Data fuses neighbouring stages that ask for the same, so the numbers differ on purpose.
    Its shuffles before queue and write ask for one whole CPU.
    """

    read_cpus: float = 0.2
    neighbour_cpus: float = 0.5
    neighbour_gpus: float = 0.0
    queue_cpus: float = 0.2
    decide_cpus: float = 0.1
    write_cpus: float = 0.3
    tend_cpus: float = 0.1
    readers: int = 2
    neighbours: int = 2
    queuers: int = 2
    deciders: int = 1
    writers: int = 2
    tenders: int = 2
    targets: int = TARGETS


def consolidate(
    run: SleepRun,
    *,
    parts: SleepParts,
    settings: ConsolidationSettings,
    workers: JobWorkers | None = None,
    progress: bool = False,
) -> dict[str, int]:
    """The totals of one run, as ``consolidate_all`` has them.

    Raises:
        StoreError: some collections could not be read or written, named with their reasons. The
            others are done.
    """
    plans = [RunPlan(run=run)]
    outcome = consolidate_all(
        plans, parts=parts, settings=settings, workers=workers, progress=progress
    )[run.tenant]
    if outcome.error is not None:
        raise outcome.error
    return outcome.totals


def consolidate_all(
    plans: Sequence[RunPlan],
    *,
    parts: SleepParts,
    settings: ConsolidationSettings,
    workers: JobWorkers | None = None,
    progress: bool = False,
) -> dict[TenantId, Outcome]:
    """What each run came to; one job takes the runs of any number of tenants.

    Decides what is due for every run's tenant, or for one of its collections, and writes it. Where
    nothing is due it asks nothing of Ray. ``model_calls`` leaves out replies from the cache. A
    failed decision is counted and due again; a collection that cannot be read or written does not
    stop the others. A collection is written whole or not at all: what a run that ends early has
    decided of one that it leaves lies in the reply cache.
    """
    of_tenant = {plan.run.tenant: plan for plan in plans}
    job = _Job(of_tenant, parts, settings, workers or JobWorkers())
    results = lasting(lambda: _results(job, plans, parts, progress=progress))
    return {
        tenant: _outcome(plan, [one for one in results if one.scope.tenant == tenant], parts)
        for tenant, plan in of_tenant.items()
    }


def _results(
    job: "_Job", plans: Sequence[RunPlan], parts: SleepParts, *, progress: bool
) -> list[Result]:
    due = [one for plan in plans for one in _due(plan, parts)]
    results = job.decided(due, progress=progress) if due else []
    return results + job.tended(results, progress=progress)


def _outcome(plan: RunPlan, results: Sequence[Result], parts: SleepParts) -> Outcome:
    """What the run came to: what it has written, whichever of its jobs and tries did."""
    outcome, run = outcome_of(results, tends=parts.after is not None), plan.run
    totals = outcome.totals | parts.open_store().counts(run.tenant, run.id)
    if parts.after is not None and not run.dry_run:
        totals |= parts.after.open_store().changed(run.tenant, run.id)
    return replace(outcome, totals=totals)


def _due(plan: RunPlan, parts: SleepParts) -> list[DueCollection]:
    options = plan.run.options
    store = parts.open_store()
    return store.due(
        plan.run.tenant,
        collection=options.collection,
        is_full=options.full,
        but_of=plan.run.id,
    )


# The plan ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Job:
    """One Ray Data job over the due collections of its runs."""

    plans: Plans
    parts: SleepParts
    settings: ConsolidationSettings
    workers: JobWorkers

    def decided(self, due: Sequence[DueCollection], *, progress: bool) -> list[Result]:
        """What became of each collection that something was to be decided in."""
        sink = LedgerDatasink(self.plans, self.parts)
        cpus, writers = self.workers.write_cpus, self.workers.writers
        with data_context(progress=progress):
            source = DueCollections(due, self.plans, self.parts)
            decided = _grouped(self._decided(source), source, writers)
            decided.set_name(_named(self.plans, "sleep"))
            decided.write_datasink(sink, ray_remote_args={"num_cpus": cpus}, concurrency=writers)
        return [*sink.results, *_unheard(due, sink.results)]

    def tended(self, results: Sequence[Result], *, progress: bool) -> list[Result]:
        """What became of each collection that is tended after such decisions."""
        return tend_all(
            self.plans,
            self.parts,
            left=frozenset(one.scope for one in results if isinstance(one, Stopped)),
            workers=self.workers.tenders,
            cpus=self.workers.tend_cpus,
            name=_named(self.plans, "sleep_tending"),
            progress=progress,
        )

    def _decided(self, source: DueCollections) -> Dataset:
        workers, parts = self.workers, self.parts
        found = ray.data.read_datasource(
            source,
            num_cpus=workers.read_cpus,
            concurrency=workers.readers,
            override_num_blocks=len(source.packed),
        ).map_batches(
            partial(
                find_neighbours,
                plans=self.plans,
                settings=self.settings,
                min_similarity=parts.min_similarity,
                open_products=parts.open_products,
            ),
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=workers.neighbour_cpus,
            num_gpus=workers.neighbour_gpus or None,
            compute=TaskPoolStrategy(size=workers.neighbours),
        )
        return (
            _grouped(found, source, workers.queuers)
            .map_batches(
                partial(queue_targets, plans=self.plans, targets=workers.targets),
                batch_size=None,
                batch_format="pyarrow",
                num_cpus=workers.queue_cpus,
                compute=TaskPoolStrategy(size=workers.queuers),
            )
            # A worker takes a block at a time: one row each lets all of them work.
            .repartition(target_num_rows_per_block=1)
            .map_batches(
                Decide,
                fn_constructor_args=(self.plans, parts),
                batch_size=1,
                batch_format="pyarrow",
                num_cpus=workers.decide_cpus,
                compute=ActorPoolStrategy(size=workers.deciders),
            )
        )


def _unheard(due: Sequence[DueCollection], results: Sequence[Result]) -> list[Result]:
    """Collections of which no stage has said what became of them: they are due again, and told."""
    heard = {one.scope for one in results}
    why = "it was lost on its way through the job"
    return [Broken(scope=one.scope, reason=why) for one in due if one.scope not in heard]


def _named(plans: Plans, what: str) -> str:
    """What the Ray dashboard calls the job, or a part of it."""
    tenants = sorted(plans)
    others = f"_and_{len(tenants) - 1}_more" if len(tenants) > 1 else ""
    return f"{what}_{tenants[0]}{others}"


def _grouped(rows: Dataset, source: DueCollections, workers: int) -> Dataset:
    """The rows of each collection in one block; a small run is one block."""
    return rows.repartition(min(len(source.packed), 4 * workers), keys=[KEY])


# Stages: the Ray dashboard shows their names, so these have plain ones ----------------------------


def find_neighbours(
    batch: pa.Table,
    *,
    plans: Plans,
    settings: ConsolidationSettings,
    min_similarity: float,
    open_products: Callable[[Vectors], Products],
) -> pa.Table:
    """Parts to links."""

    def linked(item: Part) -> Item:
        run = plans[item.scope.tenant].run
        how, least = numbers(run, settings, min_similarity=min_similarity)
        return guarded(
            item.scope,
            lambda: link(item, settings=how, min_similarity=least, open_products=open_products),
        )

    return table(linked(one) if isinstance(one, Part) else one for one in items(batch))


def queue_targets(block: pa.Table, *, plans: Plans, targets: int) -> pa.Table:
    """Links, a collection in one block, to cases; a row holds what one decider is given at once."""
    queued: list[Item] = []
    for group in by_collection(block):
        scope = group[0].scope
        if isinstance(group[0], Broken | Stopped):
            queued += group
            continue
        is_limited = plans[scope.tenant].run.max_tokens is not None
        size = min(targets, BUDGETED_TARGETS) if is_limited else targets
        found = guarded(scope, partial(invert, group, targets=size))
        queued += [found] if isinstance(found, Broken) else found
    return packs(queued, targets=targets)


class Decide:
    """One worker of the decide stage."""

    def __init__(self, plans: Plans, parts: SleepParts) -> None:
        self._limits = limits_of(plans, parts)
        self._deciding = deciding_of(parts)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Cases to decisions; those of a row together, so that small ones fill the calls too."""
        given = [self._allowed(one) if isinstance(one, Cases) else one for one in items(batch)]
        decided = iter(self._decided([one for one in given if isinstance(one, Cases)]))
        return table(next(decided) if isinstance(one, Cases) else one for one in given)

    def _allowed(self, chunk: Cases) -> Cases | Stopped:
        stop = self._limits.stop(chunk.scope.tenant) if chunk.cases else None
        return chunk if stop is None else Stopped(scope=chunk.scope, stop=stop)

    def _decided(self, chunks: Sequence[Cases]) -> list[Decided | Broken]:
        found: list[Decided | Broken]
        try:
            found = [*self._deciding.decide_all(chunks)]
        except SlowwaveError:
            # Alone each chunk says whether it is the one that could not be decided.
            found = [guarded(one.scope, partial(self._deciding.decide, one)) for one in chunks]
        for one in found:
            if isinstance(one, Decided):
                self._limits.spend(one.scope.tenant, one.tokens)
        return found


if __name__ == "__main__":
    from serve.sleep_command import main

    sys.exit(main())
