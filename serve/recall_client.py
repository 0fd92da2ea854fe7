"""The client's part for recalls: a search with its recall's id, recalls, why, what is kept."""

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import JsonValue

from serve import replies
from serve.client import Client, quoted, search_request


class RecallClient:
    """More calls of one Client; each raises the SlowwaveError that the service raised."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def search(
        self,
        collection: str | Sequence[str],
        query: str,
        options: Mapping[str, JsonValue] | None = None,
    ) -> replies.Found:
        """Found entries with the id of the recall; ``options`` as the user guide has them."""
        path, body = search_request(collection, {"query": query, **(options or {})})
        return cast(replies.Found, self._client.call("POST", path, body=body, repeatable=True))

    def recalls(
        self, collection: str | None = None, *, limit: int = 100, before: str | None = None
    ) -> list[replies.Recall]:
        """Recalls, newest first; ``before`` is the id of the last one of the page above."""
        query: dict[str, str | list[str]] = {"limit": str(limit)}
        if collection is not None:
            query["collection"] = collection
        if before is not None:
            query["before"] = before
        reply = self._client.call("GET", "/v1/recalls", query=query)
        return cast(list[replies.Recall], reply["recalls"])

    def why(self, recall: str) -> replies.Why:
        """A recall: its entries then and now, with their messages. Raises NotFound."""
        path = f"/v1/recalls/{quoted(recall, field='recall')}"
        return cast(replies.Why, self._client.call("GET", path))

    def keeping(self) -> replies.RecallKeeping:
        """What is kept of recalls, and for how many days."""
        return cast(replies.RecallKeeping, self._client.call("GET", "/v1/recalls/settings"))

    def keep(self, *, query: str, days: int) -> replies.RecallKeeping:
        """Sets it: ``query`` is hash or text."""
        body: dict[str, JsonValue] = {"query": query, "days": days}
        reply = self._client.call("PUT", "/v1/recalls/settings", body=body, repeatable=True)
        return cast(replies.RecallKeeping, reply)
