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
from pipeline.messages import TenantId
from serve.gate import Access
from serve.handles import Handle, ServeModels
from serve.index import AsyncIndex
from serve.index_actor import open_index
from serve.ingest import IngestWorker
from serve.ingress.api import build_api
from serve.ingress.limits import Room
from serve.lifecycle import EmbeddingModel, Lifecycle
from serve.loading import load_extractor, load_tokenizer
from serve.runner import RayRunner
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
    )


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
    ) -> None:
        self._settings = settings
        self._records = open_records(settings.records_url)
        self._models = ServeModels(embedder=embedder, compressor=compressor, segmenter=segmenter)
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        settings = self._settings
        tokenizer = load_tokenizer(settings.models.tokenizer, models_dir=settings.models_dir)
        walk = Walk(
            models=self._models,
            extractor=load_extractor(
                settings.models.extractor,
                tokenizer=tokenizer,
                max_entry_tokens=settings.extraction.max_entry_tokens,
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
            idle_s=self._settings.window.idle_s,
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
    ) -> None:
        self._settings = settings
        self._workers = workers
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
        self._upkeep = asyncio.get_running_loop().create_task(self._lifecycle.run())

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
        )

    def _sleep(self) -> Sleep:
        return Sleep(
            store=self._records.sleep,
            runner=RayRunner(self._settings),
            index=self._index,
            clock=SystemClock(),
        )
