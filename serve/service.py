"""The memory behind every face: what a route, a job or a test asks of Slowwave."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

from actors.records import Records
from pipeline.awake.normalise import RawMessage, normalise
from pipeline.awake.supported import Offered
from pipeline.chat import Spent
from pipeline.entries import Entry, EntryChange, EntryVersion, Kind, Status
from pipeline.errors import InputError
from pipeline.ids import EntryId, MessageId
from pipeline.messages import Message, NewMessage, Scope, Segment, TenantId
from pipeline.ports import ChatModel, Clock, Tokenizer
from pipeline.recall.forms import Form
from pipeline.recall.question import Question
from pipeline.recall.text import index_text
from pipeline.runs import LedgerRow
from pipeline.settings import QuotaSettings, RecallSettings
from pipeline.sleep.forgetting import HALF_LIFE_DAYS
from pipeline.state import CollectionInfo, Page
from pipeline.tenancy import Quotas
from pipeline.usage import Price
from serve.answering import Answering
from serve.backpressure import Backpressure
from serve.captions import Captions
from serve.collection_settings import EVERYTHING, CollectionConfig
from serve.contexts import Contexts, Recalled, Room
from serve.gate import Access, Gate
from serve.index import AsyncIndex
from serve.models import AsyncModels, AsyncReranker
from serve.operations import Operations
from serve.queries import QueryVectors
from serve.recalls import Recalls
from serve.scratchpads import Scratchpads
from serve.searching import Hit, Searching

Condition = Callable[[], bool]


class Memory:
    """Accepts, recalls and corrects, for one tenant per call."""

    def __init__(
        self,
        *,
        records: Records,
        index: AsyncIndex,
        models: AsyncModels,
        model: str,
        tokenizer: Tokenizer,
        clock: Clock,
        access: Access,
        recall: RecallSettings,
        quotas: QuotaSettings = QuotaSettings(),  # noqa: B008  (frozen)
        offered: Offered = EVERYTHING,
        prices: Mapping[str, Price] | None = None,
        captions: Captions | None = None,
        reranker: AsyncReranker | None = None,
        half_life_days: Mapping[Kind, float | None] = HALF_LIFE_DAYS,
        chat: ChatModel | None = None,
    ) -> None:
        self._records = records
        self._index = index
        self._models = models
        self.searching = Searching(
            records=records,
            index=index,
            queries=QueryVectors(models),
            recall=recall,
            clock=clock,
            reranker=reranker,
            half_life_days=half_life_days,
        )
        self.recalls = Recalls(records=records, tokenizer=tokenizer, clock=clock)
        self._captions = captions or Captions()
        self._model = model
        self._clock = clock
        defaults = Quotas(**quotas.model_dump())
        self._messages_per_minute = defaults.messages_per_minute
        self.gate = Gate(tenants=records.tenants, keys=records.keys, access=access, clock=clock)
        self._backpressure = Backpressure(
            backlog=records.backlog, tenants=records.tenants, defaults=defaults, clock=clock
        )
        self.settings = CollectionConfig(records=records, offered=offered, clock=clock)
        self.contexts = Contexts(
            records=records,
            searching=self.searching,
            tokenizer=tokenizer,
            recall=recall,
            settings=self.settings,
        )
        self.answering = Answering(
            contexts=self.contexts,
            store=self._keep,
            spend=self._spend,
            chat=chat,
            recall=recall,
        )
        self.scratchpads = Scratchpads(
            records=records,
            settings=self.settings,
            index=index,
            tokenizer=tokenizer,
            model=model,
            clock=clock,
        )
        self.operations = Operations(
            records=records,
            clock=clock,
            defaults=defaults,
            changed=self._forget,
            prices=prices,
        )

    def _forget(self) -> None:
        self.gate.forget()
        self._backpressure.forget()

    # In -------------------------------------------------------------------------------------

    async def accept(
        self,
        scope: Scope,
        raw: Sequence[RawMessage],
        *,
        conversation: str,
        zone: str | None,
        key: str | None,
        body_digest: str,
    ) -> list[Message]:
        """The accepted messages; durable when this returns. Raises LimitError and Conflict.

        An image without a caption is captioned first: InputError where no model can, ModelError
        where it does not.
        """
        await self._backpressure.check(scope.tenant)
        said = await self._captions.written(scope.tenant, raw)

        def write() -> list[Message]:
            now = self._clock.now()
            new = self._normalised(scope, said, conversation=conversation, zone=zone, now=now)
            return self._records.messages.accept(
                scope,
                new,
                now=now,
                idempotency_key=key,
                body_digest=body_digest,
                messages_per_minute=self._messages_per_minute,
            )

        accepted = await asyncio.to_thread(write)
        self._backpressure.accepted(scope.tenant, len(accepted))
        return accepted

    async def _spend(self, scope: Scope, spent: Spent) -> None:
        """Records what a call took."""
        await asyncio.to_thread(self._records.usage.spend, scope, spent, now=self._clock.now())

    async def _keep(
        self, scope: Scope, said: Sequence[RawMessage], conversation: str
    ) -> list[Message]:
        return await self.accept(
            scope, said, conversation=conversation, zone=None, key=None, body_digest=""
        )

    def _normalised(
        self,
        scope: Scope,
        raw: Sequence[RawMessage],
        *,
        conversation: str,
        zone: str | None,
        now: datetime,
    ) -> list[NewMessage]:
        previous = None
        if raw[0].said_at is None:
            previous = self._records.messages.last_said_at(scope, conversation)
        return normalise(
            raw, conversation=conversation, zone=zone, previous_said_at=previous, now=now
        )

    async def flush(self, scope: Scope) -> int:
        """Asks that all accepted so far is extracted; returns the last sequence.

        Raises:
            Conflict: the collection's settings leave no flush.
        """
        await self.settings.must_flush(scope)
        return await asyncio.to_thread(self._records.messages.request_flush, scope)

    async def end(self, scope: Scope, conversation: str) -> int:
        """Says that a conversation ended; returns its last sequence. Raises NotFound.

        Its last turn waits for no more replies: what is left of its window is cut into segments.
        """
        return await asyncio.to_thread(self._records.messages.request_end, scope, conversation)

    async def wait_flushed(self, scope: Scope, through: int, *, timeout_s: float) -> bool:
        """Whether the flush was met and is searchable within the time."""

        def met() -> bool:
            return self._records.messages.flushed(scope) >= through

        return await self._poll(met, scope, timeout_s=timeout_s)

    async def wait_extracted(
        self, scope: Scope, ids: Sequence[MessageId], *, timeout_s: float
    ) -> bool:
        """Whether these messages were extracted and are searchable within the time."""

        def met() -> bool:
            return self._records.messages.are_done(scope, ids)

        return await self._poll(met, scope, timeout_s=timeout_s)

    async def _poll(
        self, met: Condition, scope: Scope, *, timeout_s: float, every_s: float = 0.1
    ) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                while not await asyncio.to_thread(met):
                    await asyncio.sleep(every_s)
                await self._index.follow()
        except TimeoutError:
            return False
        return True

    # What is there --------------------------------------------------------------------------

    async def collections(self, tenant: TenantId) -> list[CollectionInfo]:
        """All collections of the tenant, by name."""
        return await asyncio.to_thread(self._records.messages.collections, tenant)

    async def segments(self, scope: Scope) -> list[Segment]:
        """The collection's segments in order. Raises NotFound for an unknown collection."""
        await self.collection(scope)
        return await asyncio.to_thread(self._records.messages.segments, scope)

    async def ready(self) -> None:
        """Returns when stores and models answer. Raises what keeps them from it."""
        await asyncio.to_thread(self._records.tenants.tenants)
        await self._models.embed(["ready"], purpose="query")
        await self._index.count()

    async def collection(self, scope: Scope) -> CollectionInfo:
        """How far one collection is. Raises NotFound."""
        return await asyncio.to_thread(self._records.messages.collection, scope)

    async def messages(self, scope: Scope, *, after: int, limit: int) -> list[Message]:
        """Messages above a sequence. Raises NotFound for an unknown collection."""
        await self.collection(scope)
        return await asyncio.to_thread(
            self._records.messages.messages, scope, after=after, limit=limit
        )

    async def sources(self, scope: Scope, entries: Sequence[Entry]) -> dict[MessageId, Message]:
        """The messages that the entries came from."""
        return await self.messages_named(scope, {s for entry in entries for s in entry.sources})

    async def messages_named(
        self, scope: Scope, ids: Collection[MessageId]
    ) -> dict[MessageId, Message]:
        """Those of the messages that are there, by id."""
        return await asyncio.to_thread(self._records.messages.messages_by_id, scope, list(ids))

    async def entries(
        self, scope: Scope, *, statuses: Sequence[Status], limit: int, cursor: str | None
    ) -> Page:
        """A page of entries, oldest first."""
        return await asyncio.to_thread(
            self._records.entries.entries, scope, statuses=statuses, limit=limit, cursor=cursor
        )

    async def entry(self, tenant: TenantId, entry: EntryId) -> tuple[Scope, Entry]:
        """One entry of the tenant. Raises NotFound."""
        return await asyncio.to_thread(self._records.entries.entry, tenant, entry)

    async def history(self, tenant: TenantId, entry: EntryId) -> list[EntryVersion]:
        """Every version of an entry, oldest first."""
        return await asyncio.to_thread(self._records.entries.history, tenant, entry)

    async def revise(
        self, tenant: TenantId, entry: EntryId, change: EntryChange, *, expected_version: int
    ) -> tuple[Scope, Entry]:
        """A user's correction as a new version, searchable when this returns."""
        if change == EntryChange():
            raise InputError("expected one of text, status, metadata; got none", field="text")
        scope, old = await self.entry(tenant, entry)
        vector = None
        if change.text is not None:
            text = index_text(change.text, speaker=old.speaker, attributes=None)
            vector = (await self._models.embed([text], purpose="passage"))[0]
        revised = await asyncio.to_thread(
            self._records.entries.revise,
            tenant,
            entry,
            change,
            expected_version=expected_version,
            vector=vector,
            model=self._model,
            why="corrected by a user",
            now=self._clock.now(),
        )
        await self._index.follow()
        return scope, revised

    # Recall ---------------------------------------------------------------------------------

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        limit: int,
        statuses: Sequence[Status] = (),
        kinds: Sequence[Kind] = (),
    ) -> list[Hit]:
        """The best entries for a query, best first. Raises NotFound for an unknown collection."""
        question = Question(text=query, limit=limit, statuses=tuple(statuses), kinds=tuple(kinds))
        return await self.searching.search(scope.tenant, [scope.collection], question)

    async def context(
        self, scope: Scope, question: Question, room: Room, form: Form | None = None
    ) -> Recalled:
        """What a model should read to answer, within the room. Raises as a search does."""
        return await self.contexts.of(scope, question, room, form)

    # Sleep ----------------------------------------------------------------------------------

    async def candidate_texts(
        self, tenant: TenantId, rows: Sequence[LedgerRow]
    ) -> Mapping[tuple[str, int], str]:
        """The texts of the candidate versions that ledger rows name; what was erased has none."""
        named = list({each.entry for row in rows for each in row.candidates})
        return await asyncio.to_thread(self._records.entries.texts, tenant, named)
