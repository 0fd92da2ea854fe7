"""Whether a tenant may send as much as it does, decided in the transaction that accepts it.

The bucket of messages per minute lies in the tenant's row, so that it holds over any number of
ingress replicas; a tenant without that quota never locks the row.
"""

from datetime import datetime

from sqlalchemy import Connection, Engine, and_, select, update

from actors.records.engine import reading, writing
from actors.records.tables import tenants
from actors.records.tenants import find_tenant
from pipeline.errors import AccessError, LimitError, TooLarge
from pipeline.messages import TenantId
from pipeline.tenancy import own_quotas, refilled

_FIELD = "messages_per_minute"


def admit(
    connection: Connection,
    tenant: TenantId,
    count: int,
    *,
    messages_per_minute: int | None,
    now: datetime,
) -> None:
    """Takes ``count`` new messages from the tenant's bucket.

    Args:
        messages_per_minute: the quota of a tenant that has none of its own; None is no limit.

    Raises:
        AccessError: the tenant is disabled.
        LimitError: too many within a minute.
        TooLarge: more at once than a whole minute may hold.
    """
    row = find_tenant(connection, tenant)
    if row.disabled_at is not None:
        raise AccessError(f"the tenant {tenant!r} is disabled", status=403, field="tenant")
    quota = own_quotas(row.settings).get(_FIELD, messages_per_minute)
    if quota is None:
        return
    if count > quota:
        raise TooLarge(
            f"expected at most {quota} messages, the tenant's quota per minute, got {count}",
            field="messages",
        )
    left = _left(connection, tenant, quota, now)
    if count > left:
        raise LimitError(
            f"expected at most {quota} messages per minute, {int(left)} are left, got {count}",
            retry_after_s=(count - left) * 60.0 / quota,
            field=_FIELD,
            limit=quota,
            current=quota - int(left),
        )
    values = {"rate_tokens": left - count, "rate_filled_at": now}
    connection.execute(update(tenants).where(tenants.c.name == tenant).values(values))


def _left(connection: Connection, tenant: TenantId, quota: int, now: datetime) -> float:
    row = find_tenant(connection, tenant, lock=True)
    if row.rate_filled_at is None or row.rate_tokens is None:
        return float(quota)
    elapsed_s = (now - row.rate_filled_at).total_seconds()
    return refilled(row.rate_tokens, capacity=quota, elapsed_s=elapsed_s)


def begin_after_setting_back(engine: Engine, tenant: TenantId, now: datetime) -> None:
    """Lets a bucket that was last filled in the future fill from now on; else changes nothing.

    The clock was set back: until it is then again, nothing would come into the bucket. A refusal
    takes its transaction back, so this is one of its own.
    """
    is_ahead = and_(tenants.c.name == tenant, tenants.c.rate_filled_at > now)
    with reading(engine, tenant) as connection:
        if connection.execute(select(tenants.c.name).where(is_ahead)).first() is None:
            return
    with writing(engine, tenant) as connection:
        connection.execute(update(tenants).where(is_ahead).values(rate_filled_at=now))
