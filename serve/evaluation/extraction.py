"""``eval extract``: what the extractor of the settings makes of a file, and what it takes.

The whole walk runs in this process over a record store of its own; there is no index, since nothing
is asked of it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from actors.clock import SystemClock
from actors.compressor import NoCompressor
from actors.records import Records, open_records
from pipeline.awake.normalise import RawMessage, normalise
from pipeline.errors import SlowwaveError
from pipeline.evaluate.extraction import Counts, claims
from pipeline.evaluate.report import Report
from pipeline.extraction import SPEAKING, Extraction, ExtractionOptions
from pipeline.ids import MessageId
from pipeline.messages import Batch, Json, Role, Scope, TenantId
from pipeline.ports import ChatModel, Extractor
from pipeline.usage import total
from serve.evaluation.machine import machine
from serve.evaluation.models import attention_of, compressor_of
from serve.formats import ConversationIn, read
from serve.ingest import IngestWorker
from serve.inline import InlineModels
from serve.loading import (
    load_embedder,
    load_extractor,
    load_tokenizer,
)
from serve.replicas import walk_settings
from serve.settings import AppSettings
from serve.version import VERSION
from serve.walk import Walk

TENANT = TenantId("evaluation")
Say = Callable[[str], None]


@dataclass(slots=True)
class Counting:
    """An extractor that keeps which messages it was given. Implements ``ports.Extractor``."""

    inner: Extractor
    batches: int = 0
    given: set[MessageId] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The inner one's name."""
        return self.inner.name

    async def extract(self, batch: Batch, *, options: ExtractionOptions) -> Extraction:
        """What the inner one makes of it, once that is done for good."""
        found = await self.inner.extract(batch, options=options)
        if found.postponed is None:
            self.batches += any(message.role in SPEAKING for message in batch.messages)
            self.given |= {message.id for message in batch.messages}
        return found


class NoIndex:
    """An index that nobody asks."""

    async def follow(self) -> None:
        """Nothing to do."""


def run(
    path: Path,
    *,
    settings: AppSettings,
    chat: ChatModel | None,
    say: Say,
    first: int | None = None,
) -> Report:
    """The extraction of one file by the settings' models.

    Args:
        chat: what the extractor ``chat`` asks.
        first: read only so many collections of the file; all where None.

    Raises:
        InputError: the file cannot be read.
        ConfigError: a model cannot be loaded.
    """
    conversations = _of_first(read(path), first)
    began = time.monotonic()
    with TemporaryDirectory(prefix="slowwave-eval-") as folder:
        records = open_records(f"sqlite:///{folder}/records.sqlite")
        try:
            scopes = accept(records, conversations, name=path.stem)
            say(f"{len(conversations)} conversations in {len(scopes)} collections")
            counting = asyncio.run(extract(records, settings, chat, scopes, say=say))
            counts = counts_of(records, counting, scopes)
        finally:
            records.close()
    return Report(
        name="extract",
        version=VERSION,
        config={
            "file": path.name,
            "messages": counts.messages,
            "extractor": counting.name,
            "rate": settings.compression.rate if settings.compression.enabled else 1.0,
            "threshold_tokens": settings.short_term.capacity_tokens,
        },
        machine=machine(),
        claims=claims(counts),
        extra={"seconds": round(time.monotonic() - began, 1), "batches": counts.batches},
    )


def _of_first(conversations: Sequence[ConversationIn], first: int | None) -> list[ConversationIn]:
    """Those of the first collections of a file."""
    wanted = list(dict.fromkeys(each.collection for each in conversations))[:first]
    return [each for each in conversations if each.collection in wanted]


def accept(records: Records, conversations: Sequence[ConversationIn], *, name: str) -> list[Scope]:
    """Takes all messages in and asks for a flush; the collections, in the order of the file."""
    now = SystemClock().now()
    records.tenants.ensure_tenant(TENANT, now)
    scopes: dict[Scope, None] = {}
    for each in conversations:
        scope = Scope(tenant=TENANT, collection=each.collection or name)
        scopes[scope] = None
        raw = [_raw(place, message) for place, message in enumerate(each.messages)]
        new = normalise(
            raw, conversation=each.conversation, zone=each.zone, previous_said_at=None, now=now
        )
        records.messages.accept(scope, new, now=now)
    for scope in scopes:
        records.messages.request_flush(scope)
    return list(scopes)


