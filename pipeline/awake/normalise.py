"""Messages as they come to messages as they are kept: role, speaker, time, zone.

The text is checked and never altered, but for the captions of images that are put behind it, since
only as text do they enter. Knows nothing of the form the messages came in.
Source: LightMem (arXiv 2510.18866), section 3.1; unlike it, one time parser serves all stages and
messages of one instant keep their order by sequence, so no instants are made up.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pipeline.errors import InputError
from pipeline.messages import Json, NewMessage, Role
from pipeline.names import check_name
from pipeline.storable import check_json, check_text
from pipeline.text.dates import parse_time
from pipeline.text.zones import zone_info

_ALIASES: Mapping[str, Role] = {
    **{role.value: role for role in Role},
    **dict.fromkeys(("human", "person", "customer"), Role.USER),
    **dict.fromkeys(("ai", "bot", "robot", "model", "gpt", "chatgpt", "chatbot"), Role.ASSISTANT),
    **dict.fromkeys(("function", "tool_result", "tool_response"), Role.TOOL),
    "developer": Role.SYSTEM,
}


_CAPTION = "caption"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawImage:
    """An image of a message, by its address; ``caption`` is what it shows, where that is known."""

    url: str
    caption: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawMessage:
    """A message as it was sent; ``index`` is its place in the request and names it in errors.

    ``caption`` says what an image shows that came with it; ``metadata`` may hold it instead, or a
    list of several, as ``caption``. With one, ``content`` may be empty.
    """

    index: int
    role: str
    content: str
    speaker: str | None = None
    said_at: str | int | float | None = None
    zone: str | None = None
    message_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    caption: str | None = None
    images: tuple[RawImage, ...] = ()


def normalise(
    raw: Sequence[RawMessage],
    *,
    conversation: str,
    zone: str | None,
    previous_said_at: datetime | None,
    now: datetime,
) -> list[NewMessage]:
    """The messages ready to be accepted, in the order given; all of them or an error.

    Args:
        raw: the messages of one conversation.
        conversation: its name.
        zone: the zone of the collection, for messages that name none; UTC where None.
        previous_said_at: when the conversation's last accepted message was said, in UTC.
        now: the instant of a first message without a time, in UTC.

    Raises:
        InputError: its field names the message and what of it, as ``messages[3].role``.
    """
    if zone is not None:
        zone_info(zone)
    _require_text(conversation, "conversation")
    _require(check_name, conversation, "conversation")
    messages: list[NewMessage] = []
    said_at = previous_said_at or now
    for message in raw:
        try:
            messages.append(_normalised(message, conversation, zone, said_at))
        except InputError as error:
            place = f"messages[{message.index}].{error.field}"
            raise InputError(error.message, field=place) from error
        said_at = messages[-1].said_at
    return messages


def _normalised(
    raw: RawMessage, conversation: str, zone: str | None, said_before: datetime
) -> NewMessage:
    """Raises InputError; its field is the one of the message."""
    role = _role(raw.role)
    content = _content(raw)
    if raw.message_id is not None:
        _require_text(raw.message_id, "message_id")
    _require(check_json, raw.metadata, "metadata")
    said_at, said_in = _time(raw, zone, said_before)
    return NewMessage(
        conversation=conversation,
        role=role,
        speaker=_speaker(raw.speaker, role),
        content=content,
        said_at=said_at,
        zone=said_in,
        is_time_given=raw.said_at is not None,
        external_id=raw.message_id,
        metadata=raw.metadata,
    )


def _content(raw: RawMessage) -> str:
    """The text with the captions that it does not hold already, each on a line of its own."""
    captions = _captions(raw)
    if not captions or not isinstance(raw.content, str) or not _is_blank(raw.content):
        _require_text(raw.content, "content")
    said = "" if _is_blank(raw.content) else raw.content
    added = [f"[image: {caption}]" for caption in captions if caption not in said]
    return "\n".join([said, *added] if said else added)


def _captions(raw: RawMessage) -> list[str]:
    """The one given and those that the metadata hold as texts; each once."""
    if raw.caption is not None:
        _require_text(raw.caption, _CAPTION)
    held = raw.metadata.get(_CAPTION) if isinstance(raw.metadata, Mapping) else None
    listed = held if isinstance(held, Sequence) and not isinstance(held, str) else [held]
    texts = [each.strip() for each in (raw.caption, *listed) if isinstance(each, str)]
    return [text for text in dict.fromkeys(texts) if not _is_blank(text)]


def _role(value: object) -> Role:
    role = _ALIASES.get(value.strip().lower()) if isinstance(value, str) else None
    if role is None:
        expected = "user, assistant, system or tool"
        raise InputError(f"expected the role {expected}, got {_shown(value)}", field="role")
    return role


def _speaker(value: str | None, role: Role) -> str:
    """The name given, else the role."""
    if value is None or (isinstance(value, str) and _is_blank(value)):
        return role.value
    _require_text(value, "speaker")
    return value.strip()


def _time(raw: RawMessage, zone: str | None, said_before: datetime) -> tuple[datetime, str]:
    own = zone if raw.zone is None else raw.zone
    if raw.said_at is not None:
        return parse_time(raw.said_at, zone=own)
    return said_before, "UTC" if own is None else zone_info(own)[1]


def _require_text(value: object, field: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"expected a text, got {_shown(value)}", field=field)
    if _is_blank(value):
        raise InputError(f"expected a text that is not empty, got {_shown(value)}", field=field)
    _require(check_text, value, field)


def _is_blank(text: str) -> bool:
    """Whether nothing would be seen: white space and invisible signs only."""
    if text[:1].isalnum():
        return False
    return all(sign.isspace() or unicodedata.category(sign) in ("Cf", "Cc") for sign in text)


def _require(check: Callable[[Any], None], value: object, field: str) -> None:
    """Raises InputError that names the field where the check raises ValueError."""
    try:
        check(value)
    except ValueError as error:
        raise InputError(str(error), field=field) from error


def _shown(value: object) -> str:
    """The value for a message, printable whatever it holds."""
    if isinstance(value, str):
        return ascii(value[:60])
    return "nothing" if value is None else f"a value of type {type(value).__name__}"
