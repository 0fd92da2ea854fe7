"""LoCoMo (arXiv 2402.17753): dialogues of two named people over many sessions.

A sample is a collection, a session a conversation with the session's time. An image enters by its
caption. The older flat layout, with the sessions beside the questions, is read as well.
"""

import re

from pipeline.messages import Json
from serve.formats.conversation import ConversationIn
from serve.formats.conversation import message as body
from serve.formats.source import Source

EXPECTED = "LoCoMo samples, each with a conversation of session_1, session_1_date_time and so on"

_SESSION = re.compile(r"session_(\d+)")


def is_sample(value: Json) -> bool:
    """Whether the value looks like a sample."""
    if not isinstance(value, dict):
        return False
    inner = value.get("conversation", value)
    return isinstance(inner, dict) and any(_SESSION.fullmatch(key) for key in inner)


def conversations(document: Source) -> list[ConversationIn]:
    """One conversation per session that has messages, in the order of sessions."""
    samples = document.items() if isinstance(document.value, list) else [document]
    return [each for sample in samples for each in _sessions(sample)]


def _sessions(sample: Source) -> list[ConversationIn]:
    if not is_sample(sample.value):
        sample.refuse(EXPECTED)
    place = sample.get("conversation") if "conversation" in sample.fields() else sample
    numbers = sorted(int(m[1]) for key in place.fields() if (m := _SESSION.fullmatch(key)))
    collection = sample.get("sample_id").name()
    return [
        _session(place, number, collection)
        for number in numbers
        if place.get(f"session_{number}").items()
    ]


def _session(place: Source, number: int, collection: str | None) -> ConversationIn:
    said_at = place.get(f"session_{number}_date_time").text()
    return ConversationIn(
        collection=collection,
        conversation=f"session_{number}",
        zone=None,
        messages=tuple(_message(turn, said_at) for turn in place.get(f"session_{number}").items()),
    )


def _message(turn: Source, said_at: str) -> dict[str, Json]:
    caption = turn.get("blip_caption").name()
    image = f"[image: {caption}]" if caption else ""
    spoken = turn.get("text").name() or ""
    return body(
        "user",
        f"{spoken} {image}".strip() if image else turn.get("text").text(),
        speaker=turn.get("speaker").text(),
        said_at=said_at,
        message_id=turn.get("dia_id").name(),
    )
