"""How messages are accepted, inside one transaction that holds the collection's row."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from actors.records.bulk import insert_rows, upsert
from actors.records.quotas import admit
from actors.records.rows import message_of, message_values
from actors.records.sql import (
    among,
    chunks,
    find_collection,
    in_place,
    in_scope,
    is_in_place,
    place_of,
)
from actors.records.tables import (
    collections,
    conversations,
    idempotency,
    leases,
    messages,
    tenants,
)
from actors.records.tombstones import MARKS, erased_before
from pipeline.awake.idle import idle_at
from pipeline.errors import Conflict, NotFound
from pipeline.ids import message_id
from pipeline.messages import Message, NewMessage, Scope

_External = tuple[str, str]
"""A conversation and the caller's id of a message in it."""

_REPLY = select(idempotency).where(in_place(idempotency), idempotency.c.key == bindparam("named"))
_KNOWN = select(messages).where(
    in_place(messages),
    messages.c.conversation == bindparam("said_in"),
    among(messages.c.external_id),
)
_ADVANCE = (
    update(collections)
    .where(is_in_place())
    .values(
        last_sequence=bindparam("last"),
        accepted=bindparam("to_walk"),
        pending=bindparam("open"),
        last_accepted_at=bindparam("at"),
        idle_at=bindparam("idle"),
        waiting_since=bindparam("since"),
    )
)


def collection_to_fill(connection: Connection, scope: Scope, now: datetime) -> Row[Any]:
    """The collection's row, locked, made on first use. Raises NotFound without a tenant."""
    try:
        return find_collection(connection, scope, lock=True)
    except NotFound:
        _create_collection(connection, scope, now)
        return find_collection(connection, scope, lock=True)


def _create_collection(connection: Connection, scope: Scope, now: datetime) -> None:
    known = connection.execute(select(tenants.c.name).where(tenants.c.name == scope.tenant))
    if known.first() is None:
        raise NotFound(f"no tenant {scope.tenant!r}", field="tenant")
    row: dict[str, Any] = {
        "tenant": scope.tenant,
        "name": scope.collection,
        "created_at": now,
        "settings": {},
    }
    lease: dict[str, Any] = {"tenant": scope.tenant, "collection": scope.collection}
    if (marks := erased_before(connection, scope)) is not None:
        # No id, step or epoch of an erased collection comes again: who holds one can write nothing.
        row |= {name: marks[name] for name in MARKS}
        row |= dict.fromkeys(("erased", "flushed"), marks["last_sequence"])
        lease |= {"epoch": marks["epoch"]}
    upsert(connection, collections, [row], changes=())
    upsert(connection, leases, [lease], changes=())


def earlier_reply(
    connection: Connection, scope: Scope, key: str, body: str
) -> list[Message] | None:
    """What the key was answered with, None for a new one. Raises Conflict on another body."""
    row = connection.execute(_REPLY, place_of(scope) | {"named": key}).first()
    if row is None:
        return None
    if row.body_digest != body:
        raise Conflict(
            f"idempotency key {key!r} came before with another body", field="Idempotency-Key"
        )
    return _by_sequences(connection, scope, row.reply)


def remember_reply(
    connection: Connection, scope: Scope, key: str, body: str, reply: list[int], now: datetime
) -> None:
    """Keeps the sequences that the key is answered with from now on."""
    row = {
        "tenant": scope.tenant,
        "collection": scope.collection,
        "key": key,
        "body_digest": body,
        "reply": reply,
        "created_at": now,
    }
    insert_rows(connection, idempotency, [row])


def _by_sequences(connection: Connection, scope: Scope, sequences: Sequence[int]) -> list[Message]:
    found: dict[int, Message] = {}
    for some in chunks(sequences):
        query = select(messages).where(in_scope(messages, scope), messages.c.sequence.in_(some))
        found.update({row.sequence: message_of(row) for row in connection.execute(query)})
    return [found[sequence] for sequence in sequences if sequence in found]


