"""Routes of the scratchpad, of restoring what was archived, and of what a run changed besides."""

from collections.abc import Mapping
from typing import Annotated, Self

from fastapi import APIRouter, Depends, Header, Query
from pydantic import AfterValidator, Field

from pipeline.errors import InputError
from pipeline.ids import EntryId, ItemId, MessageId, RunId
from pipeline.messages import Message, Scope
from pipeline.scratchpad import Item, ItemEdit, ItemStatus, ItemVersion
from pipeline.sleep.tending import Change
from serve.ingress.access import Caller
from serve.ingress.bodies import Body, Id, Name, PathName, Text
from serve.ingress.entries import expected_version
from serve.ingress.views import EntryOut, Instant, SourceOut, View
from serve.scratchpads import Scratchpads
from serve.service import Memory


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("expected some text, got only blanks")
    return text


ItemText = Annotated[Text, Field(min_length=1, max_length=20_000), AfterValidator(_said)]
Version = Annotated[str | None, Header(max_length=50)]


class ItemIn(Body):
    """A whole item as a user writes it."""

    slot: Name
    text: ItemText


class ItemPatch(Body):
    """An edit; what is left out stays. A removed item comes back with the status active."""

    slot: Name | None = None
    text: ItemText | None = None
    status: ItemStatus | None = None


class ItemOut(View):
    """A scratchpad item in one version.

    ``entries`` and ``sources`` are what it rests on; ``conflicts`` are items that say otherwise;
    ``superseded_by`` is the item that took its place.
    """

    id: str
    collection: str
    version: int
    slot: str
    text: str
    status: str
    said_at: Instant
    sources: list[SourceOut]
    entries: list[str]
    conflicts: list[str]
    superseded_by: str | None
    written_by: str
    written_at: Instant

    @classmethod
    def of(cls, scope: Scope, item: Item, messages: Mapping[MessageId, Message]) -> Self:
        """The item's view; ``messages`` resolves its sources."""
        return cls(
            id=item.id,
            collection=scope.collection,
            version=item.version,
            slot=item.slot,
            text=item.text,
            status=item.status.value,
            said_at=item.said_at,
            sources=[SourceOut.of(source, messages) for source in item.sources],
            entries=list(item.entries),
            conflicts=list(item.conflicts),
            superseded_by=item.superseded_by,
            written_by=item.written_by.value,
            written_at=item.written_at,
        )


class ScratchpadOut(View):
    """A collection's items, newest first, and the tokens of their texts."""

    collection: str
    tokens: int
    items: list[ItemOut]


class ItemVersionOut(View):
    """One version of an item, why it was written, and the sleep run that wrote it."""

    item: ItemOut
    why: str
    run: str | None

    @classmethod
    def of(cls, scope: Scope, version: ItemVersion, messages: Mapping[MessageId, Message]) -> Self:
        """The version's view."""
        item = ItemOut.of(scope, version.item, messages)
        return cls(item=item, why=version.why, run=version.run)


class ItemHistoryOut(View):
    """Every version, oldest first."""

    versions: list[ItemVersionOut]


class ChangeOut(View):
    """What a run did beside its decisions; ``kind`` is archive, merge, item or shorten.

    ``subject`` is an entry's or an item's id; ``version_before`` is 0 where there was none.
    """

    collection: str
    kind: str
    subject: str
    version_before: int
    version_after: int
    partner: str | None
    reason: str
    state: str
    changed_at: Instant

    @classmethod
    def of(cls, change: Change) -> Self:
        """The change's view."""
        return cls(
            collection=change.scope.collection,
            kind=change.kind.value,
            subject=change.subject,
            version_before=change.version_before,
            version_after=change.version_after,
            partner=change.partner,
            reason=change.reason,
            state=change.state,
            changed_at=change.changed_at,
        )


class ChangesOut(View):
    """By collection, in the order they were made."""

    changes: list[ChangeOut]


