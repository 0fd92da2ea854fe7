"""Collections that tests let messages walk through, straight on the record store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from actors.records import Records
from pipeline.entries import Entry, Kind, Statement
from pipeline.ids import entry_id, segment_id
from pipeline.messages import Message, NewMessage, Role, Scope, Segment
from pipeline.state import AwakeCommit, AwakeState, Compressed, Lease, StoredStatement

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=10)
EAST = np.array([1.0, 0.0], dtype=np.float32)
NORTH = np.array([0.0, 1.0], dtype=np.float32)


def say(records: Records, scope: Scope, *contents: str, conversation: str = "chat") -> None:
    """Accepts the texts, a minute apart."""
    batch = [
        NewMessage(
            conversation=conversation,
            role=Role.USER,
            speaker="Ola",
            content=content,
            said_at=NOON + timedelta(minutes=n),
        )
        for n, content in enumerate(contents)
    ]
    records.messages.accept(scope, batch, now=NOON)


def take(
    records: Records, worker: str = "w", *, now: datetime = NOON, limit: int = 10
) -> list[Lease]:
    """The leases that a worker gets."""
    return records.awake.lease(worker, limit=limit, now=now, ttl_s=30, idle_s=60)


def load(records: Records, lease: Lease, *, now: datetime = NOON, limit: int = 100) -> AwakeState:
    """What a step under the lease begins with."""
    return records.awake.load(lease, limit=limit, now=now, idle_s=60)


def segment(messages: Sequence[Message]) -> Segment:
    """The messages as one segment."""
    return Segment(
        id=segment_id(messages[0].id),
        conversation=messages[0].conversation,
        topic="cats",
        messages=tuple(messages),
    )


def stored(
    scope: Scope, message: Message, text: str, *, ordinal: int = 0, vector=EAST, **other: object
) -> StoredStatement:
    """A statement of the message on its way to the store."""
    plain = Statement(
        text=text,
        kind=Kind.FACT,
        speaker="Ola",
        said_at=message.said_at,
        zone="UTC",
        language="en",
        sources=(message.id,),
        sequence=message.sequence,
        ordinal=ordinal,
    )
    return StoredStatement(
        id=entry_id(scope.tenant, scope.collection, message.id, ordinal),
        statement=replace(plain, **other),
        vector=vector,
    )


def whole_step(
    step: int, messages: Sequence[Message], statements: Sequence[StoredStatement] = ()
) -> AwakeCommit:
    """A step that takes the messages from acceptance to extraction."""
    cut = segment(messages)
    return AwakeCommit(
        start_step=step,
        compressed={message.id: Compressed(text="short") for message in messages},
        segments=(cut,),
        extracted=(cut.id,),
        statements=tuple(statements),
        model="tiny",
    )


def remember(records: Records, scope: Scope, content: str, text: str, **other: object) -> None:
    """Accepts a text and stores one statement of it."""
    say(records, scope, content)
    [lease] = take(records)
    state = load(records, lease)
    statement = stored(scope, state.accepted[0], text, **other)
    assert records.awake.commit(
        lease, whole_step(state.step, state.accepted, [statement]), now=NOON
    )
    records.awake.release([lease])


def entries(records: Records, scope: Scope) -> list[Entry]:
    """The collection's active entries."""
    return list(records.entries.entries(scope).entries)
