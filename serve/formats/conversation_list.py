"""Group and solo chats: one list of messages, with who takes part described beside it.

The group's id names the conversation, not the collection: exports of different chats share it.
"""

from pipeline.messages import Json
from serve.formats.conversation import ConversationIn
from serve.formats.conversation import message as body
from serve.formats.source import Source

EXPECTED = "an object with a conversation_list of messages"

_ASSISTANTS = frozenset({"assistant", "robot", "bot", "ai"})


def conversations(document: Source) -> list[ConversationIn]:
    """The one conversation of the file."""
    about = document.get("session_meta")
    messages = [_message(item, about) for item in document.get("conversation_list").items()]
    return [
        ConversationIn(
            collection=None,
            conversation=about.get("group_id").name() or document.file.stem,
            zone=about.get("default_timezone").name(),
            messages=tuple(messages),
        )
    ]


def _message(item: Source, about: Source) -> dict[str, Json]:
    sender = item.get("sender").name()
    person = about.get("user_details").get(sender or "")
    role = person.get("role").name() or ""
    refers_to = item.get("refer_list")
    return body(
        "assistant" if role.lower() in _ASSISTANTS else "user",
        item.get("content").text(),
        speaker=item.get("sender_name").name() or person.get("full_name").name() or sender,
        said_at=item.get("create_time").time(),
        message_id=item.get("message_id").name(),
        metadata={"refers_to": refers_to.value} if refers_to.value else None,
    )
