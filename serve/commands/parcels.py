"""A file's conversations as requests: every message with an id, checked, in batches.

The same file gives the same ids and the same idempotency keys, so sending it again stores nothing
twice. Knows nothing of HTTP.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import JsonValue

from pipeline.awake.normalise import RawMessage, normalise
from pipeline.errors import InputError
from pipeline.ids import digest

MESSAGES = 200
_CHARS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One conversation on its way into a collection."""

    collection: str
    conversation: str
    messages: Sequence[RawMessage]
    zone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One request: at most 200 messages of one conversation, and its idempotency key."""

    collection: str
    conversation: str
    zone: str | None
    messages: list[dict[str, JsonValue]]
    key: str


def identified(thread: Thread) -> Thread:
    """The conversation with an id on every message; made ids depend on what was said alone."""
    seen: Counter[str] = Counter()
    messages: list[RawMessage] = []
    for message in thread.messages:
        if message.message_id is None:
            said = digest(
                message.role, message.speaker or "", str(message.said_at), message.content
            )
            seen[said] += 1
            made = digest(thread.conversation, said, str(seen[said]))[:32]
            message = replace(message, message_id=f"made-{made}")
        messages.append(message)
    return replace(thread, messages=messages)


def check(threads: Sequence[Thread], *, now: datetime) -> None:
    """Nothing, if the service would accept every message.

    Raises:
        InputError: the first message it would not; the field names the conversation and message.
    """
    for thread in threads:
        try:
            normalise(
                thread.messages,
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
    batch: list[RawMessage] = []
    chars = 0
    for message in thread.messages:
        if batch and (len(batch) == MESSAGES or chars + len(message.content) > _CHARS):
            yield _parcel(thread, batch)
            batch, chars = [], 0
        batch.append(message)
        chars += len(message.content)
    if batch:
        yield _parcel(thread, batch)


def _parcel(thread: Thread, batch: Sequence[RawMessage]) -> Parcel:
    messages = [_wire(message) for message in batch]
    said = [f"{message.message_id}\x1f{message.content}" for message in batch]
    return Parcel(
        collection=thread.collection,
        conversation=thread.conversation,
        zone=thread.zone,
        messages=messages,
        key=digest(thread.collection, thread.conversation, str(thread.zone), *said),
    )


def _wire(message: RawMessage) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {
        "role": message.role,
        "content": message.content,
        "speaker": message.speaker,
        "said_at": message.said_at,
        "zone": message.zone,
        "message_id": message.message_id,
        "metadata": {key: _json(value) for key, value in message.metadata.items()},
    }
    return {name: value for name, value in fields.items() if value not in (None, {})}


def _json(value: object) -> JsonValue:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case dict():
            return {str(key): _json(part) for key, part in value.items()}
        case list() | tuple():
            return [_json(part) for part in value]
        case _:
            raise InputError(f"expected JSON in metadata, got {type(value).__name__}")
