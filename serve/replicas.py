"""The two deployments with state: the ingest workers and the ingress.

Both reach the record store directly and everything else by handle.
"""

import asyncio
import logging
import os
import socket

from fastapi import FastAPI

from actors.clock import SystemClock
from actors.records import open_records
from pipeline.awake.shortterm import Trigger
from pipeline.awake.supported import Offered
from pipeline.messages import TenantId
from pipeline.ports import ChatModel
from pipeline.settings import CollectionSettings, slots_of
from pipeline.usage import Price
from serve.captions import Captions
from serve.chat import chat_model
from serve.gate import Access
from serve.handles import Handle, ServeModels, ServeReranker
from serve.index import AsyncIndex
from serve.index_actor import open_index
from serve.ingest import IngestWorker
from serve.ingress.api import build_api
from serve.ingress.limits import Room
from serve.lifecycle import EmbeddingModel, Lifecycle
from serve.loading import EXTRACTIVE, is_fake, load_extractor, load_tokenizer
from serve.runner import RayRunner
from serve.scheduler import Scheduler, Windows
from serve.service import Memory
from serve.settings import AppSettings, DeploymentSettings
from serve.sleeping import Sleep
from serve.walk import Walk, WalkSettings

log = logging.getLogger("slowwave")


def walk_settings(settings: AppSettings) -> WalkSettings:
    """The numbers of one ingest step."""
    return WalkSettings(
        compress=settings.compression.enabled and settings.models.compressor is not None,
        rate=settings.compression.rate,
        window_tokens=settings.window.capacity_tokens,
        shortterm_tokens=settings.short_term.capacity_tokens,
        model=settings.models.embedder,
        calls=settings.extraction.calls,
        failures=settings.extraction.failures,
        retry_s=settings.extraction.retry_s,
        max_entry_tokens=settings.extraction.max_entry_tokens,
        triggers=frozenset(settings.short_term.triggers),
        turns=settings.short_term.turns,
        granularity=settings.short_term.granularity,
        roles=frozenset(settings.extraction.roles),
        slots=slots_of(settings.scratchpad.slots),
    )


def offered(settings: AppSettings) -> Offered:
    """What the service has for collections to choose from."""
    has_compressor = settings.models.compressor is not None
    extractor = settings.models.extractor
    return Offered(
        settings=CollectionSettings(
            triggers=settings.short_term.triggers,
            turns=settings.short_term.turns,
            idle_s=settings.window.idle_s,
            granularity=settings.short_term.granularity,
            roles=settings.extraction.roles,
            compression=settings.compression.enabled and has_compressor,
            rate=settings.compression.rate,
            window_tokens=settings.window.capacity_tokens,
            short_term_tokens=settings.short_term.capacity_tokens,
            min_shift=settings.min_shift,
            max_entry_tokens=settings.extraction.max_entry_tokens,
            capacity_entries=settings.forgetting.capacity_entries,
            slots=settings.scratchpad.slots,
        ),
        has_compressor=has_compressor,
        takes_prompt=not (extractor == EXTRACTIVE or is_fake(extractor)),
    )


_CENTURY_S = 100 * 366 * 86_400.0


def idle_s(settings: AppSettings) -> float:
    """Seconds without a message after which a collection is extracted that says nothing else."""
    is_trigger = Trigger.IDLE in settings.short_term.triggers
    return settings.window.idle_s if is_trigger else _CENTURY_S


def ingress_room(settings: AppSettings) -> Room:
    """How many requests one replica of the ingress works at and keeps waiting."""
    asked = settings.deployments.get("Ingress", DeploymentSettings())
    return Room(working=asked.max_ongoing_requests, waiting=asked.max_queued_requests)


