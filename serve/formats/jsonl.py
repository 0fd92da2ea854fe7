"""Slowwave's own form: one message a line, as the API takes it.

A line with nothing but ``collection``, ``conversation`` or ``zone`` is a heading: it holds for the
lines below it until another one. A message may name its own conversation instead.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import TypeAlias

from pipeline.messages import Json
from serve.formats.conversation import ConversationIn
from serve.formats.conversation import message as body
from serve.formats.source import Source

_Place: TypeAlias = tuple[str | None, str]

EXPECTED = "a message a line, with role and content"

_HEADING = frozenset({"collection", "conversation", "zone"})
_MESSAGE = _HEADING | {"role", "speaker", "content", "caption", "said_at", "message_id", "metadata"}


def is_row(value: Mapping[str, Json]) -> bool:
    """Whether the object looks like a heading or a message."""
    return bool(value) and (set(value) <= _HEADING or {"role", "content"} <= set(value))


def conversations(rows: list[Source]) -> list[ConversationIn]:
    """The conversations in the order in which they begin."""
    heading: dict[str, str | None] = {}
    zones: dict[_Place, str | None] = {}
    messages: defaultdict[_Place, list[dict[str, Json]]] = defaultdict(list)
    for row in rows:
        fields = row.fields()
        if fields and set(fields) <= _HEADING:
            heading |= {key: row.get(key).text() for key in fields}
            continue
        place = _place(row, heading)
        usual = zones.setdefault(place, heading.get("zone"))
        zone = row.get("zone").name() or heading.get("zone")
        messages[place].append(_message(row, zone if zone != usual else None))
    return [
        ConversationIn(
            collection=place[0], conversation=place[1], zone=zones[place], messages=tuple(said)
        )
        for place, said in messages.items()
    ]


def _place(row: Source, heading: Mapping[str, str | None]) -> _Place:
    """Collection and conversation of a message: its own, else the heading's."""
    collection = row.get("collection").name() or heading.get("collection")
    name = row.get("conversation").name() or heading.get("conversation") or row.file.stem
    return collection, name


def _message(row: Source, zone: str | None) -> dict[str, Json]:
    unknown = sorted(set(row.fields()) - _MESSAGE)
    if unknown:
        row.refuse(f"no other fields than {', '.join(sorted(_MESSAGE))}")
    metadata, caption = row.get("metadata"), row.get("caption").name()
    return body(
        row.get("role").text(),
        row.get("content").text() if caption is None else row.get("content").name() or "",
        caption=caption,
        speaker=row.get("speaker").name(),
        said_at=row.get("said_at").time(),
        message_id=row.get("message_id").name(),
        zone=zone,
        metadata=metadata.fields() if metadata.value is not None else None,
    )
