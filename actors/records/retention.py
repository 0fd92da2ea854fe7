"""How long raw messages are kept, and taking the words out of those kept long enough."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, func, select, update

from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.erased import (
    blank_quarantine,
    blank_topics,
    drop_raws,
    redact_messages,
    segments_of_messages,
)
from actors.records.sql import find_collection
from actors.records.tables import messages, tenants
from pipeline.errors import InputError, NotFound
from pipeline.messages import DONE, Scope, TenantId

MOST_DAYS = 36_500
"""A century: what is to stay longer is kept for ever."""

BATCH = 500
"""Messages redacted in one transaction."""

_SETTING = "retention_days"


class SqlRetention:
    """Retention over a record store: a tenant's setting ``retention_days``, None for ever."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def days(self, tenant: TenantId) -> int | None:
        """How many days after its acceptance a raw message is kept. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            return days_of(_settings(connection, tenant))

    def keep(self, tenant: TenantId, days: int | None) -> None:
        """Sets it. Raises InputError outside 1 to ``MOST_DAYS``, NotFound without the tenant."""
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise InputError(f"expected 1 to {MOST_DAYS} days, got {days}", field="days")
        with writing(self._engine, tenant) as connection:
            settings = dict(_settings(connection, tenant, lock=True))
            settings.pop(_SETTING, None)
            after = settings if days is None else settings | {_SETTING: days}
            connection.execute(
                update(tenants).where(tenants.c.name == tenant).values(settings=after)
            )

    def tenants(self) -> list[TenantId]:
        """The tenants that keep raw messages for a while only."""
        query = select(tenants.c.name, tenants.c.settings).order_by(tenants.c.name)
        with reading(self._engine, EVERY_TENANT) as connection:
            rows = connection.execute(query).all()
        return [TenantId(row.name) for row in rows if days_of(row.settings) is not None]

    def redact(self, tenant: TenantId, *, now: datetime) -> int:
        """Redacts one batch of messages kept long enough; how many, 0 when none is left.

        Only extracted and quarantined ones: what is not extracted yet is kept until it is.
        Labels of their segments, which are made of their words, go with them. Entries stay, and
        their sources point to messages without words. Doing it twice changes nothing.
        """
        with writing(self._engine, tenant) as connection:
            days = days_of(_settings(connection, tenant))
            if days is None:
                return 0
            found = _old(connection, tenant, now - timedelta(days=days))
            for scope, ids in found.items():
                find_collection(connection, scope, lock=True)
                redact_messages(connection, scope, ids, now=now)
                told = segments_of_messages(connection, scope, ids)
                blank_topics(connection, scope, sorted(told))
                blank_quarantine(connection, scope, ids)
                drop_raws(connection, scope)
            return sum(len(ids) for ids in found.values())

    def oldest_raw(self, tenant: TenantId) -> datetime | None:
        """When the oldest message that still has its words was accepted."""
        query = select(func.min(messages.c.accepted_at)).where(
            messages.c.tenant == tenant, messages.c.redacted_at.is_(None)
        )
        with reading(self._engine, tenant) as connection:
            oldest: datetime | None = connection.execute(query).scalar()
            return oldest


def _settings(connection: Connection, tenant: TenantId, *, lock: bool = False) -> dict[str, Any]:
    query = select(tenants.c.settings).where(tenants.c.name == tenant)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise NotFound(f"no tenant {tenant!r}", field="tenant")
    settings: dict[str, Any] = row.settings
    return settings


def days_of(settings: Mapping[str, Any]) -> int | None:
    """How many days a tenant's settings keep raw messages; None for ever."""
    days = settings.get(_SETTING)
    return days if isinstance(days, int) and days >= 1 else None


def _old(connection: Connection, tenant: TenantId, before: datetime) -> dict[Scope, list[str]]:
    query = (
        select(messages.c.collection, messages.c.id)
        .where(
            messages.c.tenant == tenant,
            messages.c.redacted_at.is_(None),
            messages.c.accepted_at < before,
            messages.c.state.in_([state.value for state in DONE]),
        )
        .order_by(messages.c.collection, messages.c.sequence)
        .limit(BATCH)
    )
    found: dict[Scope, list[str]] = {}
    for row in connection.execute(query):
        found.setdefault(Scope(tenant=tenant, collection=row.collection), []).append(row.id)
    return found
