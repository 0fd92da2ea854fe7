"""How far each tenant's messages are, from the counters of its collections and its quarantine."""

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    ScalarSelect,
    and_,
    func,
    literal_column,
    select,
    true,
)

from actors.records.engine import EVERY_TENANT, reading
from actors.records.failures import retrying
from actors.records.tables import collections, entries, leases, messages, quarantine, tenants
from pipeline.messages import MessageState, TenantId
from pipeline.tenancy import IngestReport

_Count = tuple[str | None, int]
"""A reason and how many messages have it."""

_OPEN = (MessageState.ACCEPTED, MessageState.WINDOWED, MessageState.SEGMENTED)
_REASONS = 20
_REASON_CHARS = 200

_HAS_PENDING = collections.c.pending > literal_column("0")
"""In the words of the partial index, so that a database knows it may use it."""


@retrying
class SqlBacklog:
    """What is still to do, over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def pending(self, tenant: TenantId) -> int:
        """Messages of the tenant that are neither extracted nor quarantined."""
        query = select(func.coalesce(func.sum(collections.c.pending), 0))
        query = query.where(collections.c.tenant == tenant, _HAS_PENDING)
        with reading(self._engine, tenant) as connection:
            return int(connection.execute(query).scalar_one())

    def stored_entries(self, tenant: TenantId) -> int:
        """Entries of the tenant in any status; reads its part of an index."""
        query = select(func.count()).select_from(entries).where(entries.c.tenant == tenant)
        with reading(self._engine, tenant) as connection:
            return int(connection.execute(query).scalar_one())

    def reports(self, tenant: TenantId | None = None) -> list[IngestReport]:
        """One report per tenant, or that of one; by name."""
        with reading(self._engine, tenant or EVERY_TENANT) as connection:
            names = select(tenants.c.name).order_by(tenants.c.name)
            if tenant is not None:
                names = names.where(tenants.c.name == tenant)
            sums = _sums(connection, tenant)
            oldest = _oldest(connection, tenant)
            held = _held(connection, tenant)
            whole = _whole(connection, tenant)
            retrying = _retrying(connection, tenant)
            return [
                _report(TenantId(name), sums, oldest, held, whole, retrying)
                for name in connection.execute(names).scalars()
            ]


def _mine(column: ColumnElement[str], tenant: TenantId | None) -> ColumnElement[bool]:
    return true() if tenant is None else column == tenant


def _sums(connection: Connection, tenant: TenantId | None) -> dict[str, tuple[int, int]]:
    own = collections.c.tenant
    query = (
        select(own, func.sum(collections.c.last_sequence), func.sum(collections.c.pending))
        .where(_mine(own, tenant))
        .group_by(own)
    )
    return {name: (int(all_), int(open_)) for name, all_, open_ in connection.execute(query)}


def _first(state: MessageState) -> ScalarSelect[Any]:
    """When the collection's first message in the state was accepted: one step into an index."""
    return (
        select(messages.c.accepted_at)
        .where(
            messages.c.tenant == collections.c.tenant,
            messages.c.collection == collections.c.name,
            messages.c.state == state.value,
        )
        .order_by(messages.c.sequence)
        .limit(1)
        .scalar_subquery()
    )


def _oldest(connection: Connection, tenant: TenantId | None) -> dict[str, datetime]:
    own = collections.c.tenant
    query = select(own, *(_first(state) for state in _OPEN)).where(_mine(own, tenant), _HAS_PENDING)
    found: dict[str, datetime] = {}
    for name, *times in connection.execute(query):
        for time in times:
            if time is not None and (name not in found or time < found[name]):
                found[name] = time
    return found


def _held(
    connection: Connection, tenant: TenantId | None
) -> dict[str, list[tuple[str | None, int]]]:
    """Per tenant the reasons of what is in quarantine; None stands for what was dropped."""
    own = quarantine.c.tenant
    is_it = and_(
        own == messages.c.tenant,
        quarantine.c.collection == messages.c.collection,
        quarantine.c.sequence == messages.c.sequence,
    )
    is_dropped = quarantine.c.dropped_at.is_not(None)
    query = (
        select(own, quarantine.c.reason, is_dropped, func.count())
        .join_from(quarantine, messages, is_it)
        .where(_mine(own, tenant), messages.c.state == MessageState.QUARANTINED.value)
        .group_by(own, quarantine.c.reason, is_dropped)
    )
    found: dict[str, list[_Count]] = {}
    for name, reason, dropped, count in connection.execute(query):
        found.setdefault(name, []).append((None if dropped else reason, int(count)))
    return found


def _whole(connection: Connection, tenant: TenantId | None) -> dict[str, list[_Count]]:
    """Per tenant why messages were kept whole; reads an index of those alone."""
    own = messages.c.tenant
    query = (
        select(own, messages.c.fallback, func.count())
        .where(_mine(own, tenant), messages.c.fallback.is_not(None))
        .group_by(own, messages.c.fallback)
    )
    found: dict[str, list[_Count]] = {}
    for name, reason, count in connection.execute(query):
        found.setdefault(name, []).append((reason, int(count)))
    return found


def _retrying(connection: Connection, tenant: TenantId | None) -> dict[str, dict[str, int]]:
    """Per tenant how many collections wait for an endpoint, by what it said."""
    own = leases.c.tenant
    query = (
        select(own, leases.c.failure, func.count())
        .where(_mine(own, tenant), leases.c.retry_at.is_not(None))
        .group_by(own, leases.c.failure)
    )
    found: dict[str, dict[str, int]] = {}
    for name, reason, count in connection.execute(query):
        short = (reason or "")[:_REASON_CHARS]
        of_tenant = found.setdefault(name, {})
        of_tenant[short] = of_tenant.get(short, 0) + int(count)
    return found


def _report(
    tenant: TenantId,
    sums: Mapping[str, tuple[int, int]],
    oldest: Mapping[str, datetime],
    held: Mapping[str, list[_Count]],
    whole: Mapping[str, list[_Count]],
    retrying: Mapping[str, Mapping[str, int]],
) -> IngestReport:
    accepted, pending = sums.get(tenant, (0, 0))
    reasons = held.get(tenant, [])
    return IngestReport(
        tenant=tenant,
        accepted=accepted,
        pending=pending,
        oldest_pending_at=oldest.get(tenant),
        quarantined=sum(count for reason, count in reasons if reason is not None),
        dropped=sum(count for reason, count in reasons if reason is None),
        failures=_frequent(reasons),
        fallbacks=_frequent(whole.get(tenant, [])),
        retrying=dict(itertools.islice(retrying.get(tenant, {}).items(), _REASONS)),
    )


def _frequent(reasons: Sequence[_Count]) -> dict[str, int]:
    """The most frequent reasons, cut short."""
    found: dict[str, int] = {}
    for reason, count in sorted(reasons, key=lambda pair: -pair[1]):
        if reason is not None and len(found) < _REASONS:
            short = reason[:_REASON_CHARS]
            found[short] = found.get(short, 0) + count
    return found
