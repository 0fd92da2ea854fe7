"""A file's conversations as requests: every message with an id, checked, in batches.

The same file gives the same ids and the same idempotency keys, so sending it again stores nothing
twice. Knows nothing of HTTP.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from pydantic import JsonValue

from pipeline.awake.normalise import RawMessage, normalise
from pipeline.errors import InputError
from pipeline.ids import digest
from pipeline.messages import Json
from pipeline.names import path_name
from serve.formats import ConversationIn

MESSAGES = 200
_CHARS = 2_000_000

Body = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One conversation on its way into a collection; messages are bodies of the API."""

    collection: str
    conversation: str
    messages: Sequence[Body]
    zone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One request: at most 200 messages of one conversation, and its idempotency key."""

    collection: str
    conversation: str
    zone: str | None
    messages: list[dict[str, JsonValue]]
    key: str


def threads(
    conversations: Sequence[ConversationIn], *, collection: str | None, default: str
) -> list[Thread]:
    """The conversations with their collections, every message with an id.

    Args:
        collection: takes them all; where they come from several collections of the file, each
            conversation is named after its own, so that two of one name do not become one.
        default: the collection where neither the file nor the caller names one.
    """
    is_mixed = len({each.collection for each in conversations}) > 1
    return [
        _identified(
            Thread(
                collection=collection or each.collection or default,
                conversation=f"{each.collection}/{each.conversation}"
                if collection and each.collection and is_mixed
                else each.conversation,
                messages=each.messages,
                zone=each.zone,
            )
        )
        for each in conversations
    ]


def check(checked: Sequence[Thread], *, now: datetime) -> None:
    """Nothing, if the service would accept every message.

    Raises:
        InputError: the first message it would not; the field names the conversation and message.
    """
    for thread in checked:
        try:
            path_name(thread.collection, field="collection")
            normalise(
                [_raw(index, message) for index, message in enumerate(thread.messages)],
                conversation=thread.conversation,
                zone=thread.zone,
                previous_said_at=None,
                now=now,
            )
        except InputError as exc:
            where = f"{thread.conversation}: {exc.field or 'messages'}"
            raise InputError(f"{where}: {exc.message}", field=where) from exc


def parcels(thread: Thread) -> Iterator[Parcel]:
    """The requests of a conversation, in order."""
    batch: list[Body] = []
    chars = 0
    for message in thread.messages:
        length = len(str(message["content"]))
        if batch and (len(batch) == MESSAGES or chars + length > _CHARS):
            yield _parcel(thread, batch)
            batch, chars = [], 0
        batch.append(message)
        chars += length
    if batch:
        yield _parcel(thread, batch)


def _identified(thread: Thread) -> Thread:
    """Every message with an id; a made one depends on what was said alone, not on its place."""
    seen: Counter[str] = Counter()
    messages: list[Body] = []
    for message in thread.messages:
        if message.get("message_id") is None:
            said = digest(_text(message))
            seen[said] += 1
            made = digest(thread.conversation, said, str(seen[said]))[:32]
            message = {**message, "message_id": f"made-{made}"}
        messages.append(message)
    return replace(thread, messages=messages)


def _parcel(thread: Thread, batch: Sequence[Body]) -> Parcel:
    return Parcel(
        collection=thread.collection,
        conversation=thread.conversation,
        zone=thread.zone,
        messages=[cast(dict[str, JsonValue], dict(message)) for message in batch],
        key=digest(thread.collection, thread.conversation, str(thread.zone), *map(_text, batch)),
    )


def _text(message: Body) -> str:
    return json.dumps(message, sort_keys=True)


def _raw(index: int, message: Body) -> RawMessage:
    return RawMessage(index=index, **message)  # type: ignore[arg-type]  # checked by normalise
