"""The client's part for a collection's own settings."""

from collections.abc import Mapping
from typing import TypedDict, cast

from pydantic import JsonValue

from serve.client import Client, quoted


class CollectionSettings(TypedDict):
    """``settings`` are what the collection sets itself, ``in_force`` what holds for it."""

    collection: str
    settings: dict[str, JsonValue]
    in_force: dict[str, JsonValue]


class SettingsClient:
    """More calls of one Client; each raises the SlowwaveError that the service raised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def settings(self, collection: str) -> CollectionSettings:
        """Those of the collection. Raises NotFound."""
        return cast(CollectionSettings, self._client.call("GET", _path(collection)))

    def set(self, collection: str, settings: Mapping[str, JsonValue]) -> CollectionSettings:
        """Sets exactly these; everything else is as the service has it. A new collection is made.

        Raises:
            InputError: the service has no such setting or cannot keep to it; the field names it.
        """
        reply = self._client.call("PUT", _path(collection), body=settings, repeatable=True)
        return cast(CollectionSettings, reply)

    def change(self, collection: str, changes: Mapping[str, JsonValue]) -> CollectionSettings:
        """Sets those named and leaves the others; None takes one back. Else as ``set``."""
        reply = self._client.call("PATCH", _path(collection), body=changes, repeatable=True)
        return cast(CollectionSettings, reply)


def _path(collection: str) -> str:
    return f"/v1/collections/{quoted(collection, field='collection')}/settings"
