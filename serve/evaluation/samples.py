"""What a benchmark holds: conversations with questions about them, and building a memory of one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from pipeline.errors import InputError
from pipeline.evaluate.evidence import Question, existing
from pipeline.messages import Json
from pipeline.text.dates import parse_time
from serve.client import Client
from serve.formats import ConversationIn
from serve.formats.source import parse, text_of

REQUEST_MESSAGES = 200
_WAITS = 12
"""How often a flush is waited for; each wait takes minutes."""

Body = Mapping[str, JsonValue]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One subject's conversations and the questions about them, and its messages by id.

    ``texts`` are as they were said, ``said`` with the speaker (what the floor searches),
    ``lines`` with the day too (what the floor shows); all in the order they were said.
    """

    name: str
    sessions: tuple[ConversationIn, ...]
    texts: Mapping[str, str]
    said: Mapping[str, str]
    lines: Mapping[str, str]
    questions: tuple[Question, ...]


def sample_of(
    name: str, sessions: Sequence[ConversationIn], questions: Sequence[Question]
) -> Sample:
    """The sample with those of the questions whose evidence is among its messages."""
    messages = [message for session in sessions for message in session.messages]
    texts = {str(each["message_id"]): str(each["content"]) for each in messages}
    said = {
        str(each["message_id"]): f"{each.get('speaker') or each['role']}: {each['content']}"
        for each in messages
    }
    lines = {
        str(each["message_id"]): f"{_day(each)} {said[str(each['message_id'])]}"
        for each in messages
    }
    return Sample(
        name=name,
        sessions=tuple(sessions),
        texts=texts,
        said=said,
        lines=lines,
        questions=tuple(existing(questions, texts)),
    )


def _day(message: Mapping[str, Json]) -> str:
    said_at, _ = parse_time(cast(str, message["said_at"]), zone=None)
    return said_at.date().isoformat()


def document_of(path: Path) -> Json:
    """The file as one JSON value.

    Raises:
        InputError: it cannot be read or is no JSON.
    """
    return parse(path, text_of(path))


def build(client: Client, sample: Sample, *, collection: str) -> None:
    """Ingests the conversations and returns when all of them are searchable.

    What is there already is not stored again.
    """
    for session in sample.sessions:
        for start in range(0, len(session.messages), REQUEST_MESSAGES):
            part = session.messages[start : start + REQUEST_MESSAGES]
            client.ingest(
                collection,
                cast(Sequence[Body], part),
                conversation=session.conversation,
                zone=session.zone,
            )
    for _ in range(_WAITS):
        if client.flush(collection, wait=True)["searchable"]:
            return
    raise InputError(f"{sample.name} was not extracted in time", field="collection")
