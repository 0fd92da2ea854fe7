"""A batch of messages through a scripted chat model, for the tests of extraction."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta

from actors.extractor_chat import ChatExtractor
from actors.fakes import FakeTokenizer, Scripted, ScriptedChat
from pipeline.awake.chat_extract import Limits
from pipeline.chat import ChatRequest
from pipeline.extraction import Extraction, ExtractionOptions
from pipeline.ids import MessageId, segment_id
from pipeline.messages import Batch, Message, Role, Scope, Segment, TenantId

MONDAY = datetime(2023, 5, 8, 12, tzinfo=UTC)
SCOPE = Scope(tenant=TenantId("t"), collection="c")
LINE = re.compile(r"^([a-z]{2,3}) \*?([^:]+): (.*)$")


def said(*texts: str | tuple[str, str], said_at: datetime = MONDAY, zone: str = "UTC") -> Batch:
    """What Mara said, or others by name; the names of roles speak for themselves."""
    messages = [
        Message(
            id=MessageId(f"m{number}"),
            sequence=number,
            conversation="talk",
            role=Role(speaker) if speaker in set(Role) else Role.USER,
            speaker=speaker,
            content=text,
            said_at=said_at + timedelta(minutes=number),
            accepted_at=said_at,
            zone=zone,
        )
        for number, (speaker, text) in enumerate(map(_spoken, texts), start=1)
    ]
    segment = Segment(
        id=segment_id(messages[0].id), conversation="talk", topic="", messages=tuple(messages)
    )
    return Batch(scope=SCOPE, segments=(segment,))


def _spoken(text: str | tuple[str, str]) -> tuple[str, str]:
    return ("Mara", text) if isinstance(text, str) else text


def lines(request: ChatRequest) -> list[tuple[str, str, str]]:
    """Id, speaker and text of what a request shows."""
    found = [LINE.match(line) for line in request.user.splitlines()]
    return [(m[1], m[2], m[3]) for m in found if m]


def reply(*items: dict[str, object]) -> str:
    """A reply with these items."""
    return json.dumps({"items": items}, ensure_ascii=False)


def about(*texts: str, **more: object) -> Scripted:
    """A reply with these statements, all about the first message."""

    def told(request: ChatRequest) -> str:
        first = lines(request)[0][0]
        items: list[dict[str, object]] = [{"s": [first], "t": text, **more} for text in texts]
        return reply(*items)

    return told


def each_line(request: ChatRequest) -> str:
    """A statement for every line, in its own words."""
    items = [f"{id_} fact: {text}" for id_, _, text in lines(request)]
    return json.dumps({"items": items}, ensure_ascii=False)


def run(
    batch: Batch, *script: Scripted, attempts: int = 2, options: ExtractionOptions | None = None
) -> tuple[Extraction, ScriptedChat]:
    """What becomes of the batch, and the model that was asked."""
    chat = ScriptedChat(*script)
    limits = Limits(attempts=attempts, request_tokens=2000, reply_tokens=1000)
    extractor = ChatExtractor(chat=chat, tokenizer=FakeTokenizer(), limits=limits)
    found = asyncio.run(extractor.extract(batch, options=options or ExtractionOptions()))
    return found, chat


def texts(found: Extraction) -> list[str]:
    """The texts of the statements."""
    return [statement.text for statement in found.statements]


def set_aside(found: Extraction) -> list[str]:
    """The messages that gave nothing."""
    return [each.message for each in found.failed]


def calls(found: Extraction) -> tuple[int, int]:
    """How many calls there were, and how many of them repairs."""
    return sum(s.calls for s in found.spent), sum(s.repairs for s in found.spent)


def told(*lines_told: str) -> Scripted:
    """A reply with these lines, where ``<0>`` stands for the id of the first message shown."""

    def script(request: ChatRequest) -> str:
        ids = [id_ for id_, _, _ in lines(request)]
        items = list(lines_told)
        for place, id_ in enumerate(ids):
            items = [item.replace(f"<{place}>", id_) for item in items]
        return json.dumps({"items": items}, ensure_ascii=False)

    return script
