"""BEAM (arXiv 2510.27246): a chat in batches, with a time anchor where time moves on.

A chat is a collection, a batch a conversation. The tag that ends a user's text tells the order of
the plan that the chat was written from and is taken off.
"""

import re
from collections.abc import Iterator

from pipeline.messages import Json
from serve.formats.conversation import ConversationIn
from serve.formats.conversation import message as body
from serve.formats.source import Source

EXPECTED = "a BEAM chat: a list of batches with turns"

_TAG = re.compile(r"\d[\w,./() -]{0,15}|")


def is_batch(value: Json) -> bool:
    """Whether the value looks like a batch, or like a plan of batches."""
    if not isinstance(value, dict):
        return False
    is_plan = bool(value) and all(str(key).startswith("plan-") for key in value)
    return "turns" in value or is_plan


def conversations(document: Source) -> list[ConversationIn]:
    """One conversation per batch; a message without a time has that of the one before."""
    folder = document.file.resolve().parent.name
    said_at: str | int | float | None = None
    found = []
    for name, batch in _batches(document):
        said_at = batch.get("time_anchor").time() or said_at
        messages = []
        for turn in (part for turns in batch.get("turns").items() for part in turns.items()):
            said_at = turn.get("time_anchor").time() or said_at
            messages.append(_message(turn, said_at))
        if messages:
            found.append(
                ConversationIn(
                    collection=f"beam-{folder}" if folder else None,
                    conversation=name,
                    zone=None,
                    messages=tuple(messages),
                )
            )
    return found


def _batches(document: Source) -> Iterator[tuple[str, Source]]:
    for index, item in enumerate(document.items(), start=1):
        if not is_batch(item.value):
            item.refuse(EXPECTED)
        if "turns" in item.fields():
            yield f"batch-{item.get('batch_number').name() or index}", item
            continue
        for plan in item.fields():
            for name, batch in _batches(item.get(plan)):
                yield f"{plan}-{name}", batch


def _message(turn: Source, said_at: str | int | float | None) -> dict[str, Json]:
    return body(
        turn.get("role").text(),
        _without_tag(turn.get("content").text()),
        said_at=said_at,
        message_id=turn.get("id").name(),
    )


def _without_tag(text: str) -> str:
    spoken, arrow, rest = text.rpartition("->->")
    return spoken.rstrip() if arrow and _TAG.fullmatch(rest.strip()) else text
