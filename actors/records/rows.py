"""Messages and entries as they lie in the tables."""

from typing import Any

from pipeline.entries import (
    Attributes,
    Entry,
    EntryVersion,
    Kind,
    OrderKey,
    Status,
    Writer,
)
from pipeline.ids import EntryId, MessageId, RunId, identity
from pipeline.messages import Message, MessageState, Role


def message_of(row: Any) -> Message:
    """The message of a row of ``messages``."""
    return Message(
        id=MessageId(row.id),
        sequence=row.sequence,
        conversation=row.conversation,
        role=Role(row.role),
        speaker=row.speaker,
        content=row.content,
        said_at=row.said_at,
        accepted_at=row.accepted_at,
        zone=row.zone,
        external_id=row.external_id,
        metadata=row.metadata,
        state=MessageState(row.state),
        compressed=row.compressed,
        redacted_at=row.redacted_at,
    )


def message_values(message: Message) -> dict[str, Any]:
    """The columns of ``messages``, without the scope."""
    return {
        "id": message.id,
        "sequence": message.sequence,
        "conversation": message.conversation,
        "role": message.role.value,
        "speaker": message.speaker,
        "content": message.content,
        "said_at": message.said_at,
        "accepted_at": message.accepted_at,
        "zone": message.zone,
        "external_id": message.external_id,
        "metadata": dict(message.metadata),
        "state": message.state.value,
        "compressed": message.compressed,
    }


def entry_of(row: Any) -> Entry:
    """The entry of a row that has ``id``, ``version`` and the columns entries and versions share.

    A row of ``entry_versions`` needs its ``entry`` labelled ``id``.
    """
    return Entry(
        id=EntryId(row.id),
        version=row.version,
        text=row.text,
        kind=Kind(row.kind),
        status=Status(row.status),
        speaker=row.speaker,
        said_at=row.said_at,
        zone=row.zone,
        language=row.language,
        order=OrderKey(
            said_at=row.order_said_at, sequence=row.order_sequence, ordinal=row.order_ordinal
        ),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        superseded_by=None if row.superseded_by is None else EntryId(row.superseded_by),
        sources=tuple(MessageId(source) for source in row.sources),
        attributes=_attributes_of(row),
        entities=tuple(row.entities),
        topic=row.topic,
        metadata=row.metadata,
        strength=row.strength,
        last_used_at=row.last_used_at,
        written_by=Writer(row.written_by),
        written_at=row.written_at,
    )


def _attributes_of(row: Any) -> Attributes | None:
    if row.subject is None:
        return None
    return Attributes(subject=row.subject, key=row.key, value=row.value)


def version_of(row: Any) -> EntryVersion:
    """The version of a row of ``entry_versions`` whose ``entry`` is labelled ``id``."""
    run = None if row.run is None else RunId(row.run)
    return EntryVersion(entry=entry_of(row), why=row.why, run=run)


def entry_values(entry: Entry) -> dict[str, Any]:
    """The columns that entries and versions share; neither the id nor the version."""
    attributes = entry.attributes
    return {
        "text": entry.text,
        "identity": identity(entry.text, entry.speaker, entry.kind),
        "kind": entry.kind.value,
        "status": entry.status.value,
        "speaker": entry.speaker,
        "said_at": entry.said_at,
        "zone": entry.zone,
        "language": entry.language,
        "order_said_at": entry.order.said_at,
        "order_sequence": entry.order.sequence,
        "order_ordinal": entry.order.ordinal,
        "valid_from": entry.valid_from,
        "valid_to": entry.valid_to,
        "superseded_by": entry.superseded_by,
        "sources": list(entry.sources),
        "subject": None if attributes is None else attributes.subject,
        "key": None if attributes is None else attributes.key,
        "value": None if attributes is None else attributes.value,
        "entities": list(entry.entities),
        "topic": entry.topic,
        "metadata": dict(entry.metadata),
        "strength": entry.strength,
        "last_used_at": entry.last_used_at,
        "written_by": entry.written_by.value,
        "written_at": entry.written_at,
    }
