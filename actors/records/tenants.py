"""Tenants: made, listed, switched off and on, and what they may use."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, insert, select, update

from actors.records.bulk import upsert
from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.keys import key_of
from actors.records.tables import keys, tenants
from pipeline.errors import Conflict, NotFound
from pipeline.messages import TenantId
from pipeline.tenancy import Quotas, TenantInfo, own_quotas, tenant_name


@retrying
class SqlTenants:
    """The tenants of a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ensure_tenant(self, name: TenantId, now: datetime) -> None:
        """Makes the tenant; one that exists stays as it is. Raises InputError on a bad name."""
        known = tenant_name(name)
        row = {"name": known, "created_at": now, "settings": {}}
        with writing(self._engine, known) as connection:
            upsert(connection, tenants, [row], changes=())

    def create(self, name: str, *, quotas: Mapping[str, int | None], now: datetime) -> TenantInfo:
        """The new tenant, without a key.

        Raises:
            InputError: the name cannot be a tenant's.
            Conflict: there is one of that name.
        """
        new = tenant_name(name)
        with writing(self._engine, EVERY_TENANT) as connection:
            known = select(tenants.c.name).where(tenants.c.name == new)
            if connection.execute(known).first() is not None:
                raise Conflict(f"there is a tenant {new!r} already", field="name")
            row = {"name": new, "created_at": now, "settings": {"quotas": dict(quotas)}}
            connection.execute(insert(tenants).values(row))
        return self.tenant(new)

    def tenants(self) -> list[TenantId]:
        """The names of all tenants, sorted."""
        with reading(self._engine, EVERY_TENANT) as connection:
            return sorted(
                TenantId(name) for name in connection.execute(select(tenants.c.name)).scalars()
            )

    def infos(self) -> list[TenantInfo]:
        """All tenants with their keys, by name."""
        with reading(self._engine, EVERY_TENANT) as connection:
            rows = connection.execute(select(tenants).order_by(tenants.c.name)).all()
            held = connection.execute(select(keys).order_by(keys.c.created_at)).all()
        return [_info(row, [key for key in held if key.tenant == row.name]) for row in rows]

    def tenant(self, name: TenantId) -> TenantInfo:
        """One tenant with its keys. Raises NotFound."""
        with reading(self._engine, name) as connection:
            row = find_tenant(connection, name)
            mine = select(keys).where(keys.c.tenant == name).order_by(keys.c.created_at)
            return _info(row, connection.execute(mine).all())

    def quotas(self, name: TenantId, *, defaults: Quotas) -> Quotas:
        """What the tenant may use: its own, else the defaults. Raises NotFound."""
        with reading(self._engine, name) as connection:
            return defaults.with_own(own_quotas(find_tenant(connection, name).settings))

    def set_quotas(self, name: TenantId, changes: Mapping[str, int | None]) -> TenantInfo:
        """The tenant with these quotas as its own; what is not named stays. Raises NotFound."""
        with writing(self._engine, EVERY_TENANT) as connection:
            row = find_tenant(connection, name, lock=True)
            settings = {**row.settings, "quotas": {**own_quotas(row.settings), **changes}}
            _change(connection, name, settings=settings)
        return self.tenant(name)

    def disable(self, name: TenantId, *, now: datetime) -> TenantInfo:
        """The tenant, none of whose keys is let in from now on. Raises NotFound."""
        with writing(self._engine, EVERY_TENANT) as connection:
            row = find_tenant(connection, name, lock=True)
            if row.disabled_at is None:
                _change(connection, name, disabled_at=now)
        return self.tenant(name)

    def enable(self, name: TenantId) -> TenantInfo:
        """The tenant, let in again. Raises NotFound."""
        with writing(self._engine, EVERY_TENANT) as connection:
            find_tenant(connection, name, lock=True)
            _change(connection, name, disabled_at=None)
        return self.tenant(name)


def find_tenant(connection: Connection, name: TenantId, *, lock: bool = False) -> Row[Any]:
    """The tenant's row, locked until the transaction ends if asked. Raises NotFound."""
    query = select(tenants).where(tenants.c.name == name)
    # Rows that refer to the tenant may still be added meanwhile.
    query = query.with_for_update(key_share=True) if lock else query
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(f"no tenant {name!r}", field="tenant")
    return row


def _change(connection: Connection, name: TenantId, **values: Any) -> None:
    connection.execute(update(tenants).where(tenants.c.name == name).values(values))


def _info(row: Row[Any], held: Sequence[Row[Any]]) -> TenantInfo:
    return TenantInfo(
        name=TenantId(row.name),
        created_at=row.created_at,
        disabled_at=row.disabled_at,
        quotas=own_quotas(row.settings),
        keys=tuple(key_of(key) for key in held),
    )
