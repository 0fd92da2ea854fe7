"""When tenants sleep, as their rows say."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, func, select, update

from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.sleep_keeping import is_busy
from actors.records.tables import messages, tenants
from actors.records.tenants import find_tenant
from pipeline.messages import TenantId
from pipeline.sleep.windows import Schedule


@retrying
class SqlSchedules:
    """The schedules of a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def schedules(self, *, default: Schedule | None) -> dict[TenantId, Schedule]:
        """The schedule in force of every tenant that has one and is not switched off, by name."""
        query = select(tenants).where(tenants.c.disabled_at.is_(None)).order_by(tenants.c.name)
        with reading(self._engine, EVERY_TENANT) as connection:
            rows = connection.execute(query).all()
        found = {TenantId(row.name): schedule_of(row) or _in_zone(default, row) for row in rows}
        return {tenant: one for tenant, one in found.items() if one is not None}

    def schedule(self, tenant: TenantId) -> Schedule | None:
        """The tenant's schedule; None where it has none of its own. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            return schedule_of(find_tenant(connection, tenant))

    def in_force(self, tenant: TenantId, *, default: Schedule | None) -> Schedule | None:
        """The tenant's schedule, else the default in its zone. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            row = find_tenant(connection, tenant)
            return schedule_of(row) or _in_zone(default, row)

    def zone(self, tenant: TenantId) -> str:
        """The tenant's time zone. Raises NotFound."""
        with reading(self._engine, tenant) as connection:
            return str(find_tenant(connection, tenant).zone)

    def set_schedule(self, tenant: TenantId, schedule: Schedule | None) -> None:
        """Gives the tenant this schedule and its zone; None takes its own away. Raises NotFound."""
        with writing(self._engine, tenant) as connection:
            find_tenant(connection, tenant, lock=True)
            values = _values(schedule)
            connection.execute(update(tenants).where(tenants.c.name == tenant).values(**values))

    def last_message_at(self, tenant: TenantId) -> datetime | None:
        """When the tenant's newest message was accepted; None before the first one."""
        query = select(func.max(messages.c.accepted_at)).where(messages.c.tenant == tenant)
        with reading(self._engine, tenant) as connection:
            newest: datetime | None = connection.execute(query).scalar()
            return newest

    def is_busy(self, tenant: TenantId) -> bool:
        """Whether a run of the tenant is under way, previews apart."""
        with reading(self._engine, tenant) as connection:
            return is_busy(connection, tenant)


def schedule_of(row: Any) -> Schedule | None:
    """The schedule of a tenant's row."""
    if row.sleep_window is None:
        return None
    return Schedule(
        name=row.sleep_window,
        cron=row.sleep_cron,
        zone=row.zone,
        max_s=row.sleep_max_s,
        max_tokens=row.sleep_max_tokens,
        idle_s=row.sleep_idle_s,
    )


def _in_zone(default: Schedule | None, row: Any) -> Schedule | None:
    return None if default is None else replace(default, zone=row.zone)


def _values(schedule: Schedule | None) -> dict[str, object]:
    if schedule is None:
        names = ("sleep_window", "sleep_cron", "sleep_max_s", "sleep_max_tokens", "sleep_idle_s")
        return dict.fromkeys(names)
    return {
        "sleep_window": schedule.name,
        "sleep_cron": schedule.cron,
        "zone": schedule.zone,
        "sleep_max_s": schedule.max_s,
        "sleep_max_tokens": schedule.max_tokens,
        "sleep_idle_s": schedule.idle_s,
    }
