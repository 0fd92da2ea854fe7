"""Where consolidation runs: one named Ray task for the runs that begin together.

While it lives it says so; one that fell silent is followed by another (``serve.scheduler``).
"""

import asyncio
import functools
import logging
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

import ray
from ray import serve as ray_serve

from actors.clock import SystemClock
from actors.records import open_records
from pipeline.errors import Conflict, SlowwaveError
from pipeline.messages import TenantId
from pipeline.ports import (
    AskingDecider,
    ChatModel,
    Clock,
    Decider,
    Products,
    Purpose,
    SleepStore,
    TendingStore,
    Vectors,
)
from pipeline.runs import SleepRun
from pipeline.settings import ConsolidationSettings
from pipeline.sleep.neighbours import NumpyProducts
from serve.chat import ServeChat
from serve.loading import CHAT, load_decider, load_tokenizer
from serve.settings import AppSettings
from serve.sleep_after import AfterParts
from serve.sleep_job import JobWorkers, Outcome, SleepParts, consolidate_all
from serve.sleep_stages import RunPlan

log = logging.getLogger("slowwave.sleep")

BEAT_S = 5.0
"""How often a job says that it lives."""


class HandleEmbedder:
    """The deployed embedder, asked from a job's worker. Implements ports.Embedder."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._handle = ray_serve.get_deployment_handle("Embedder", app_name="slowwave")

    @property
    def model(self) -> str:
        """Its name."""
        return self._model

    @property
    def dim(self) -> int:
        """The width of its vectors."""
        width: int = self._handle.width.remote().result()
        return width

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """``(len(texts), dim)``, L2-normalised."""
        vectors: Vectors = self._handle.embed.remote(list(texts), purpose=purpose).result()
        return vectors


def open_sleep_store(url: str) -> SleepStore:
    """The record store's sleep side, opened where the job's worker runs."""
    return open_records(url).sleep


def open_tending_store(url: str) -> TendingStore:
    """The record store's side for what follows the decisions."""
    return open_records(url).tending


def open_chat(name: str) -> ChatModel:
    """The deployed chat model, asked from wherever a run is at work."""
    return ServeChat(ray_serve.get_deployment_handle("Chat", app_name="slowwave"), name=name)


def open_decider(settings: AppSettings) -> Decider | AskingDecider:
    """The decider of the settings; one that asks a chat model asks the deployed one."""
    name, chat = settings.models.decider, None
    if name == CHAT and settings.chat is not None:
        chat = open_chat(settings.chat.name)
    return load_decider(name, settings=settings.decisions, chat=chat)


def sleep_parts(settings: AppSettings) -> SleepParts:
    """What the job needs, as factories that travel to its workers."""
    return SleepParts(
        open_store=functools.partial(open_sleep_store, settings.records_url),
        open_decider=functools.partial(open_decider, settings),
        open_embedder=functools.partial(HandleEmbedder, settings.models.embedder),
        open_clock=SystemClock,
        calls=settings.decisions.calls,
        model=settings.models.embedder,
        min_similarity=settings.min_similarity,
        absorb=settings.consolidation.absorb,
        after=after_parts(settings),
        open_products=open_products if settings.sleep_job.neighbour_gpus else NumpyProducts,
    )


def open_products(vectors: Vectors) -> Products:
    """Products on the GPU that Ray gave to this worker."""
    # Imported where it is used: workers without a GPU need no torch.
    from actors.products_torch import TorchProducts

    return TorchProducts(vectors)


def after_parts(settings: AppSettings) -> AfterParts:
    """What merging, forgetting and the scratchpad need."""
    return AfterParts(
        open_store=functools.partial(open_tending_store, settings.records_url),
        open_tokenizer=functools.partial(
            load_tokenizer, settings.models.tokenizer, models_dir=settings.models_dir
        ),
        open_chat=functools.partial(open_chat, settings.chat.name) if settings.chat else None,
        scratchpad=settings.scratchpad,
        forgetting=settings.forgetting,
    )