def accept(
    connection: Connection,
    scope: Scope,
    wanted: Sequence[NewMessage],
    *,
    row: Row[Any],
    now: datetime,
    messages_per_minute: int | None = None,
) -> list[Message]:
    """The messages with ids and sequences; those whose external id is known as they were.

    Only new ones count against the quota, which is ``messages_per_minute`` where the tenant has
    none of its own.

    Raises:
        Conflict: an external id came before with another content.
        AccessError, LimitError, TooLarge: as of ``admit``.
    """
    known = _known(connection, scope, wanted)
    accepted: list[Message] = []
    added: list[Message] = []
    for place, message in enumerate(wanted):
        external = _external(message)
        earlier = None if external is None else known.get(external)
        if earlier is None:
            earlier = _numbered(scope, message, row.last_sequence + len(added) + 1, now)
            added.append(earlier)
            if external is not None:
                known[external] = earlier
        else:
            _check_same(earlier, message, place)
        accepted.append(earlier)
    if added:
        quota = messages_per_minute
        admit(connection, scope.tenant, len(added), messages_per_minute=quota, now=now)
        _insert(connection, scope, added, row=row, now=now)
    return accepted


def _external(message: NewMessage) -> _External | None:
    return None if message.external_id is None else (message.conversation, message.external_id)


def _known(
    connection: Connection, scope: Scope, wanted: Sequence[NewMessage]
) -> dict[_External, Message]:
    ids: dict[str, set[str]] = {}
    for message in wanted:
        if message.external_id is not None:
            ids.setdefault(message.conversation, set()).add(message.external_id)
    found: dict[_External, Message] = {}
    for conversation, externals in ids.items():
        for some in chunks(sorted(externals)):
            these = {"said_in": conversation, "some": some}
            rows = connection.execute(_KNOWN, place_of(scope) | these)
            found.update({(conversation, row.external_id): message_of(row) for row in rows})
    return found


def _check_same(earlier: Message, message: NewMessage, place: int) -> None:
    if earlier.redacted_at is not None:
        return  # its words are gone, and a repeat does not bring them back
    told = ("role", "speaker", "content", *(("said_at",) if message.is_time_given else ()))
    for name in told:
        if getattr(earlier, name) != getattr(message, name):
            raise Conflict(
                f"message {message.external_id!r} of conversation {message.conversation!r} "
                f"came before with another {name}",
                field=f"messages[{place}].message_id",
            )


def _numbered(scope: Scope, message: NewMessage, sequence: int, now: datetime) -> Message:
    return Message(
        id=message_id(scope.tenant, scope.collection, sequence),
        sequence=sequence,
        conversation=message.conversation,
        role=message.role,
        speaker=message.speaker,
        content=message.content,
        said_at=message.said_at,
        accepted_at=now,
        zone=message.zone,
        external_id=message.external_id,
        metadata=message.metadata,
    )


def _insert(
    connection: Connection,
    scope: Scope,
    added: Sequence[Message],
    *,
    row: Row[Any],
    now: datetime,
) -> None:
    place = {"tenant": scope.tenant, "collection": scope.collection}
    newest = {message.conversation: message for message in added}
    threads = [
        {
            **place,
            "name": name,
            "created_at": now,
            "last_sequence": message.sequence,
            "last_said_at": message.said_at,
        }
        for name, message in newest.items()
    ]
    upsert(connection, conversations, threads, changes=("last_sequence", "last_said_at"))
    insert_rows(connection, messages, [place | message_values(message) for message in added])
    changes = {
        "last": added[-1].sequence,
        "to_walk": row.accepted + len(added),
        "open": row.pending + len(added),
        "at": now,
        "idle": idle_at(row.settings, now),
        "since": row.waiting_since if row.accepted else now,
    }
    connection.execute(_ADVANCE, place_of(scope) | changes)
