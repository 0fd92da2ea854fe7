"""Routes of one collection: messages in, entries and context out."""

import json
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query

from pipeline.awake.normalise import RawImage, RawMessage
from pipeline.entries import Status
from pipeline.errors import InputError, TooLarge
from pipeline.ids import digest
from pipeline.messages import Scope
from pipeline.names import path_name
from pipeline.settings import LimitSettings
from serve.ingress.access import Caller
from serve.ingress.bodies import (
    HIGHEST_SEQUENCE,
    ContextIn,
    FlushIn,
    MessageIn,
    MessagesIn,
    Text,
)
from serve.ingress.views import (
    AcceptOut,
    CollectionOut,
    CollectionsOut,
    ContextOut,
    EndOut,
    EntriesOut,
    EntryOut,
    FlushOut,
    MessageOut,
    MessagesOut,
    SegmentOut,
    SegmentsOut,
)
from serve.service import Memory

WAIT_S = 300.0


def raw(message: MessageIn, index: int) -> RawMessage:
    """A message of a request as the domain normalises it."""
    return RawMessage(
        index=index,
        role=message.role,
        speaker=message.speaker,
        content=message.content,
        caption=message.caption,
        said_at=message.said_at,
        zone=message.zone,
        message_id=message.message_id,
        metadata=message.metadata,
        images=tuple(RawImage(url=each.url, caption=each.caption) for each in message.images),
    )


def check_size(body: MessagesIn, limits: LimitSettings) -> None:
    """Raises TooLarge, naming the field, when a request holds too much."""
    if len(body.messages) > limits.batch_messages:
        raise TooLarge(
            f"expected at most {limits.batch_messages} messages, got {len(body.messages)}",
            field="messages",
        )
    for index, message in enumerate(body.messages):
        chars = len(message.content) + len(message.caption or "")
        if chars > limits.message_chars:
            raise TooLarge(
                f"expected at most {limits.message_chars} characters, got {chars}",
                field=f"messages[{index}].content",
            )


def _digest(body: MessagesIn) -> str:
    return digest(json.dumps(body.model_dump(exclude={"wait"}), sort_keys=True))


def message_routes(memory: Memory, limits: LimitSettings, caller: Caller) -> APIRouter:
    """Messages in."""
    routes = APIRouter(prefix="/v1/collections", tags=["messages"])

    @routes.post("/{collection}/messages", status_code=202)
    async def post_messages(
        body: MessagesIn,
        scope: Annotated[Scope, Depends(caller.scope)],
        idempotency_key: Annotated[Text | None, Header(max_length=200)] = None,
    ) -> AcceptOut:
        check_size(body, limits)
        if idempotency_key == "":
            raise InputError("expected a key, got an empty one", field="Idempotency-Key")
        if body.wait:
            await memory.settings.must_flush(scope)
        accepted = await memory.accept(
            scope,
            [raw(message, index) for index, message in enumerate(body.messages)],
            conversation=body.conversation,
            zone=body.zone,
            key=idempotency_key,
            body_digest=_digest(body) if idempotency_key else "",
        )
        searchable = None
        if body.wait:
            await memory.flush(scope)
            searchable = await memory.wait_extracted(
                scope, [message.id for message in accepted], timeout_s=WAIT_S
            )
        return AcceptOut.of(accepted, searchable=searchable)

    @routes.post("/{collection}/flush", status_code=202)
    async def flush(
        scope: Annotated[Scope, Depends(caller.scope)], body: FlushIn | None = None
    ) -> FlushOut:
        await memory.collection(scope)
        through = await memory.flush(scope)
        searchable = None
        if body is not None and body.wait:
            searchable = await memory.wait_flushed(scope, through, timeout_s=WAIT_S)
        return FlushOut(through=through, searchable=searchable)

    @routes.post("/{collection}/conversations/{name:path}/end", status_code=202)
    async def end(
        name: Annotated[Text, Path(min_length=1, max_length=500)],
        scope: Annotated[Scope, Depends(caller.scope)],
    ) -> EndOut:
        named = path_name(name, field="conversation")
        return EndOut(conversation=named, through=await memory.end(scope, named))

    return routes


def collection_routes(memory: Memory, caller: Caller) -> APIRouter:
    """Collections, their messages and segments, and how far they are."""
    routes = APIRouter(prefix="/v1/collections", tags=["messages"])

    @routes.get("")
    async def list_collections(
        tenant: Annotated[str, Depends(caller.tenant)],
    ) -> CollectionsOut:
        infos = await memory.collections(caller.known(tenant))
        return CollectionsOut(collections=[CollectionOut.of(info) for info in infos])

    @routes.get("/{collection}")
    async def get_collection(
        scope: Annotated[Scope, Depends(caller.scope)],
    ) -> CollectionOut:
        return CollectionOut.of(await memory.collection(scope))

    @routes.get("/{collection}/messages")
    async def get_messages(
        scope: Annotated[Scope, Depends(caller.scope)],
        after: Annotated[int, Query(ge=0, le=HIGHEST_SEQUENCE)] = 0,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> MessagesOut:
        found = await memory.messages(scope, after=after, limit=limit)
        return MessagesOut(messages=[MessageOut.of(message) for message in found])

    @routes.get("/{collection}/segments")
    async def get_segments(
        scope: Annotated[Scope, Depends(caller.scope)],
    ) -> SegmentsOut:
        found = await memory.segments(scope)
        return SegmentsOut(segments=[SegmentOut.of(segment) for segment in found])

    return routes


def recall_routes(memory: Memory, caller: Caller) -> APIRouter:
    """Entries and context."""
    routes = APIRouter(prefix="/v1/collections", tags=["recall"])

    @routes.get("/{collection}/entries")
    async def get_entries(
        scope: Annotated[Scope, Depends(caller.scope)],
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        cursor: Annotated[str | None, Query(max_length=500)] = None,
        status: Annotated[list[Status] | None, Query()] = None,
    ) -> EntriesOut:
        page = await memory.entries(scope, statuses=status or (), limit=limit, cursor=cursor)
        sources = await memory.sources(scope, page.entries)
        return EntriesOut(
            entries=[EntryOut.of(scope.collection, each, sources) for each in page.entries],
            cursor=page.cursor,
        )

    @routes.post("/{collection}/context")
    async def context(
        body: ContextIn, scope: Annotated[Scope, Depends(caller.scope)]
    ) -> ContextOut:
        asked = memory.recalls.asked(scope.tenant, [scope.collection], body.query)
        recalled = await memory.context(
            scope,
            body.query,
            budget_tokens=body.budget_tokens,
            working_memory_tokens=body.working_memory_tokens,
        )
        recall = memory.recalls.shown(asked, recalled.context, recalled.hits, recalled.instructions)
        return ContextOut.of(recalled, recall=recall)

    return routes
