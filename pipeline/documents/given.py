"""Messages of a document that are statements already: they become entries as they are, whole."""

from collections.abc import Sequence
from dataclasses import replace

from pipeline.documents.messages import DOCUMENT, PART, SECTION, Part
from pipeline.entries import Kind, Statement
from pipeline.messages import Batch, Message, Role
from pipeline.text.languages import language

_WHOLE = (Part.ROWS, Part.CODE, Part.SUMMARY)


def is_given(message: Message) -> bool:
    """Whether the message is rows, code or a summary of a document."""
    told = message.metadata
    return message.role is Role.USER and DOCUMENT in told and told.get(PART) in _WHOLE


def section_of(message: Message) -> str | None:
    """The path of the section that the message is a part of; None outside a document."""
    path = message.metadata.get(SECTION) if DOCUMENT in message.metadata else None
    return path if isinstance(path, str) else None


def given(batch: Batch, *, roles: Sequence[Role]) -> tuple[list[Statement], Batch | None]:
    """What such messages of the batch say, and the batch without them; None where nothing is left.

    Args:
        roles: those that statements are made of.
    """
    found = [
        each
        for segment in batch.segments
        for message in segment.messages
        if is_given(message) and message.role in roles
        for each in _statements(message, segment.topic)
    ]
    segments = []
    for segment in batch.segments:
        rest = tuple(message for message in segment.messages if not is_given(message))
        if rest:
            segments.append(
                segment if rest == segment.messages else replace(segment, messages=rest)
            )
    return found, replace(batch, segments=tuple(segments)) if segments else None


def _statements(message: Message, topic: str) -> list[Statement]:
    is_rows = message.metadata[PART] == Part.ROWS
    texts = message.content.splitlines() if is_rows else [message.content]
    is_summary = message.metadata[PART] == Part.SUMMARY
    return [
        Statement(
            text=text.strip(),
            kind=Kind.SUMMARY if is_summary else Kind.FACT,
            speaker=message.speaker,
            said_at=message.said_at,
            zone=message.zone,
            language=language(text),
            sources=(message.id,),
            sequence=message.sequence,
            ordinal=place,
            topic=topic,
        )
        for place, text in enumerate(one for one in texts if one.strip())
    ]
