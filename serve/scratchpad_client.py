"""The client's part for the scratchpad and for what sleep archived."""

import uuid
from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from pydantic import JsonValue

from serve.client import Client, quoted
from serve.replies import Entry, Source


class Item(TypedDict):
    """A scratchpad item in one version, what it rests on and what says otherwise."""

    id: str
    collection: str
    version: int
    slot: str
    text: str
    status: str
    said_at: str
    sources: list[Source]
    entries: list[str]
    conflicts: list[str]
    superseded_by: str | None
    written_by: str
    written_at: str


class Scratchpad(TypedDict):
    """Items, newest first, and the tokens of their texts."""

    collection: str
    tokens: int
    items: list[Item]


class ItemVersion(TypedDict):
    """One version of an item, why it was written, and the sleep run that wrote it."""

    item: Item
    why: str
    run: str | None


class Change(TypedDict):
    """What a run did beside its decisions: archive, merge or item."""

    collection: str
    kind: str
    subject: str
    version_before: int
    version_after: int
    partner: str | None
    reason: str
    state: str
    changed_at: str


class ScratchpadClient:
    """More calls of one Client; each raises the SlowwaveError that the service raised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def items(
        self, collection: str, *, slot: str | None = None, statuses: Sequence[str] = ()
    ) -> Scratchpad:
        """The active items, or those of the statuses, of one slot or of all."""
        query: dict[str, str | list[str]] = {"status": list(statuses)}
        if slot is not None:
            query["slot"] = slot
        return cast(Scratchpad, self._client.call("GET", _path(collection), query=query))

    def item(self, collection: str, item: str) -> Item:
        """One item. Raises NotFound."""
        return cast(Item, self._client.call("GET", _item(collection, item)))

    def history(self, collection: str, item: str) -> list[ItemVersion]:
        """Every version of an item, oldest first."""
        reply = self._client.call("GET", f"{_item(collection, item)}/history")
        return cast(list[ItemVersion], reply["versions"])

    def add(self, collection: str, *, slot: str, text: str, item: str | None = None) -> Item:
        """A new item of your own; a repeated call with the same id and words changes nothing."""
        path = _item(collection, item or str(uuid.uuid4()))
        body: dict[str, JsonValue] = {"slot": slot, "text": text}
        return cast(Item, self._client.call("PUT", path, body=body, repeatable=True))

    def replace(self, collection: str, item: str, *, version: int, slot: str, text: str) -> Item:
        """The item as written here. Raises Conflict where it is no longer at ``version``."""
        body: dict[str, JsonValue] = {"slot": slot, "text": text}
        reply = self._client.call("PUT", _item(collection, item), body=body, if_match=version)
        return cast(Item, reply)

    def edit(
        self, collection: str, item: str, *, version: int, changes: Mapping[str, JsonValue]
    ) -> Item:
        """The item after changing text, slot or status. Raises Conflict as ``replace``."""
        path = _item(collection, item)
        reply = self._client.call("PATCH", path, body=dict(changes), if_match=version)
        return cast(Item, reply)

    def remove(self, collection: str, item: str, *, version: int) -> Item:
        """Takes the item out of the scratchpad; sleep does not bring it back."""
        reply = self._client.call("DELETE", _item(collection, item), if_match=version)
        return cast(Item, reply)

    def restore(self, entry: str) -> Entry:
        """An archived entry, current and searchable again."""
        path = f"/v1/entries/{quoted(entry, field='entry')}/restore"
        return cast(Entry, self._client.call("POST", path, repeatable=True))

    def changes(self, run: str) -> list[Change]:
        """What a run merged, archived and did to scratchpads."""
        reply = self._client.call("GET", f"/v1/sleep/runs/{quoted(run, field='run')}/changes")
        return cast(list[Change], reply["changes"])


def _path(collection: str) -> str:
    return f"/v1/collections/{quoted(collection, field='collection')}/scratchpad"


def _item(collection: str, item: str) -> str:
    return f"{_path(collection)}/{quoted(item, field='item')}"
