"""What the tests of the record store and of the index say and read."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from actors.records import Records
from actors.records.engine import EVERY_TENANT, reading
from actors.records.tables import METADATA
from pipeline.entries import Kind, Statement
from pipeline.ids import EntryId, entry_id, segment_id
from pipeline.messages import Message, NewMessage, Role, Scope, Segment
from pipeline.state import AwakeCommit, Compressed, Lease, StoredStatement

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
EAST = np.array([1.0, 0.0], dtype=np.float32)
HERON = "Ola's heron is Quetzalwing."
HERON_ZH = "Ola 的鹭叫翡翠羽。"


def said(content: str, *, conversation: str = "chat", at: int = 0, **other: object) -> NewMessage:
    return NewMessage(
        conversation=conversation,
        role=Role.USER,
        speaker="Ola",
        content=content,
        said_at=NOON + timedelta(minutes=at),
        **other,
    )


def step_of(scope: Scope, step: int, messages: list[Message]) -> AwakeCommit:
    """Every message in one segment, each an entry of its own words."""
    cut = Segment(
        id=segment_id(messages[0].id),
        conversation=messages[0].conversation,
        topic=messages[0].content,
        messages=tuple(messages),
    )
    return AwakeCommit(
        start_step=step,
        compressed={message.id: Compressed(text=message.content) for message in messages},
        segments=(cut,),
        extracted=(cut.id,),
        statements=tuple(statement(scope, message, cut.topic) for message in messages),
        model="tiny",
    )


def statement(scope: Scope, message: Message, topic: str) -> StoredStatement:
    return StoredStatement(
        id=entry_id(scope.tenant, scope.collection, message.id, 0),
        statement=Statement(
            text=message.content,
            kind=Kind.FACT,
            speaker="Ola",
            said_at=message.said_at,
            zone="UTC",
            language="en",
            sources=(message.id,),
            sequence=message.sequence,
            ordinal=0,
            topic=topic,
        ),
        vector=EAST,
    )


def lease(records: Records) -> Lease:
    [held] = records.awake.lease("w", limit=10, now=NOON, ttl_s=30, idle_s=60)
    return held


def load(records: Records, held: Lease):
    return records.awake.load(held, limit=2000, now=NOON, idle_s=60)


def remember(records: Records, scope: Scope, *contents: str, conversation: str = "chat") -> None:
    batch = [said(text, at=n, conversation=conversation) for n, text in enumerate(contents)]
    records.messages.accept(scope, batch, now=NOON)
    held = lease(records)
    state = load(records, held)
    assert records.awake.commit(held, step_of(scope, state.step, list(state.accepted)), now=NOON)
    records.awake.release([held])


def note(
    records: Records, scope: Scope, text: str, *, vector: NDArray[np.float32] = EAST
) -> EntryId:
    """One entry with a vector of its own, and a message that is not needed again."""
    [source] = records.messages.accept(scope, [said(text)], now=NOON)
    held = lease(records)
    noted = replace(statement(scope, source, ""), vector=vector)
    commit = AwakeCommit(
        start_step=load(records, held).step,
        quarantined={source.id: "not needed again"},
        statements=(noted,),
        model="tiny",
    )
    assert records.awake.commit(held, commit, now=NOON)
    records.awake.release([held])
    return noted.id


def entry_about(records: Records, scope: Scope, word: str) -> EntryId:
    [found] = [e.id for e in records.entries.entries(scope).entries if word in e.text]
    return found


def texts(records: Records, scope: Scope) -> list[str]:
    return [entry.text for entry in records.entries.entries(scope).entries]


def everything(records: Records) -> str:
    """Every value of every table."""
    with reading(records.engine, EVERY_TENANT) as connection:
        return repr([connection.execute(select(table)).all() for table in METADATA.sorted_tables])
