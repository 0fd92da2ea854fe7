"""The client's part for memory as a whole: erase, export, import, retention, reindex, check."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, TypedDict, cast

import httpx

from pipeline.errors import StoreError
from serve.client import Client, quoted
from serve.client_errors import refused

_CHUNK_BYTES = 1 << 20
_NO_TIMEOUT = httpx.Timeout(30.0, read=None, write=None)


class Difference(TypedDict):
    """Something that does not agree between or within the stores."""

    collection: str
    kind: str
    subject: str
    detail: str
    repaired: bool


class Imported(TypedDict):
    """Rows per table that were added, and how many were there already."""

    added: dict[str, int]
    known: int


class LifecycleClient:
    """More calls of one Client; each raises the SlowwaveError that the service raised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def erase_entry(self, entry: str, *, siblings: bool = False) -> dict[str, int]:
        """The receipt of erasing the entry, and with ``siblings`` others from its messages."""
        query = {"sources": "entries" if siblings else "redact"}
        return self._receipt(f"/v1/entries/{quoted(entry, field='entry')}", query)

    def erase_conversation(self, collection: str, conversation: str) -> dict[str, int]:
        """The receipt of erasing the conversation."""
        return self._receipt(
            f"{_path(collection)}/conversations/{quoted(conversation, field='conversation')}"
        )

    def erase_collection(self, collection: str) -> dict[str, int]:
        """The receipt of erasing the collection."""
        return self._receipt(_path(collection))

    def erase_tenant(self, tenant: str) -> dict[str, int]:
        """The receipt of erasing the tenant."""
        return self._receipt(f"/v1/tenants/{quoted(tenant, field='tenant')}")

    def _receipt(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, int]:
        reply = self._client.call("DELETE", path, query=query, wait=True)
        return cast(dict[str, int], reply)

    def export(self, collection: str) -> Iterator[bytes]:
        """The export, piece by piece as it comes."""
        http = self._client.http
        try:
            with http.stream("GET", f"{_path(collection)}/export", timeout=_NO_TIMEOUT) as reply:
                if not reply.is_success:
                    reply.read()
                    raise refused(reply)
                yield from reply.iter_bytes()
        except httpx.HTTPError as exc:
            raise StoreError(f"the export broke off: {exc}") from exc

    def load(self, collection: str, file: BinaryIO) -> Imported:
        """What importing the export in ``file`` added."""
        pieces = iter(lambda: file.read(_CHUNK_BYTES), b"")
        try:
            reply = self._client.http.post(
                f"{_path(collection)}/import", content=pieces, timeout=_NO_TIMEOUT
            )
        except httpx.HTTPError as exc:
            raise StoreError(f"the import broke off: {exc}") from exc
        if not reply.is_success:
            raise refused(reply)
        return cast(Imported, reply.json())

    def retention_days(self) -> int | None:
        """How many days raw messages are kept; None for ever."""
        return cast(int | None, self._client.call("GET", "/v1/retention")["days"])

    def keep(self, days: int | None) -> None:
        """Keeps raw messages so many days from now on."""
        self._client.call("PUT", "/v1/retention", body={"days": days}, repeatable=True)

    def redact_old(self) -> int:
        """How many messages that were kept long enough were redacted."""
        reply = self._client.call("POST", "/v1/retention/run", wait=True, repeatable=True)
        return cast(int, reply["redacted"])

    def reindex(self, collection: str) -> int:
        """Points of the collection after its index was made anew."""
        path = f"{_path(collection)}/reindex"
        return cast(int, self._client.call("POST", path, wait=True, repeatable=True)["points"])

    def fsck(self, collection: str | None, *, repair: bool) -> list[Difference]:
        """What does not agree."""
        reply = self._client.call(
            "POST", "/v1/fsck", body={"collection": collection, "repair": repair}, wait=True
        )
        return cast(list[Difference], reply["differences"])


def _path(collection: str) -> str:
    return f"/v1/collections/{quoted(collection, field='collection')}"
