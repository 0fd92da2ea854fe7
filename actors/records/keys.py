"""API keys; a key itself is never stored, only its digest."""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row, or_, select, update

from actors.records.bulk import upsert
from actors.records.engine import EVERY_TENANT, reading, writing
from actors.records.failures import retrying
from actors.records.tables import keys, tenants
from pipeline.errors import AccessError, Conflict, NotFound
from pipeline.messages import TenantId
from pipeline.tenancy import Grant, KeyInfo, KeyScope

_ID_DIGITS = 12


@retrying
class SqlKeys:
    """Who may come in, over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(
        self,
        tenant: TenantId,
        key: str,
        *,
        scopes: Sequence[KeyScope],
        now: datetime,
        label: str = "",
        expires_at: datetime | None = None,
    ) -> KeyInfo:
        """Lets ``key`` act for the tenant within ``scopes``; a known key keeps its first row.

        Raises:
            NotFound: there is no such tenant.
            Conflict: the key belongs to another tenant.
        """
        row = {
            "tenant": tenant,
            "hash": digest_of(key),
            "label": label,
            "scopes": [scope.value for scope in scopes],
            "created_at": now,
            "expires_at": expires_at,
        }
        with writing(self._engine, EVERY_TENANT) as connection:
            _add(connection, row)
            return key_of(_row(connection, row["hash"]))

    def rotate(
        self,
        tenant: TenantId,
        key: str,
        *,
        label: str,
        scopes: Sequence[KeyScope] | None,
        grace_s: float,
        now: datetime,
    ) -> KeyInfo:
        """Puts ``key`` in the place of the tenant's keys of that label, which end.

        Args:
            scopes: of the new key; None takes those of the newest key it replaces.
            grace_s: seconds that the replaced keys still work.

        Raises:
            NotFound: no such tenant, or no key of that label while ``scopes`` are not given.
            Conflict: the key belongs to another tenant, or was revoked before.
        """
        with writing(self._engine, EVERY_TENANT) as connection:
            old = connection.execute(_working(tenant, label, now)).all()
            if not old and scopes is None:
                raise NotFound(f"tenant {tenant!r} has no key labelled {label!r}", field="label")
            granted = old[-1].scopes if scopes is None else [scope.value for scope in scopes]
            hashed = digest_of(key)
            row = {"tenant": tenant, "hash": hashed, "label": label, "scopes": granted}
            _add(connection, row | {"created_at": now, "expires_at": None})
            if (new := key_of(_row(connection, hashed))).revoked_at is not None:
                raise Conflict("this key was revoked before; choose another", field="key")
            _end(connection, [each for each in old if each.hash != hashed], grace_s, now)
            return new

    def revoke(self, tenant: TenantId, key: str, *, now: datetime) -> None:
        """Ends the key; doing it twice changes nothing."""
        mine = (keys.c.tenant == tenant, keys.c.hash == digest_of(key))
        with writing(self._engine, EVERY_TENANT) as connection:
            statement = update(keys).where(*mine, keys.c.revoked_at.is_(None))
            connection.execute(statement.values(revoked_at=now))

    def grant(self, key: str) -> Grant:
        """Whom the key acts for, if it is not revoked; the caller looks at its end.

        Raises:
            AccessError: the key is unknown or revoked.
        """
        wanted = digest_of(key)
        query = (
            select(keys, tenants.c.disabled_at)
            .join_from(keys, tenants, tenants.c.name == keys.c.tenant)
            .where(keys.c.hash == wanted)
        )
        with reading(self._engine, EVERY_TENANT) as connection:
            row = connection.execute(query).first()
        if row is None or not hmac.compare_digest(row.hash, wanted) or row.revoked_at is not None:
            raise AccessError("expected a valid key, got an unknown or revoked one", field="key")
        return Grant(tenant=TenantId(row.tenant), key=key_of(row), disabled_at=row.disabled_at)

    def touch(self, key: str, *, now: datetime, every_s: float) -> None:
        """Notes the use of the key, at most once in ``every_s`` seconds."""
        is_old = or_(
            keys.c.last_used_at.is_(None),
            keys.c.last_used_at <= now - timedelta(seconds=every_s),
        )
        with writing(self._engine, EVERY_TENANT) as connection:
            statement = update(keys).where(keys.c.hash == digest_of(key), is_old)
            connection.execute(statement.values(last_used_at=now))

    def has_operator(self, *, now: datetime) -> bool:
        """Whether a key that works carries the scope ``admin``."""
        query = select(keys.c.scopes).where(*_works(now))
        with reading(self._engine, EVERY_TENANT) as connection:
            held = connection.execute(query).scalars().all()
        return any(KeyScope.ADMIN.value in scopes for scopes in held)


def digest_of(key: str) -> str:
    """Keys are long and random, so one round is enough to make the digest useless to a thief."""
    return hashlib.sha256(key.encode()).hexdigest()


def key_of(row: Row[Any]) -> KeyInfo:
    """The key of a row of ``keys``."""
    return KeyInfo(
        id=row.hash[:_ID_DIGITS],
        label=row.label,
        scopes=frozenset(KeyScope(scope) for scope in row.scopes),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )


def _add(connection: Connection, row: dict[str, Any]) -> None:
    known = select(tenants.c.name).where(tenants.c.name == row["tenant"])
    if connection.execute(known).first() is None:
        raise NotFound(f"no tenant {row['tenant']!r}", field="tenant")
    holder = connection.execute(select(keys.c.tenant).where(keys.c.hash == row["hash"])).scalar()
    if holder not in (None, row["tenant"]):
        raise Conflict("the key belongs to another tenant", field="key")
    upsert(connection, keys, [row], changes=())


def _row(connection: Connection, hashed: object) -> Row[Any]:
    return connection.execute(select(keys).where(keys.c.hash == hashed)).one()


def _works(now: datetime) -> tuple[Any, ...]:
    return (
        keys.c.revoked_at.is_(None),
        or_(keys.c.expires_at.is_(None), keys.c.expires_at > now),
    )


def _working(tenant: TenantId, label: str, now: datetime) -> Any:
    mine = (keys.c.tenant == tenant, keys.c.label == label)
    return select(keys).where(*mine, *_works(now)).order_by(keys.c.created_at).with_for_update()


def _end(connection: Connection, old: Sequence[Row[Any]], grace_s: float, now: datetime) -> None:
    """Revokes them, or lets them expire after the grace; never later than they would have."""
    until = now + timedelta(seconds=grace_s)
    for row in old:
        values: dict[str, datetime] = {"revoked_at": now}
        if grace_s > 0:
            values = {"expires_at": until if row.expires_at is None else min(until, row.expires_at)}
        connection.execute(update(keys).where(keys.c.hash == row.hash).values(values))
