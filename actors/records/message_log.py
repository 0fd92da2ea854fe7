"""Accepting messages: durable before ``accept`` returns, all or nothing."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Engine, select, update

from actors.records.acceptance import accept, collection_to_fill, earlier_reply, remember_reply
from actors.records.awake_load import segments_of
from actors.records.collection_info import info_of
from actors.records.engine import reading, writing
from actors.records.failures import retrying
from actors.records.quotas import begin_after_setting_back
from actors.records.rows import message_of
from actors.records.sql import chunks, find_collection, in_scope, is_collection
from actors.records.tables import collections, conversations, messages
from pipeline.awake.idle import idle_at
from pipeline.errors import LimitError, NotFound
from pipeline.ids import MessageId, digest
from pipeline.messages import DONE, Json, Message, NewMessage, Scope, Segment, TenantId
from pipeline.state import CollectionInfo


@retrying
class SqlMessageLog:
    """The ``MessageLog`` over a record store.

    Texts must be valid Unicode without NUL; whoever takes requests refuses the rest by name.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def accept(
        self,
        scope: Scope,
        messages: Sequence[NewMessage],
        *,
        now: datetime,
        idempotency_key: str | None = None,
        body_digest: str = "",
        messages_per_minute: int | None = None,
    ) -> list[Message]:
        """The accepted messages with ids and sequences, in order.

        A known (conversation, external id) or idempotency key gives the message accepted then.
        The first message makes the collection; keys count inside one collection.

        Raises:
            Conflict: the key or id came before with another body; nothing is stored.
            NotFound: there is no such tenant.
            AccessError: the tenant is disabled.
            LimitError, TooLarge: more new messages than its quota per minute, its own or else
                ``messages_per_minute``.
        """
        if not messages:
            return []
        quota = messages_per_minute
        try:
            return self._accept(scope, messages, now, idempotency_key, body_digest, quota)
        except LimitError:
            begin_after_setting_back(self._engine, scope.tenant, now)
            raise

    def _accept(
        self,
        scope: Scope,
        messages: Sequence[NewMessage],
        now: datetime,
        idempotency_key: str | None,
        body_digest: str,
        quota: int | None,
    ) -> list[Message]:
        with writing(self._engine, scope.tenant) as connection:
            row = collection_to_fill(connection, scope, now)
            if idempotency_key is None:
                return accept(
                    connection, scope, messages, row=row, now=now, messages_per_minute=quota
                )
            body = body_digest or digest(*(repr(message) for message in messages))
            reply = earlier_reply(connection, scope, idempotency_key, body)
            if reply is None:
                reply = accept(
                    connection, scope, messages, row=row, now=now, messages_per_minute=quota
                )
                sequences = [message.sequence for message in reply]
                remember_reply(connection, scope, idempotency_key, body, sequences, now)
            return reply

    def last_said_at(self, scope: Scope, conversation: str) -> datetime | None:
        """When the conversation's newest accepted message was said; None before the first."""
        query = select(conversations.c.last_said_at).where(
            in_scope(conversations, scope), conversations.c.name == conversation
        )
        with reading(self._engine, scope.tenant) as connection:
            said_at: datetime | None = connection.execute(query).scalar()
            return said_at

    def messages(
        self, scope: Scope, *, after: int = 0, limit: int = 1000, newest: bool = False
    ) -> list[Message]:
        """Messages by sequence, those above ``after``; with ``newest`` the last ``limit``."""
        order = messages.c.sequence.desc() if newest else messages.c.sequence
        query = select(messages).where(in_scope(messages, scope), messages.c.sequence > after)
        with reading(self._engine, scope.tenant) as connection:
            found = connection.execute(query.order_by(order).limit(limit)).all()
        rows = reversed(found) if newest else found
        return [message_of(row) for row in rows]

    def messages_by_id(self, scope: Scope, ids: Sequence[MessageId]) -> dict[MessageId, Message]:
        """The messages of these ids that exist in the scope."""
        found: dict[MessageId, Message] = {}
        with reading(self._engine, scope.tenant) as connection:
            for some in chunks(ids):
                query = select(messages).where(in_scope(messages, scope), messages.c.id.in_(some))
                rows = connection.execute(query)
                found.update({MessageId(row.id): message_of(row) for row in rows})
        return found

    def around(self, scope: Scope, conversation: str, sequence: int, *, most: int) -> list[Message]:
        """The message, at most ``most`` of its conversation before it and after it, by sequence."""
        place = messages.c.sequence
        mine = select(messages).where(
            in_scope(messages, scope), messages.c.conversation == conversation
        )
        until = mine.where(place <= sequence).order_by(place.desc()).limit(most + 1)
        since = mine.where(place > sequence).order_by(place).limit(most)
        with reading(self._engine, scope.tenant) as connection:
            before = [message_of(row) for row in connection.execute(until)]
            return [*reversed(before), *map(message_of, connection.execute(since))]

    def must_exist(self, tenant: TenantId, names: Sequence[str]) -> None:
        """Raises NotFound for the first of the names that is no collection of the tenant."""
        known: set[str] = set()
        with reading(self._engine, tenant) as connection:
            for some in chunks(names):
                query = select(collections.c.name).where(
                    collections.c.tenant == tenant, collections.c.name.in_(some)
                )
                known.update(connection.execute(query).scalars())
        for name in names:
            if name not in known:
                raise NotFound(f"no collection {name!r}", field="collection")

    def segments(self, scope: Scope) -> list[Segment]:
        """The collection's segments with their messages, by first sequence."""
        with reading(self._engine, scope.tenant) as connection:
            return list(segments_of(connection, scope))

    def request_flush(self, scope: Scope) -> int:
        """Asks that all accepted so far is extracted; returns the last sequence.

        Raises:
            NotFound: there is no such collection.
        """
        with writing(self._engine, scope.tenant) as connection:
            row = find_collection(connection, scope, lock=True)
            changes = {"flush_requested": row.last_sequence}
            if row.pending == 0:
                changes["flushed"] = row.last_sequence
            connection.execute(update(collections).where(is_collection(scope)).values(changes))
            return int(row.last_sequence)

    def request_end(self, scope: Scope, conversation: str) -> int:
        """Says that the conversation ended; returns its last sequence. It may go on all the same.

        Raises:
            NotFound: there is no such collection, or no such conversation in it.
        """
        named = (in_scope(conversations, scope), conversations.c.name == conversation)
        with writing(self._engine, scope.tenant) as connection:
            row = find_collection(connection, scope, lock=True)
            last = connection.execute(select(conversations.c.last_sequence).where(*named)).scalar()
            if last is None:
                raise NotFound(f"no conversation {conversation!r}", field="conversation")
            if row.pending > 0:
                change = update(conversations).where(*named).values(ending_through=last)
                connection.execute(change)
            return int(last)

    def flushed(self, scope: Scope) -> int:
        """The sequence up to which flushes are met. Raises NotFound."""
        with reading(self._engine, scope.tenant) as connection:
            return int(find_collection(connection, scope).flushed)

    def are_done(self, scope: Scope, ids: Sequence[MessageId]) -> bool:
        """Whether each of the ids that exists in the scope is extracted or quarantined."""
        done = [state.value for state in DONE]
        with reading(self._engine, scope.tenant) as connection:
            for some in chunks(ids):
                mine = (in_scope(messages, scope), messages.c.id.in_(some))
                open_ones = select(messages.c.id).where(*mine, messages.c.state.not_in(done))
                if connection.execute(open_ones.limit(1)).first() is not None:
                    return False
        return True

    def collection(self, scope: Scope) -> CollectionInfo:
        """How far the collection is. Raises NotFound."""
        with reading(self._engine, scope.tenant) as connection:
            row = find_collection(connection, scope)
            return info_of(connection, row)

    def settings(self, scope: Scope) -> Mapping[str, Json]:
        """The settings of the collection's own. Raises NotFound."""
        with reading(self._engine, scope.tenant) as connection:
            found: dict[str, Json] = find_collection(connection, scope).settings
            return found

    def settings_if_any(self, scope: Scope) -> Mapping[str, Json]:
        """The settings of the collection's own; none where there is no such collection."""
        with reading(self._engine, scope.tenant) as connection:
            query = select(collections.c.settings).where(is_collection(scope))
            found: dict[str, Json] | None = connection.execute(query).scalar()
            return found or {}

    def change_settings(
        self,
        scope: Scope,
        change: Callable[[Mapping[str, Json]], Mapping[str, Json]],
        *,
        now: datetime,
    ) -> Mapping[str, Json]:
        """Sets what ``change`` makes of the settings of its own; the collection is made if new.

        They hold from the next step on.

        Raises:
            NotFound: there is no such tenant.
        """
        with writing(self._engine, scope.tenant) as connection:
            row = collection_to_fill(connection, scope, now)
            after = dict(change(row.settings))
            values = {"settings": after, "idle_at": idle_at(after, row.last_accepted_at)}
            connection.execute(update(collections).where(is_collection(scope)).values(values))
            return after

    def collections(self, tenant: TenantId) -> list[CollectionInfo]:
        """All collections of the tenant, by name."""
        query = select(collections).where(collections.c.tenant == tenant)
        with reading(self._engine, tenant) as connection:
            rows = connection.execute(query).all()
            return sorted((info_of(connection, row) for row in rows), key=_name)


def _name(info: CollectionInfo) -> str:
    return info.scope.collection
