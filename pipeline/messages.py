"""What was said: scopes, messages, turns, segments and batches as frozen values."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType, TypeAlias

from pipeline.ids import MessageId, SegmentId

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

TenantId = NewType("TenantId", str)


class Role(StrEnum):
    """Who spoke, from the model's point of view."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class MessageState(StrEnum):
    """How far a message has walked in."""

    ACCEPTED = "accepted"
    WINDOWED = "windowed"
    SEGMENTED = "segmented"
    EXTRACTED = "extracted"
    QUARANTINED = "quarantined"


DONE = (MessageState.EXTRACTED, MessageState.QUARANTINED)
"""The states that a message does not leave by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """One collection of one tenant: the unit of order, recall, consolidation and erasure."""

    tenant: TenantId
    collection: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A normalised message before it is accepted.

    ``said_at`` is in UTC; ``zone`` is the IANA name or offset (``+08:00``) it was said in.
    ``external_id`` is the caller's id, unique inside the conversation. ``is_time_given`` is false
    where ``said_at`` was taken from elsewhere: such a time tells no message from another.
    """

    conversation: str
    role: Role
    speaker: str
    content: str
    said_at: datetime
    zone: str = "UTC"
    is_time_given: bool = True
    external_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An accepted message; ``sequence`` is its place in the collection, from 1.

    ``redacted_at`` is when its words and its speaker's name were taken out; then ``content`` is
    empty and ``speaker`` says the role.
    """

    id: MessageId
    sequence: int
    conversation: str
    role: Role
    speaker: str
    content: str
    said_at: datetime
    accepted_at: datetime
    zone: str = "UTC"
    external_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    state: MessageState = MessageState.ACCEPTED
    compressed: str | None = None
    redacted_at: datetime | None = None


RECALLED = "slowwave_recalled"
"""The metadata key that is true of a message which repeats what memory gave."""


def is_heard(message: Message, roles: Container[Role]) -> bool:
    """Whether entries are made of the message: one of these roles said it, and not from memory."""
    return message.role in roles and message.metadata.get(RECALLED) is not True


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message of the user side and the replies up to the next one; never empty."""

    messages: tuple[Message, ...]

    @property
    def text(self) -> str:
        """The original texts of the turn, one message a line."""
        return "\n".join(message.content for message in self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Consecutive turns of one conversation on one topic."""

    id: SegmentId
    conversation: str
    topic: str
    messages: tuple[Message, ...]

    @property
    def sequence(self) -> int:
        """The collection sequence of its first message."""
        return self.messages[0].sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The segments that leave a short-term buffer together for one extraction."""

    scope: Scope
    segments: tuple[Segment, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the batch, in the order of its segments."""
        return tuple(message for segment in self.segments for message in segment.messages)
