"""The Python client of the HTTP API: typed replies, retries where repeating is safe, our errors.

>>> with Client("http://127.0.0.1:8430") as client:          # doctest: +SKIP
...     client.ingest("ana", [{"role": "user", "content": "I moved to Oslo."}], wait=True)
...     client.search("ana", "Where does she live?")
"""

import random
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self, TypedDict, Unpack, cast
from urllib.parse import quote

import httpx
from pydantic import JsonValue

from pipeline.errors import InputError, StoreError
from pipeline.names import path_name
from serve import replies
from serve.client_errors import may_pass, refused, seconds

_WAIT_TIMEOUT_S = 330.0
_MAX_PAUSE_S = 10.0
_BROKEN = (httpx.ConnectError, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


class SearchOptions(TypedDict, total=False):
    """What else a search may say, as the user guide has it."""

    filter: Mapping[str, JsonValue] | None
    as_of: str | None
    weights: Mapping[str, float]
    min_score: float | None
    neighbours: int
    rerank: bool | None


class ContextOptions(TypedDict, total=False):
    """What else a question for a context may say, as the user guide has it."""

    working_memory_tokens: int | None
    episodic_tokens: int | None
    instruction_tokens: int | None
    scratchpad_tokens: int | None
    form: str | None
    placement: str | None
    kinds: Sequence[str]
    filter: Mapping[str, JsonValue] | None
    as_of: str | None
    weights: Mapping[str, float]
    min_score: float | None
    rerank: bool | None


class Client:
    """One connection pool to one service; use it as a context manager or call ``close``.

    Calls that may be repeated are, on a refused connection, on 429 and on 503: every read, search
    and context, and ingestion, which carries an idempotency key. Each method raises the
    SlowwaveError that the service raised, with its field.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout_s: float = 60.0,
        attempts: int = 7,
        pause_s: float = 0.25,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # The environment's proxies are for the world outside, not for a service on loopback.
        trust_env = "127.0.0.1" not in url and "localhost" not in url
        self.http = httpx.Client(
            base_url=url, headers=headers, timeout=timeout_s, trust_env=trust_env
        )
        self._url = url
        self._attempts = attempts
        self._pause_s = pause_s

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self.http.close()

    def is_ready(self) -> bool:
        """Whether stores and models answer."""
        try:
            return self.http.get("/readyz", timeout=5.0).is_success
        except httpx.HTTPError:
            return False

    # Messages

    def ingest(
        self,
        collection: str,
        messages: Sequence[Mapping[str, JsonValue]],
        *,
        conversation: str = "default",
        zone: str | None = None,
        wait: bool = False,
        idempotency_key: str | None = None,
    ) -> replies.Accept:
        """Accepted messages, all or none; a repeated key with the same body stores nothing more.

        Args:
            zone: IANA name or offset of the times that name none.
            wait: return only when they are extracted and searchable (``searchable`` says so).
        """
        body: dict[str, JsonValue] = {
            "conversation": conversation,
            "zone": zone,
            "messages": [dict(message) for message in messages],
            "wait": wait,
        }
        key = idempotency_key or uuid.uuid4().hex
        reply = self.call(
            "POST", _path(collection, "messages"), body=body, key=key, repeatable=True, wait=wait
        )
        return cast(replies.Accept, reply)

    def flush(self, collection: str, *, wait: bool = False) -> replies.Flush:
        """Ask that everything accepted so far be extracted now."""
        path = _path(collection, "flush")
        reply = self.call("POST", path, body={"wait": wait}, repeatable=True, wait=wait)
        return cast(replies.Flush, reply)

    def end(self, collection: str, conversation: str) -> replies.End:
        """Says that a conversation is over; it may go on, as a new topic. Raises NotFound."""
        what = f"conversations/{quoted(conversation, field='conversation')}/end"
        return cast(replies.End, self.call("POST", _path(collection, what), repeatable=True))

    def collections(self) -> list[replies.Collection]:
        """Every collection of the tenant, by name."""
        reply = self.call("GET", "/v1/collections")
        return cast(list[replies.Collection], reply["collections"])

    def collection(self, collection: str) -> replies.Collection:
        """How far one collection is. Raises NotFound."""
        reply = self.call("GET", f"/v1/collections/{quoted(collection, field='collection')}")
        return cast(replies.Collection, reply)

    def segments(self, collection: str) -> list[replies.Segment]:
        """The segments, by first sequence."""
        reply = self.call("GET", _path(collection, "segments"))
        return cast(list[replies.Segment], reply["segments"])

    def messages(
        self, collection: str, *, after: int = 0, limit: int = 100
    ) -> list[replies.Message]:
        """Messages after a sequence, by sequence; at most 1,000."""
        query = {"after": str(after), "limit": str(limit)}
        reply = self.call("GET", _path(collection, "messages"), query=query)
        return cast(list[replies.Message], reply["messages"])

    # Entries

    def entries(
        self,
        collection: str,
        *,
        limit: int = 100,
        cursor: str | None = None,
        statuses: Sequence[str] = (),
    ) -> replies.Entries:
        """One page of entries, oldest first."""
        query: dict[str, str | list[str]] = {"limit": str(limit), "status": list(statuses)}
        if cursor is not None:
            query["cursor"] = cursor
        return cast(replies.Entries, self.call("GET", _path(collection, "entries"), query=query))

    def all_entries(
        self, collection: str, *, statuses: Sequence[str] = ()
    ) -> Iterator[replies.Entry]:
        """Every entry, oldest first, page by page."""
        cursor: str | None = None
        while True:
            page = self.entries(collection, limit=500, cursor=cursor, statuses=statuses)
            yield from page["entries"]
            cursor = page["cursor"]
            if cursor is None:
                return

    def search(
        self,
        collection: str | Sequence[str],
        query: str,
        *,
        limit: int = 10,
        statuses: Sequence[str] = (),
        kinds: Sequence[str] = (),
        explain: bool = False,
        **more: Unpack[SearchOptions],
    ) -> list[replies.Hit]:
        """Found entries, best first, of one collection or of several."""
        body: dict[str, JsonValue] = {
            "query": query,
            "limit": limit,
            "statuses": list(statuses),
            "kinds": list(kinds),
            "explain": explain,
            **cast(Mapping[str, JsonValue], more),
        }
        path, body = search_request(collection, body)
        reply = self.call("POST", path, body=body, repeatable=True)
        return cast(list[replies.Hit], reply["hits"])

    def context(
        self,
        collection: str,
        query: str,
        *,
        budget_tokens: int | None = None,
        **more: Unpack[ContextOptions],
    ) -> replies.Context:
        """What a model should read to answer, within a budget of tokens."""
        body: dict[str, JsonValue] = {
            "query": query,
            "budget_tokens": budget_tokens,
            **cast(Mapping[str, JsonValue], more),
        }
        reply = self.call("POST", _path(collection, "context"), body=body, repeatable=True)
        return cast(replies.Context, reply)

    def entry(self, entry: str) -> replies.Entry:
        """An entry in its newest version."""
        return cast(replies.Entry, self.call("GET", f"/v1/entries/{quoted(entry, field='entry')}"))

    def correct(
        self, entry: str, *, version: int, changes: Mapping[str, JsonValue]
    ) -> replies.Entry:
        """The entry after a correction of text, status or metadata, as a new version.

        Raises:
            Conflict: it is no longer at ``version``.
        """
        path = f"/v1/entries/{quoted(entry, field='entry')}"
        reply = self.call("PATCH", path, body=dict(changes), if_match=version)
        return cast(replies.Entry, reply)

    def history(self, entry: str) -> list[replies.Version]:
        """Every version of an entry, oldest first."""
        reply = self.call("GET", f"/v1/entries/{quoted(entry, field='entry')}/history")
        return cast(list[replies.Version], reply["versions"])

    # Sleep

    def sleep(
        self, *, dry_run: bool = False, collection: str | None = None, wait: bool = False
    ) -> replies.Run:
        """A started sleep run over what is due; a finished one when waiting."""
        body: dict[str, JsonValue] = {"dry_run": dry_run, "collection": collection, "wait": wait}
        return cast(replies.Run, self.call("POST", "/v1/sleep/runs", body=body, wait=wait))

    def runs(self) -> list[replies.Run]:
        """Sleep runs, newest first."""
        return cast(list[replies.Run], self.call("GET", "/v1/sleep/runs")["runs"])

    def run(self, run: str) -> replies.Run:
        """One sleep run."""
        return cast(replies.Run, self.call("GET", f"/v1/sleep/runs/{quoted(run, field='run')}"))

    def decisions(self, run: str) -> list[replies.Decision]:
        """The ledger of a run, in the order it was written."""
        reply = self.call("GET", f"/v1/sleep/runs/{quoted(run, field='run')}/decisions")
        return cast(list[replies.Decision], reply["decisions"])

    def undo(self, run: str) -> list[replies.UndoItem]:
        """What undoing a run did, entry by entry; refusals carry their reason."""
        return self._walk(run, "undo")

    def redo(self, run: str) -> list[replies.UndoItem]:
        """What applying an undone run again did, without calling a model."""
        return self._walk(run, "redo")

    def _walk(self, run: str, verb: str) -> list[replies.UndoItem]:
        reply = self.call("POST", f"/v1/sleep/runs/{quoted(run, field='run')}/{verb}", body={})
        return cast(list[replies.UndoItem], reply["items"])

    # The wire

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, JsonValue] | None = None,
        query: Mapping[str, str | list[str]] | None = None,
        key: str | None = None,
        if_match: int | None = None,
        repeatable: bool | None = None,
        wait: bool = False,
    ) -> dict[str, object]:
        """One request's reply, repeated where that is safe; ``wait`` allows it minutes."""
        try:
            request = self.http.build_request(
                method,
                path,
                json=body,
                params=query,
                headers=_headers(key, if_match),
                timeout=_WAIT_TIMEOUT_S if wait else httpx.USE_CLIENT_DEFAULT,
            )
        except UnicodeEncodeError as exc:
            raise InputError(f"expected text that is valid Unicode: {exc.reason}") from exc
        can_repeat = method == "GET" if repeatable is None else repeatable
        return self._send(request, attempts=self._attempts if can_repeat else 1)

    def _send(self, request: httpx.Request, *, attempts: int) -> dict[str, object]:
        for attempt in range(attempts):
            is_last = attempt == attempts - 1
            try:
                response = self.http.send(request)
            except _BROKEN as exc:
                if is_last:
                    raise StoreError(f"the service at {self._url} does not answer") from exc
                self._pause(attempt, None)
                continue
            except httpx.HTTPError as exc:
                raise StoreError(f"the service at {self._url}: {exc}") from exc
            if response.is_success:
                return _document(response)
            if is_last or not may_pass(response):
                raise refused(response)
            self._pause(attempt, response.headers.get("Retry-After"))
        raise AssertionError("attempts is at least 1")

    def _pause(self, attempt: int, retry_after: str | None) -> None:
        asked = seconds(retry_after)
        grown = self._pause_s * 2**attempt * random.uniform(0.5, 1.5)
        time.sleep(min(_MAX_PAUSE_S, grown if asked is None else asked))


def search_request(
    collection: str | Sequence[str], body: Mapping[str, JsonValue]
) -> tuple[str, dict[str, JsonValue]]:
    """The path and body of a search in one collection, or in several."""
    if isinstance(collection, str):
        return _path(collection, "search"), dict(body)
    return "/v1/search", {**body, "collections": list(collection)}


def _path(collection: str, what: str) -> str:
    return f"/v1/collections/{quoted(collection, field='collection')}/{what}"


def quoted(name: str, *, field: str) -> str:
    """The name as one part of a path. Raises InputError where it cannot stay one."""
    try:
        return quote(path_name(name, field=field), safe="")
    except UnicodeEncodeError as exc:
        raise InputError("expected text that is valid Unicode", field=field) from exc


def _headers(key: str | None, if_match: int | None) -> dict[str, str]:
    headers = {} if key is None else {"Idempotency-Key": key}
    return headers if if_match is None else {**headers, "If-Match": str(if_match)}


def _document(response: httpx.Response) -> dict[str, object]:
    try:
        document = response.json()
    except ValueError as exc:
        raise StoreError(f"{response.url} answered with something that is not JSON") from exc
    if not isinstance(document, dict):
        raise StoreError(f"{response.url}: expected an object, got {type(document).__name__}")
    return document
