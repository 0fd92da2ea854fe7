"""Chats in the form of the OpenAI API: messages with a role and content, one chat or many.

A call of a tool is written as text, since it may be all that a message says. An image enters by
its caption and is refused without one.
"""

from pipeline.messages import Json
from serve.formats.conversation import ConversationIn
from serve.formats.conversation import message as body
from serve.formats.source import Source

EXPECTED = 'chat messages: {"messages": [...]} or a list of messages with role and content'

_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
_TIMES = ("said_at", "created_at", "create_time", "timestamp")


def conversations(chats: list[Source]) -> list[ConversationIn]:
    """One conversation per chat; chats without a name are numbered."""
    found = []
    for number, chat in enumerate(chats, start=1):
        listed = chat if isinstance(chat.value, list) else chat.get("messages")
        name = chat.get("conversation_id").name() or chat.get("id").name()
        stem = chat.file.stem
        found.append(
            ConversationIn(
                collection=None,
                conversation=name or (stem if len(chats) == 1 else f"{stem}-{number}"),
                zone=None,
                messages=tuple(_message(item) for item in listed.items()),
            )
        )
    return found


def _message(item: Source) -> dict[str, Json]:
    role = item.get("role").text()
    times = [time for key in _TIMES if (time := item.get(key).time()) is not None]
    return body(
        role,
        _content(item),
        speaker=item.get("name").name(),
        said_at=times[0] if times else None,
        message_id=item.get("id").name() or item.get("message_id").name(),
    )


def _content(item: Source) -> str:
    content = item.get("content")
    calls = [*_calls(item.get("tool_calls")), *_call(item.get("function_call"))]
    if isinstance(content.value, list):
        texts = [_part(part) for part in content.items()]
    elif content.value is None and calls:
        texts = []
    else:
        texts = [content.value if calls and content.value == "" else content.text()]
    joined = "\n".join(text for text in [*map(str, texts), *calls] if text)
    return joined or content.text()


def _part(part: Source) -> str:
    kind = part.get("type").name() or "part without a type"
    if kind in _TEXT_PARTS:
        return part.get("text").text()
    if kind == "refusal":
        return part.get("refusal").text()
    for place in (part, part.get(kind)):
        for key in ("caption", "alt", "description"):
            if caption := place.get(key).name():
                return f"[image: {caption}]"
    part.refuse(f"a text, or an image with a caption, not {kind!a} alone")


def _calls(listed: Source) -> list[str]:
    if listed.value is None:
        return []
    return [text for call in listed.items() for text in _call(call.get("function"))]


def _call(function: Source) -> list[str]:
    if function.value is None:
        return []
    return [f"[calls {function.get('name').text()}({function.get('arguments').name() or ''})]"]