class IngestWorkers:
    """Leases collections and walks their messages in, as long as the replica lives.

    Several lanes work side by side, so that one that waits for a model holds up no other.
    """

    def __init__(
        self,
        *,
        settings: AppSettings,
        embedder: Handle,
        compressor: Handle | None,
        segmenter: Handle,
        chat: Handle | None = None,
    ) -> None:
        self._settings = settings
        self._records = open_records(settings.records_url)
        self._models = ServeModels(embedder=embedder, compressor=compressor, segmenter=segmenter)
        self._chat = chat_model(settings.chat, chat)
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        settings = self._settings
        tokenizer = load_tokenizer(settings.models.tokenizer, models_dir=settings.models_dir)
        walk = Walk(
            models=self._models,
            extractor=load_extractor(
                settings.models.extractor,
                tokenizer=tokenizer,
                settings=settings.extraction,
                chat=self._chat,
            ),
            tokenizer=tokenizer,
            settings=walk_settings(settings),
        )
        index = open_index(settings, dim=await self._models.dim())
        async with asyncio.TaskGroup() as lanes:
            for lane in range(settings.workers.lanes):
                lanes.create_task(self._worker(lane, walk, index).run())

    def _worker(self, lane: int, walk: Walk, index: AsyncIndex) -> IngestWorker:
        workers = self._settings.workers
        return IngestWorker(
            name=f"{socket.gethostname()}-{os.getpid()}-{lane}",
            store=self._records.awake,
            walk=walk,
            clock=SystemClock(),
            follow_index=index,
            leases=workers.leases,
            messages=workers.messages,
            step_s=workers.step_s,
            ttl_s=workers.lease_s,
            idle_s=idle_s(self._settings),
            poll_s=workers.poll_s,
            attempts=workers.attempts,
        )

    def check_health(self) -> None:
        """Raises what ended the loop, so that Serve replaces the replica."""
        if self._task.done():
            self._task.result()


class Ingress:
    """The HTTP application in its replica."""

    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self,
        *,
        settings: AppSettings,
        embedder: Handle,
        workers: Handle,
        chat: Handle | None = None,
        reranker: Handle | None = None,
    ) -> None:
        self._settings = settings
        self._workers = workers
        self._reranker = None if reranker is None else ServeReranker(reranker)
        self._chat = chat_model(settings.chat, chat)
        self._records = open_records(settings.records_url)
        self._models = ServeModels(embedder=embedder, is_urgent=True)
        width = await self._models.dim()
        self._index = open_index(settings, dim=width)
        self._lifecycle = Lifecycle(
            records=self._records,
            index=self._index,
            model=EmbeddingModel(name=settings.models.embedder, width=width),
            clock=SystemClock(),
            limits=settings.limits,
        )
        self._runner = RayRunner(settings)
        loop = asyncio.get_running_loop()
        self._upkeep = loop.create_task(self._lifecycle.run())
        self._nights = loop.create_task(self._scheduler().run())

    async def settings(self) -> AppSettings:
        """What this replica runs with, for a job on the same cluster."""
        return self._settings

    def __serve_build_asgi_app__(self) -> FastAPI:
        """The routes over this replica's memory."""
        return build_api(
            self._memory(),
            self._sleep(),
            self._lifecycle,
            limits=self._settings.limits,
            room=ingress_room(self._settings),
        )

    def _memory(self) -> Memory:
        settings = self._settings
        return Memory(
            records=self._records,
            index=self._index,
            models=self._models,
            model=settings.models.embedder,
            tokenizer=load_tokenizer(settings.models.tokenizer, models_dir=settings.models_dir),
            clock=SystemClock(),
            access=Access(
                keys_required=settings.access.keys_required,
                default_tenant=TenantId(settings.access.default_tenant),
            ),
            recall=settings.recall,
            quotas=settings.quotas,
            offered=offered(settings),
            prices={
                model: Price(tokens_in=price.tokens_in, tokens_out=price.tokens_out)
                for model, price in settings.prices.items()
            },
            captions=Captions(self._seeing()),
            reranker=self._reranker,
            chat=self._chat,
            half_life_days=settings.forgetting.policy(capacity=None).half_life_days,
        )

    def _seeing(self) -> ChatModel | None:
        """The chat model, if it can look at images."""
        chat = self._settings.chat
        return self._chat if chat is not None and chat.has_vision else None

    def _sleep(self) -> Sleep:
        return Sleep(
            store=self._records.sleep,
            schedules=self._records.schedules,
            runner=self._runner,
            index=self._index,
            clock=SystemClock(),
            default=self._settings.default_schedule,
        )

    def _scheduler(self) -> Scheduler:
        store, clock = self._records.sleep, SystemClock()
        windows = Windows(
            store=store,
            schedules=self._records.schedules,
            clock=clock,
            default=self._settings.default_schedule,
        )
        return Scheduler(
            windows=windows, store=store, runner=self._runner, index=self._index, clock=clock
        )