def scratchpad_routes(memory: Memory, pads: Scratchpads, caller: Caller) -> APIRouter:
    """Read, write, edit and remove items, and look back."""
    routes = APIRouter(prefix="/v1/collections/{collection}/scratchpad", tags=["scratchpad"])

    async def shown(scope: Scope, item: Item) -> ItemOut:
        return ItemOut.of(scope, item, await _messages(memory, scope, [item]))

    @routes.get("")
    async def get_scratchpad(
        scope: Annotated[Scope, Depends(caller.scope)],
        slot: Annotated[Text | None, Query(max_length=200)] = None,
        status: Annotated[list[ItemStatus] | None, Query()] = None,
    ) -> ScratchpadOut:
        found, tokens = await pads.items(scope, slot=slot, statuses=status or ())
        messages = await _messages(memory, scope, found)
        items = [ItemOut.of(scope, item, messages) for item in found]
        return ScratchpadOut(collection=scope.collection, tokens=tokens, items=items)

    @routes.get("/{item}")
    async def get_item(item: Id, scope: Annotated[Scope, Depends(caller.scope)]) -> ItemOut:
        return await shown(scope, await pads.item(scope, ItemId(item)))

    @routes.get("/{item}/history")
    async def get_item_history(
        item: Id, scope: Annotated[Scope, Depends(caller.scope)]
    ) -> ItemHistoryOut:
        versions = await pads.history(scope, ItemId(item))
        messages = await _messages(memory, scope, [version.item for version in versions])
        return ItemHistoryOut(
            versions=[ItemVersionOut.of(scope, version, messages) for version in versions]
        )

    @routes.put("/{item}")
    async def put_item(
        item: PathName,
        body: ItemIn,
        scope: Annotated[Scope, Depends(caller.scope)],
        if_match: Version = None,
    ) -> ItemOut:
        name = ItemId(item)
        if if_match is None:
            return await shown(scope, await pads.add(scope, name, slot=body.slot, text=body.text))
        edit = ItemEdit(slot=body.slot, text=body.text, status=ItemStatus.ACTIVE)
        version = expected_version(if_match)
        return await shown(scope, await pads.edit(scope, name, edit, expected_version=version))

    @routes.patch("/{item}")
    async def patch_item(
        item: Id,
        body: ItemPatch,
        scope: Annotated[Scope, Depends(caller.scope)],
        if_match: Version = None,
    ) -> ItemOut:
        edit = ItemEdit(slot=body.slot, text=body.text, status=body.status)
        if edit == ItemEdit():
            raise InputError("expected one of text, slot, status; got none", field="text")
        version = expected_version(if_match)
        edited = await pads.edit(scope, ItemId(item), edit, expected_version=version)
        return await shown(scope, edited)

    @routes.delete("/{item}")
    async def delete_item(
        item: Id, scope: Annotated[Scope, Depends(caller.scope)], if_match: Version = None
    ) -> ItemOut:
        """Takes the item out of the scratchpad; its text stays in its history."""
        version = expected_version(if_match)
        removed = ItemEdit(status=ItemStatus.REMOVED)
        found = await pads.edit(scope, ItemId(item), removed, expected_version=version)
        return await shown(scope, found)

    return routes


async def _messages(memory: Memory, scope: Scope, items: list[Item]) -> Mapping[MessageId, Message]:
    sources = {source for item in items for source in item.sources}
    return await memory.messages_named(scope, sources)


def forgetting_routes(memory: Memory, pads: Scratchpads, caller: Caller) -> APIRouter:
    """Bring back what was archived, and see what a run changed beside its decisions."""
    routes = APIRouter(prefix="/v1", tags=["sleep"])

    @routes.post("/entries/{entry}/restore")
    async def restore(entry: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> EntryOut:
        scope, found = await pads.restore(caller.known(tenant), EntryId(entry))
        return EntryOut.of(scope.collection, found, await memory.sources(scope, [found]))

    @routes.get("/sleep/runs/{run}/changes")
    async def get_changes(run: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> ChangesOut:
        found = await pads.changes(caller.known(tenant), RunId(run))
        return ChangesOut(changes=[ChangeOut.of(change) for change in found])

    return routes
