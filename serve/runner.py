"""Where consolidation runs: one named Ray task per run, so that it outlives the caller."""

import asyncio
import functools
import logging
from collections.abc import Sequence

import ray
from ray import serve as ray_serve

from actors.clock import SystemClock
from actors.records import open_records
from actors.rules import RuleDecider
from pipeline.ports import Decider, Purpose, SleepStore, Vectors
from pipeline.state import SleepRun
from serve.settings import AppSettings
from serve.sleep_job import JobWorkers, SleepParts, consolidate

log = logging.getLogger("slowwave.sleep")


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


def open_decider() -> Decider:
    """The baseline decider."""
    return RuleDecider()


def sleep_parts(settings: AppSettings) -> SleepParts:
    """What the job needs, as factories that travel to its workers."""
    return SleepParts(
        open_store=functools.partial(open_sleep_store, settings.records_url),
        open_decider=open_decider,
        open_embedder=functools.partial(HandleEmbedder, settings.models.embedder),
        open_clock=SystemClock,
        model=settings.models.embedder,
        min_similarity=settings.min_similarity,
    )


def run_to_end(run: SleepRun, settings: AppSettings, collection: str | None) -> None:
    """Consolidates and closes the run; a failure is written into the run, then raised."""
    store = open_sleep_store(settings.records_url)
    end = functools.partial(store.close_run, run.tenant, run.id)
    clock = SystemClock()
    try:
        totals = consolidate(
            run,
            parts=sleep_parts(settings),
            settings=settings.consolidation,
            collection=collection,
            workers=JobWorkers(**settings.sleep_job.model_dump()),
        )
    except Exception as error:
        done = getattr(error, "totals", {})
        end(status="failed", totals=done, error=_reason(error), now=clock.now())
        raise
    end(status="completed", totals=totals, error=None, now=clock.now())


def _reason(error: Exception) -> str:
    """The error's kind and first line: a person reads it, the log holds the rest."""
    first, *_ = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {first}"


class RayRunner:
    """Runs consolidation as a Ray task. Implements serve.sleeping.Runner."""

    def __init__(self, settings: AppSettings) -> None:
        self._settings = settings
        self._task = ray.remote(run_to_end)

    async def run(self, run: SleepRun, *, collection: str | None) -> None:
        """Returns when the run is closed; its failure stands in the run."""
        task = self._task.options(name=f"sleep run {run.id}", num_cpus=0.1, max_retries=0)
        try:
            await asyncio.wrap_future(task.remote(run, self._settings, collection).future())
        except ray.exceptions.RayError as error:
            log.error("sleep run %s failed: %s", run.id, error)
