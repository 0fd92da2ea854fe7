"""ShareGPT: conversations of turns with ``from`` and ``value``."""

from collections.abc import Mapping

from serve.formats.conversation import ConversationIn
from serve.formats.conversation import message as body
from serve.formats.source import Source

EXPECTED = 'ShareGPT conversations: {"conversations": [{"from": ..., "value": ...}]}'

_ROLES: Mapping[str, str] = {"observation": "tool", "function_call": "assistant"}


def conversations(chats: list[Source]) -> list[ConversationIn]:
    """One conversation per chat; chats without an id are numbered."""
    return [_conversation(chat, number, len(chats)) for number, chat in enumerate(chats, start=1)]


def _conversation(chat: Source, number: int, total: int) -> ConversationIn:
    if "conversations" not in chat.fields():
        chat.refuse(EXPECTED)
    stem = chat.file.stem
    messages = []
    for turn in chat.get("conversations").items():
        role = turn.get("from").text()
        messages.append(body(_ROLES.get(role, role), turn.get("value").text()))
    return ConversationIn(
        collection=None,
        conversation=chat.get("id").name() or (stem if total == 1 else f"{stem}-{number}"),
        zone=None,
        messages=tuple(messages),
    )