def _raw(index: int, message: dict[str, Json]) -> RawMessage:
    """A message of a file as the API would have taken it."""
    known = ("role", "content", "speaker", "said_at", "zone", "message_id", "metadata")
    values = {name: message[name] for name in known if message.get(name) is not None}
    return RawMessage(index=index, **cast(dict[str, str], values))  # type: ignore[arg-type]


async def extract(
    records: Records,
    settings: AppSettings,
    chat: ChatModel | None,
    scopes: Sequence[Scope],
    *,
    say: Say,
) -> Counting:
    """Walks all messages in; returns when none is pending, whatever became of it."""
    counting, worker = _worker(records, settings, chat)
    while pending := sum(records.messages.collection(scope).pending for scope in scopes):
        say(f"{pending} messages to go")
        try:
            if not await worker.round():
                await asyncio.sleep(settings.workers.poll_s)
        except SlowwaveError as error:
            say(f"{type(error).__name__}: {error.message}")
            await asyncio.sleep(settings.workers.poll_s)
    return counting


def _worker(
    records: Records, settings: AppSettings, chat: ChatModel | None
) -> tuple[Counting, IngestWorker]:
    models = settings.models
    tokenizer = load_tokenizer(models.tokenizer, models_dir=settings.models_dir)
    counting = Counting(
        load_extractor(
            models.extractor, tokenizer=tokenizer, settings=settings.extraction, chat=chat
        )
    )
    walk = Walk(
        models=_models(settings),
        extractor=counting,
        tokenizer=tokenizer,
        settings=walk_settings(settings),
    )
    workers = settings.workers
    worker = IngestWorker(
        name="evaluation",
        store=records.awake,
        walk=walk,
        clock=SystemClock(),
        follow_index=NoIndex(),
        leases=workers.leases,
        messages=workers.messages,
        step_s=workers.step_s,
        ttl_s=workers.lease_s,
        idle_s=settings.window.idle_s,
        poll_s=workers.poll_s,
        attempts=workers.attempts,
    )
    return counting, worker


def _models(settings: AppSettings) -> InlineModels:
    models, folder, threads = settings.models, settings.models_dir, settings.models.threads
    return InlineModels(
        embedder=load_embedder(models.embedder, models_dir=folder, threads=threads),
        compressor=compressor_of(settings) or NoCompressor(),
        attention=attention_of(settings),
        rule=settings.segmentation.rule,
        min_shift=settings.min_shift,
        max_similarity=settings.max_similarity,
    )


def _messages(records: Records, scope: Scope) -> list[tuple[MessageId, Role]]:
    found: list[tuple[MessageId, Role]] = []
    after = 0
    while page := records.messages.messages(scope, after=after):
        found += [(each.id, each.role) for each in page]
        after = page[-1].sequence
    return found


def _sources(records: Records, scope: Scope) -> set[MessageId]:
    found: set[MessageId] = set()
    cursor: str | None = None
    while True:
        page = records.entries.entries(scope, limit=1000, cursor=cursor)
        found |= {source for entry in page.entries for source in entry.sources}
        if (cursor := page.cursor) is None:
            return found


def counts_of(records: Records, counting: Counting, scopes: Sequence[Scope]) -> Counts:
    """What the record store holds now."""
    infos = [records.messages.collection(scope) for scope in scopes]
    spoken = [each for scope in scopes for each in _messages(records, scope)]
    cited = {source for scope in scopes for source in _sources(records, scope)}
    usage = records.usage.usage(TENANT)
    refused: dict[str, int] = {}
    for each in usage:
        for reason, count in each.refused.items():
            refused[reason] = refused.get(reason, 0) + count
    sums = total(usage)
    return Counts(
        messages=sum(info.messages for info in infos),
        speaking=sum(role in SPEAKING for _, role in spoken),
        entries=sum(info.entries for info in infos),
        batches=counting.batches,
        unbatched=len({id_ for id_, _ in spoken} - counting.given),
        cited=len(cited),
        quarantined=sum(info.quarantined for info in infos),
        calls=sums["calls"],
        repairs=sums["repairs"],
        tokens_in=sums["tokens_in"],
        tokens_out=sums["tokens_out"],
        refused=refused,
    )
