"""Values as JSON: one model per value, the same in every route; times are RFC 3339 in UTC."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Self, cast

from pydantic import BaseModel, ConfigDict, JsonValue, PlainSerializer

from pipeline.documents.given import section_of
from pipeline.entries import Entry, EntryVersion
from pipeline.ids import MessageId
from pipeline.messages import Json, Message, Segment
from pipeline.state import CollectionInfo
from pipeline.tasks import task_state


def _utc(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


Instant = Annotated[datetime, PlainSerializer(_utc, return_type=str)]


class View(BaseModel):
    """A reply."""

    model_config = ConfigDict(frozen=True)


def _plain(metadata: Mapping[str, Json]) -> dict[str, JsonValue]:
    return cast(dict[str, JsonValue], dict(metadata))


class MessageOut(View):
    """A message with its place and how far it has walked in."""

    id: str
    sequence: int
    conversation: str
    message_id: str | None
    role: str
    speaker: str
    content: str
    compressed: str | None
    said_at: Instant
    zone: str
    state: str
    metadata: dict[str, JsonValue]
    redacted_at: Instant | None

    @classmethod
    def of(cls, message: Message) -> Self:
        """The message's view."""
        return cls(
            id=message.id,
            sequence=message.sequence,
            conversation=message.conversation,
            message_id=message.external_id,
            role=message.role.value,
            speaker=message.speaker,
            content=message.content,
            compressed=message.compressed,
            said_at=message.said_at,
            zone=message.zone,
            state=message.state.value,
            metadata=_plain(message.metadata),
            redacted_at=message.redacted_at,
        )


class MessagesOut(View):
    """Messages by sequence."""

    messages: list[MessageOut]


class AcceptedOut(View):
    """One accepted message: Slowwave's id, the caller's, and its place."""

    id: str
    message_id: str | None
    sequence: int


class AcceptOut(View):
    """What was accepted; ``searchable`` is set when the caller waited."""

    sequences: list[int]
    messages: list[AcceptedOut]
    searchable: bool | None = None

    @classmethod
    def of(cls, accepted: Sequence[Message], *, searchable: bool | None) -> Self:
        """The view of the messages in their order."""
        return cls(
            sequences=[message.sequence for message in accepted],
            messages=[
                AcceptedOut(id=each.id, message_id=each.external_id, sequence=each.sequence)
                for each in accepted
            ],
            searchable=searchable,
        )


class FlushOut(View):
    """The sequence up to which everything is asked to be extracted."""

    through: int
    searchable: bool | None = None


class EndOut(View):
    """A conversation that ended, and the sequence of its last message."""

    conversation: str
    through: int


class SegmentOut(View):
    """Consecutive turns of one conversation on one topic."""

    id: str
    conversation: str
    topic: str
    first_sequence: int
    last_sequence: int
    messages: int

    @classmethod
    def of(cls, segment: Segment) -> Self:
        """The segment's view."""
        return cls(
            id=segment.id,
            conversation=segment.conversation,
            topic=segment.topic,
            first_sequence=segment.messages[0].sequence,
            last_sequence=segment.messages[-1].sequence,
            messages=len(segment.messages),
        )


class SegmentsOut(View):
    """Segments by first sequence."""

    segments: list[SegmentOut]


class CollectionOut(View):
    """How far a collection is."""

    collection: str
    messages: int
    pending: int
    entries: int
    quarantined: int
    index_lag: int
    created_at: Instant

    @classmethod
    def of(cls, info: CollectionInfo) -> Self:
        """The collection's view."""
        return cls(
            collection=info.scope.collection,
            messages=info.messages,
            pending=info.pending,
            entries=info.entries,
            quarantined=info.quarantined,
            index_lag=info.index_lag,
            created_at=info.created_at,
        )


class CollectionsOut(View):
    """Collections by name."""

    collections: list[CollectionOut]


class SourceOut(View):
    """A message an entry came from; only ``id`` where it is gone, ``section`` in a document."""

    id: str
    conversation: str | None = None
    message_id: str | None = None
    sequence: int | None = None
    section: str | None = None

    @classmethod
    def of(cls, source: MessageId, messages: Mapping[MessageId, Message]) -> Self:
        """The source's view, with the caller's own id."""
        message = messages.get(source)
        if message is None:
            return cls(id=source)
        return cls(
            id=source,
            conversation=message.conversation,
            message_id=message.external_id,
            sequence=message.sequence,
            section=section_of(message),
        )


class AttributesOut(View):
    """``subject`` has ``value`` for ``key``."""

    subject: str
    key: str
    value: str


class EntryOut(View):
    """An entry in one version."""

    id: str
    collection: str
    version: int
    text: str
    kind: str
    status: str
    speaker: str
    said_at: Instant
    zone: str
    language: str
    valid_from: Instant
    valid_to: Instant | None
    superseded_by: str | None
    sources: list[SourceOut]
    attributes: AttributesOut | None
    entities: list[str]
    topic: str
    task_state: str | None
    metadata: dict[str, JsonValue]
    strength: float
    written_by: str
    written_at: Instant

    @classmethod
    def of(cls, collection: str, entry: Entry, messages: Mapping[MessageId, Message]) -> Self:
        """The entry's view; ``messages`` resolves its sources."""
        attributes = entry.attributes
        return cls(
            id=entry.id,
            collection=collection,
            version=entry.version,
            text=entry.text,
            kind=entry.kind.value,
            status=entry.status.value,
            speaker=entry.speaker,
            said_at=entry.said_at,
            zone=entry.zone,
            language=entry.language,
            valid_from=entry.valid_from,
            valid_to=entry.valid_to,
            superseded_by=entry.superseded_by,
            sources=[SourceOut.of(source, messages) for source in entry.sources],
            attributes=None
            if attributes is None
            else AttributesOut(
                subject=attributes.subject, key=attributes.key, value=attributes.value
            ),
            entities=list(entry.entities),
            topic=entry.topic,
            task_state=task_state(entry),
            metadata=_plain(entry.metadata),
            strength=entry.strength,
            written_by=entry.written_by.value,
            written_at=entry.written_at,
        )


class EntriesOut(View):
    """A page of entries, oldest first, and the cursor of the next page."""

    entries: list[EntryOut]
    cursor: str | None


class VersionOut(View):
    """One version of an entry, why it was written, and the sleep run that wrote it."""

    entry: EntryOut
    why: str
    run: str | None

    @classmethod
    def of(
        cls, collection: str, version: EntryVersion, messages: Mapping[MessageId, Message]
    ) -> Self:
        """The version's view."""
        entry = EntryOut.of(collection, version.entry, messages)
        return cls(entry=entry, why=version.why, run=version.run)


class HistoryOut(View):
    """Every version, oldest first."""

    versions: list[VersionOut]


class ExplainOut(View):
    """How a hit came to its score: its parts in 0..1, its places in both lists, from 1.

    ``dense_score`` is the cosine of question and entry, ``lexical_score`` a BM25 sum.
    """

    match: float
    strength: float
    recency: float
    rerank: float | None
    dense_rank: int | None
    dense_score: float | None
    lexical_rank: int | None
    lexical_score: float | None


class HitOut(View):
    """A found entry, its score in 0..1, and the neighbouring turns where they were asked for."""

    entry: EntryOut
    score: float
    explain: ExplainOut | None
    around: list[MessageOut]


class HitsOut(View):
    """Found entries, best first, and the id of the recall that this was."""

    recall: str
    hits: list[HitOut]


class HealthOut(View):
    """The process runs; with ``status`` ready, stores and models answer too."""

    status: str
    version: str
