"""Tenants and their keys; a key itself is never stored, only its digest."""

import hashlib
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Engine, select, update
from sqlalchemy.exc import IntegrityError

from actors.records.engine import EVERY_TENANT, NO_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.sql import upsert
from actors.records.tables import keys, tenants
from pipeline.errors import AccessError, Conflict, InputError, NotFound
from pipeline.messages import TenantId


@retrying
class SqlTenants:
    """Who may come in, over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ensure_tenant(self, name: TenantId, now: datetime) -> None:
        """Makes the tenant; one that exists stays as it is.

        Raises:
            InputError: the name is one that transactions of all tenants or of none go by.
        """
        if name in (EVERY_TENANT, NO_TENANT):
            raise InputError(f"expected a tenant's name, got {name!r}", field="tenant")
        with writing(self._engine, name) as connection:
            row = {"name": name, "created_at": now, "settings": {}}
            upsert(connection, tenants, [row], changes=())

    def tenants(self) -> list[TenantId]:
        """All tenants, by name."""
        with reading(self._engine, EVERY_TENANT) as connection:
            return sorted(
                TenantId(name) for name in connection.execute(select(tenants.c.name)).scalars()
            )

    def add_key(
        self,
        tenant: TenantId,
        key: str,
        *,
        scopes: Sequence[str],
        now: datetime,
        label: str = "",
        expires_at: datetime | None = None,
    ) -> None:
        """Lets ``key`` act for the tenant within ``scopes``; a known key keeps its first row.

        Raises:
            NotFound: there is no such tenant.
            Conflict: the key belongs to another tenant.
        """
        row = {
            "tenant": tenant,
            "hash": _hash(key),
            "label": label,
            "scopes": list(scopes),
            "created_at": now,
            "expires_at": expires_at,
        }
        with writing(self._engine, tenant) as connection:
            known = select(tenants.c.name).where(tenants.c.name == tenant)
            if connection.execute(known).first() is None:
                raise NotFound(f"no tenant {tenant!r}", field="tenant")
            try:
                upsert(connection, keys, [row], changes=())
            except IntegrityError as exc:
                raise Conflict("the key belongs to another tenant", field="key") from exc

    def revoke_key(self, tenant: TenantId, key: str, *, now: datetime) -> None:
        """Ends the key; doing it twice changes nothing."""
        mine = (keys.c.tenant == tenant, keys.c.hash == _hash(key), keys.c.revoked_at.is_(None))
        with writing(self._engine, tenant) as connection:
            connection.execute(update(keys).where(*mine).values(revoked_at=now))

    def tenant_of_key(self, key: str, *, now: datetime) -> tuple[TenantId, frozenset[str]]:
        """The tenant that the key acts for, and within which scopes.

        Raises:
            AccessError: the key is unknown, revoked or expired.
        """
        with reading(self._engine, EVERY_TENANT) as connection:
            row = connection.execute(select(keys).where(keys.c.hash == _hash(key))).first()
        if row is None or row.revoked_at is not None:
            raise AccessError("expected a valid key, got an unknown or revoked one", field="key")
        if row.expires_at is not None and row.expires_at <= now:
            raise AccessError(f"the key expired at {row.expires_at.isoformat()}", field="key")
        return TenantId(row.tenant), frozenset(row.scopes)


def _hash(key: str) -> str:
    """Keys are long and random, so one round is enough to make the digest useless to a thief."""
    return hashlib.sha256(key.encode()).hexdigest()
