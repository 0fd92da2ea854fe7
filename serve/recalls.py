"""Recalls: noted while the reply goes out, written in batches within a second, and explained.

What a process still holds when it is killed is lost: recalls and the strength of entries, nothing
else may be (design of the state).
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from actors.records import Records
from pipeline.entries import Entry, Status
from pipeline.errors import SlowwaveError
from pipeline.ids import EntryId, RecallId
from pipeline.messages import Message, Scope, TenantId
from pipeline.ports import Clock, Tokenizer
from pipeline.recall.shown import Context
from pipeline.recalls import (
    Reason,
    Recall,
    RecalledEntry,
    RecallKeeping,
    RecallKind,
    query_hash,
    times_used,
)
from serve.searching import Hit

log = logging.getLogger("slowwave.recalls")

PAUSE_S = 0.5
"""How long noted recalls wait for others to be written with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """When a question came: the instant, and what a clock that only goes forward showed."""

    tenant: TenantId
    collections: tuple[str, ...]
    query: str
    at: datetime
    started_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noted:
    """A recall whose tokens are still to be counted, and the entries that it strengthens."""

    tenant: TenantId
    recall: Recall
    texts: tuple[str, ...]
    used: tuple[tuple[Scope, EntryId], ...] = ()


class Recalls:
    """Notes, writes, lists and explains recalls, for one tenant per call."""

    def __init__(
        self, *, records: Records, tokenizer: Tokenizer, clock: Clock, pause_s: float = PAUSE_S
    ) -> None:
        self._records = records
        self._tokenizer = tokenizer
        self._clock = clock
        self._pause_s = pause_s
        self._waiting: list[_Noted] = []
        self._writing: asyncio.Task[None] | None = None
        self.lost = 0

    # Noting -------------------------------------------------------------------------------------

    def asked(self, tenant: TenantId, collections: Iterable[str], query: str) -> Asked:
        """Notes when the question came."""
        return Asked(
            tenant=tenant,
            collections=tuple(dict.fromkeys(collections)),
            query=query,
            at=self._clock.now(),
            started_s=time.perf_counter(),
        )

    def searched(self, asked: Asked, hits: Sequence[Hit]) -> RecallId:
        """The id of the recall that a search is."""
        entries = tuple(_recalled(hit.scope.collection, hit.entry, hit.score.total) for hit in hits)
        recall = _recall(asked, RecallKind.SEARCH, entries, tokens=0)
        texts = tuple(hit.entry.text for hit in hits)
        return self._note(_Noted(tenant=asked.tenant, recall=recall, texts=texts))

    def shown(
        self, asked: Asked, context: Context, hits: Sequence[Hit], others: Sequence[Entry]
    ) -> RecallId:
        """The id of the recall that a context is; the entries it shows grow stronger.

        Args:
            hits: what was found for it. others: entries that it may show without a search.
        """
        [collection] = asked.collections
        found = {one.id: _recalled(collection, one, None) for one in others}
        found |= {hit.entry.id: _recalled(collection, hit.entry, hit.score.total) for hit in hits}
        entries = tuple(found[one] for one in context.entries if one in found)
        scope = Scope(tenant=asked.tenant, collection=collection)
        return self._note(
            _Noted(
                tenant=asked.tenant,
                recall=_recall(asked, RecallKind.CONTEXT, entries, tokens=context.tokens),
                texts=(),
                used=tuple((scope, one.entry) for one in entries),
            )
        )

    def _note(self, noted: _Noted) -> RecallId:
        self._waiting.append(noted)
        loop = asyncio.get_running_loop()
        writing = self._writing
        if writing is None or writing.done() or writing.get_loop() is not loop:
            self._writing = loop.create_task(self._write_soon())
        return noted.recall.id

    # Writing ------------------------------------------------------------------------------------

    async def _write_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._pause_s)
            await self.written()

    async def written(self) -> None:
        """Returns when what was noted before is written, or was refused, which is logged."""
        some, self._waiting = self._waiting, []
        if some:
            await asyncio.to_thread(self._write, some)

    def _write(self, some: Sequence[_Noted]) -> None:
        for tenant in dict.fromkeys(noted.tenant for noted in some):
            mine = [noted for noted in some if noted.tenant == tenant]
            try:
                self._records.recalls.write(tenant, [self._counted(noted) for noted in mine])
                self._strengthen(mine)
            except SlowwaveError as error:
                self.lost += len(mine)
                log.error("%d recalls of a tenant are lost: %s", len(mine), error)

    def _counted(self, noted: _Noted) -> Recall:
        if not noted.texts:
            return noted.recall
        return replace(noted.recall, tokens=sum(self._tokenizer.count(noted.texts)))

    def _strengthen(self, some: Sequence[_Noted]) -> None:
        by_scope: dict[Scope, list[EntryId]] = {}
        for scope, entry in (each for noted in some for each in noted.used):
            by_scope.setdefault(scope, []).append(entry)
        for scope, entries in by_scope.items():
            for used in times_used(entries):
                self._records.entries.used(scope, used, now=self._clock.now())

    # Reading ------------------------------------------------------------------------------------

    async def recalls(
        self, tenant: TenantId, *, collection: str | None, limit: int, before: RecallId | None
    ) -> list[Recall]:
        """Recalls, newest first. Raises NotFound for an unknown collection or ``before``."""
        await self.written()

        def read() -> list[Recall]:
            if collection is not None:
                self._records.messages.must_exist(tenant, [collection])
            return self._records.recalls.recalls(
                tenant, collection=collection, limit=limit, before=before
            )

        return await asyncio.to_thread(read)

    async def why(self, tenant: TenantId, recall: RecallId) -> tuple[Recall, list[Reason]]:
        """The recall, and each entry then and now. Raises NotFound."""
        await self.written()
        return await asyncio.to_thread(self._why, tenant, recall)

    def _why(self, tenant: TenantId, id_: RecallId) -> tuple[Recall, list[Reason]]:
        recall = self._records.recalls.recall(tenant, id_)
        ids, names = [one.entry for one in recall.entries], recall.collections
        past = self._records.entries.versions(tenant, names, ids)
        now = self._records.entries.read_back(tenant, names, ids, statuses=list(Status))
        return recall, [
            Reason(
                recalled=one,
                text=_text_then(one, past[one.entry][1] if one.entry in past else ()),
                now=present,
                messages=() if present is None else self._messages(*now[one.entry]),
            )
            for one in recall.entries
            for present in [now[one.entry][1] if one.entry in now else None]
        ]

    def _messages(self, scope: Scope, entry: Entry) -> tuple[Message, ...]:
        found = self._records.messages.messages_by_id(scope, list(entry.sources))
        return tuple(found[source] for source in entry.sources if source in found)

    async def keeping(self, tenant: TenantId) -> RecallKeeping:
        """What the tenant keeps of its recalls."""
        return await asyncio.to_thread(self._records.recalls.keeping, tenant)

    async def keep(self, tenant: TenantId, keeping: RecallKeeping) -> RecallKeeping:
        """Sets it; with digests only, the words of earlier questions go. Raises InputError."""
        await self.written()
        await asyncio.to_thread(self._records.recalls.keep, tenant, keeping)
        return await self.keeping(tenant)


def _recall(
    asked: Asked, kind: RecallKind, entries: tuple[RecalledEntry, ...], *, tokens: int
) -> Recall:
    return Recall(
        id=RecallId(uuid.uuid4().hex),
        kind=kind,
        collections=asked.collections,
        query=asked.query,
        query_hash=query_hash(asked.tenant, asked.query),
        entries=entries,
        tokens=tokens,
        seconds=time.perf_counter() - asked.started_s,
        created_at=asked.at,
    )


def _recalled(collection: str, entry: Entry, score: float | None) -> RecalledEntry:
    return RecalledEntry(collection=collection, entry=entry.id, version=entry.version, score=score)


def _text_then(recalled: RecalledEntry, versions: Sequence[Entry]) -> str | None:
    return next((one.text for one in versions if one.version == recalled.version), None)
