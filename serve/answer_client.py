"""The client's part for answers, which come as server-sent events."""

import json
from collections.abc import Iterator, Mapping
from typing import TypedDict, Unpack, cast

import httpx
from pydantic import JsonValue

from pipeline.errors import StoreError
from serve.client import Client, ContextOptions, quoted
from serve.client_errors import refused, refused_late
from serve.replies import Conflict, Line

_TIMEOUT_S = 330.0


class Answer(TypedDict):
    """An answer: its text, whether memory held it, and the lines that it rests on.

    ``model`` is null where none was asked; ``messages`` are those that were kept.
    """

    text: str
    known: bool
    language: str
    citations: list[Line]
    conflicts: list[Conflict]
    context_tokens: int
    model: str | None
    tokens_in: int
    tokens_out: int
    messages: list[str]


def answer(
    client: Client,
    collection: str,
    query: str,
    *,
    store: bool = False,
    conversation: str = "default",
    budget_tokens: int | None = None,
    **more: Unpack[ContextOptions],
) -> Answer:
    """The answer of the service's chat model to a question, from memory alone.

    Args:
        store: keep question and answer as messages of the conversation.

    Raises:
        InputError: the service has no chat model.
    """
    body: dict[str, JsonValue] = {
        "query": query,
        "store": store,
        "conversation": conversation,
        "budget_tokens": budget_tokens,
        **cast(Mapping[str, JsonValue], more),
    }
    for name, document in events(client, collection, body):
        if name == "error":
            raise refused_late(document)
        if name == "answer":
            return cast(Answer, document)
    raise StoreError("the service ended its answer before it was told")


def events(
    client: Client, collection: str, body: Mapping[str, JsonValue]
) -> Iterator[tuple[str, dict[str, object]]]:
    """The events of an answer as they come: a name and a document. Raises SlowwaveError."""
    path = f"/v1/collections/{quoted(collection, field='collection')}/answer"
    try:
        with client.http.stream("POST", path, json=body, timeout=_TIMEOUT_S) as response:
            if not response.is_success:
                response.read()
                raise refused(response)
            yield from _events(response.iter_lines())
    except httpx.HTTPError as exc:
        raise StoreError(f"the service does not answer: {exc}") from exc


def _events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, object]]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))
