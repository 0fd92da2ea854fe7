"""Who calls and what they may do; keys are looked up once in a few seconds, not at every call."""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from actors.records.keys import SqlKeys, digest_of
from actors.records.tenants import SqlTenants
from pipeline.errors import AccessError, StoreError
from pipeline.messages import TenantId
from pipeline.ports import Clock
from pipeline.tenancy import Grant, KeyScope

log = logging.getLogger("slowwave.access")

LIFETIME_S = 2.0
"""How long a look-up counts: revoking a key works on every replica within this time."""

TOUCH_EVERY_S = 60.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who calls without a key: a tenant on the local profile, nobody elsewhere."""

    keys_required: bool
    default_tenant: TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whom a call acts for, what it may do, and its name where a change is noted."""

    tenant: TenantId
    scopes: frozenset[KeyScope]
    name: str

    @property
    def is_operator(self) -> bool:
        """Whether it may look at and change every tenant."""
        return KeyScope.ADMIN in self.scopes

    def must(self, *scopes: KeyScope) -> None:
        """Raises AccessError where it has none of the scopes."""
        if self.scopes.isdisjoint(scopes):
            held = ", ".join(sorted(self.scopes)) or "none"
            raise AccessError(
                f"expected a key with the scope {' or '.join(scopes)}, this one has {held}",
                status=403,
                field="key",
            )


class Recent(Generic[T]):
    """The newest answers to a question, each for a short time; the oldest leave first."""

    def __init__(self, clock: Clock, *, lifetime_s: float, size: int) -> None:
        self._clock = clock
        self._lifetime_s = lifetime_s
        self._size = size
        self._known: OrderedDict[str, tuple[datetime, T]] = OrderedDict()

    def get(self, name: str) -> T | None:
        """The answer, unless it is too old or unknown."""
        found = self._known.get(name)
        # A clock that was set back makes an answer old as well.
        is_fresh = found is not None and 0 <= self._age_s(found[0]) < self._lifetime_s
        return found[1] if found is not None and is_fresh else None

    def put(self, name: str, answer: T) -> None:
        """Keeps the answer from now on."""
        self._known[name] = (self._clock.now(), answer)
        self._known.move_to_end(name)
        if len(self._known) > self._size:
            self._known.popitem(last=False)

    def forget(self) -> None:
        """Knows nothing any more."""
        self._known.clear()

    def _age_s(self, then: datetime) -> float:
        return (self._clock.now() - then).total_seconds()


class Gate:
    """Turns keys into identities."""

    def __init__(self, *, tenants: SqlTenants, keys: SqlKeys, access: Access, clock: Clock) -> None:
        self._tenants = tenants
        self._keys = keys
        self._access = access
        self._clock = clock
        self._grants: Recent[Grant] = Recent(clock, lifetime_s=LIFETIME_S, size=10_000)
        # Kept apart, so that a flood of wrong keys drives no right one out.
        self._wrong: Recent[bool] = Recent(clock, lifetime_s=LIFETIME_S, size=1_000)
        self._touching: set[asyncio.Task[None]] = set()

    async def identity(self, key: str | None) -> Identity:
        """Whom the call acts for.

        Raises:
            AccessError: 401 without a key that works where one is needed, 403 for a tenant that is
                disabled.
        """
        if key is None:
            return await self._keyless()
        grant = await self._granted(key)
        if grant.key is None:
            raise AssertionError("a key's grant names the key")
        if grant.key.expires_at is not None and grant.key.expires_at <= self._clock.now():
            expired = grant.key.expires_at.isoformat()
            raise AccessError(f"the key expired at {expired}", field="key")
        _check_enabled(grant)
        name = f"key {grant.key.label or grant.key.id} of {grant.tenant}"
        return Identity(tenant=grant.tenant, scopes=grant.key.scopes, name=name)

    def forget(self) -> None:
        """Looks everything up anew, because keys or tenants changed."""
        self._grants.forget()
        self._wrong.forget()

    async def _keyless(self) -> Identity:
        if self._access.keys_required:
            raise AccessError("expected an API key in the Authorization header, got none")
        tenant = self._access.default_tenant
        grant = self._grants.get("")
        if grant is None:
            info = await asyncio.to_thread(self._tenants.tenant, tenant)
            grant = Grant(tenant=tenant, key=None, disabled_at=info.disabled_at)
            self._grants.put("", grant)
        _check_enabled(grant)
        return Identity(tenant=tenant, scopes=frozenset(KeyScope), name="a caller without a key")

    async def _granted(self, key: str) -> Grant:
        name = digest_of(key)
        if self._wrong.get(name):
            raise AccessError("expected a valid key, got an unknown or revoked one", field="key")
        grant = self._grants.get(name)
        if grant is not None:
            return grant
        try:
            grant = await asyncio.to_thread(self._keys.grant, key)
        except AccessError:
            self._wrong.put(name, True)
            raise
        self._grants.put(name, grant)
        self._touch(key, grant)
        return grant

    def _touch(self, key: str, grant: Grant) -> None:
        used_at = None if grant.key is None else grant.key.last_used_at
        if used_at is not None and (self._clock.now() - used_at).total_seconds() < TOUCH_EVERY_S:
            return
        task = asyncio.create_task(self._touched(key))
        self._touching.add(task)
        task.add_done_callback(self._touching.discard)

    async def _touched(self, key: str) -> None:
        now = self._clock.now()
        try:
            await asyncio.to_thread(self._keys.touch, key, now=now, every_s=TOUCH_EVERY_S)
        except StoreError as error:
            log.warning("the use of a key was not noted: %s", error)


def _check_enabled(grant: Grant) -> None:
    if grant.disabled_at is not None:
        raise AccessError(f"the tenant {grant.tenant!r} is disabled", status=403, field="tenant")