def run_to_end(plans: Sequence[RunPlan], settings: AppSettings) -> dict[TenantId, SleepRun]:
    """Consolidates and closes the runs; a failure of all is written into each, then raised."""
    return consolidate_to_end(
        plans,
        parts=sleep_parts(settings),
        settings=settings.consolidation,
        workers=JobWorkers(**settings.sleep_job.model_dump()),
    )


def consolidate_to_end(
    plans: Sequence[RunPlan],
    *,
    parts: SleepParts,
    settings: ConsolidationSettings,
    workers: JobWorkers,
) -> dict[TenantId, SleepRun]:
    """As ``run_to_end``, with parts of any kind."""
    store, clock = parts.open_store(), parts.open_clock()
    runs = [plan.run for plan in plans]
    try:
        with Beats(runs, store=store, clock=clock):
            outcomes = consolidate_all(plans, parts=parts, settings=settings, workers=workers)
    except Exception as error:
        for run in runs:
            _close(store, run, "failed", totals={}, error=_reason(error), clock=clock)
        raise
    return {run.tenant: _ended(store, run, outcomes[run.tenant], clock) for run in runs}


def _ended(store: SleepStore, run: SleepRun, outcome: Outcome, clock: Clock) -> SleepRun:
    if outcome.error is not None:
        reason = _reason(outcome.error)
        return _close(store, run, "failed", totals=outcome.totals, error=reason, clock=clock)
    status = "completed" if outcome.stop is None else "stopped"
    return store.close_run(
        run.tenant,
        run.id,
        status=status,
        totals=outcome.totals,
        error=None,
        stop=outcome.stop,
        attempt=run.attempt,
        now=clock.now(),
    )


def _close(
    store: SleepStore,
    run: SleepRun,
    status: str,
    *,
    totals: Mapping[str, int],
    error: str,
    clock: Clock,
) -> SleepRun:
    return store.close_run(
        run.tenant,
        run.id,
        status=status,
        totals=totals,
        error=error,
        attempt=run.attempt,
        now=clock.now(),
    )


class Beats:
    """Says from a thread of its own that the job of these runs lives, while it is entered."""

    def __init__(
        self,
        runs: Sequence[SleepRun],
        *,
        store: SleepStore,
        clock: Clock,
        every_s: float = BEAT_S,
    ) -> None:
        self._runs = runs
        self._store = store
        self._clock = clock
        self._every_s = every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="sleep beats", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while True:
            for run in self._runs:
                self._one(run)
            if self._ended.wait(self._every_s):
                return

    def _one(self, run: SleepRun) -> None:
        try:
            self._store.beat(run.tenant, run.id, attempt=run.attempt, now=self._clock.now())
        except Conflict:
            log.warning("sleep run %s goes on in another job", run.id)
        except SlowwaveError as error:  # the next beat may reach the record store again
            log.warning("sleep run %s could not say that it lives: %s", run.id, error.message)


def _reason(error: Exception) -> str:
    """The error's kind and first line: a person reads it, the log holds the rest."""
    first, *_ = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {first}"


class RayRunner:
    """Runs consolidation as a Ray task. Implements serve.sleeping.Runner."""

    def __init__(self, settings: AppSettings) -> None:
        self._settings = settings
        self._task = ray.remote(run_to_end)

    async def run(self, plans: Sequence[RunPlan]) -> None:
        """Returns when the job has ended; a failure stands in its runs.

        One that died leaves them running and silent.
        """
        named = ", ".join(plan.run.id for plan in plans[:3])
        task = self._task.options(name=f"sleep run {named}", num_cpus=0.1, max_retries=0)
        try:
            await asyncio.wrap_future(task.remote(plans, self._settings).future())
        except ray.exceptions.RayError as error:
            log.error("sleep run %s failed: %s", named, error)
