"""What an operator and a tenant do beside remembering: tenants, keys, lag and quarantine."""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from actors.records import Records
from pipeline.errors import Conflict, InputError
from pipeline.ids import MessageId
from pipeline.messages import TenantId
from pipeline.ports import Clock
from pipeline.tenancy import (
    OWN_SCOPES,
    IngestReport,
    KeyInfo,
    KeyScope,
    QuarantineItem,
    QuarantineState,
    Quotas,
    TenantInfo,
)
from pipeline.usage import Price, Usage
from serve.gate import Identity

T = TypeVar("T")

KEY_PREFIX = "sw_"
DEFAULT_LABEL = "default"


def new_key() -> str:
    """A key: 256 random bits behind a prefix that tells people and scanners what it is."""
    return KEY_PREFIX + secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key with its secret, which is shown this once."""

    secret: str
    info: KeyInfo


class Operations:
    """Administration and visibility, over the record store."""

    def __init__(
        self,
        *,
        records: Records,
        clock: Clock,
        defaults: Quotas,
        changed: Callable[[], None],
        prices: Mapping[str, Price] | None = None,
    ) -> None:
        """
        Args:
            changed: called after tenants, keys or quotas changed.
            prices: by model; the usage of others has no cost.
        """
        self._records = records
        self._clock = clock
        self._changed = changed
        self.defaults = defaults
        self.prices = prices or {}

    # Tenants and keys -----------------------------------------------------------------------

    async def tenants(self) -> list[TenantInfo]:
        """All tenants with their keys, by name."""
        return await asyncio.to_thread(self._records.tenants.infos)

    async def create_tenant(
        self, name: str, *, quotas: Mapping[str, int | None], scopes: Sequence[KeyScope]
    ) -> tuple[TenantInfo, NewKey]:
        """The new tenant and its first key. Raises InputError and Conflict."""
        granted = list(scopes) or list(OWN_SCOPES)

        def create() -> tuple[TenantInfo, NewKey]:
            now = self._clock.now()
            tenant = self._records.tenants.create(name, quotas=quotas, now=now)
            secret = new_key()
            info = self._records.keys.add(
                tenant.name, secret, scopes=granted, now=now, label=DEFAULT_LABEL
            )
            return self._records.tenants.tenant(tenant.name), NewKey(secret=secret, info=info)

        return await self._change(create)

    async def rotate_key(
        self, tenant: TenantId, *, label: str, scopes: Sequence[KeyScope] | None, grace_s: float
    ) -> NewKey:
        """A new key in the place of those of the label. Raises NotFound."""
        if scopes is not None and not scopes:
            raise InputError("expected at least one scope, got none", field="scopes")

        def rotate() -> NewKey:
            secret = new_key()
            info = self._records.keys.rotate(
                tenant, secret, label=label, scopes=scopes, grace_s=grace_s, now=self._clock.now()
            )
            return NewKey(secret=secret, info=info)

        return await self._change(rotate)

    async def disable(self, tenant: TenantId, *, by: Identity) -> TenantInfo:
        """The tenant, let in no more. Raises NotFound, and Conflict for the caller's own."""
        if tenant == by.tenant:
            raise Conflict(f"{tenant!r} is your own tenant, nobody could enable it", field="tenant")
        now = self._clock.now()
        return await self._change(lambda: self._records.tenants.disable(tenant, now=now))

    async def enable(self, tenant: TenantId) -> TenantInfo:
        """The tenant, let in again. Raises NotFound."""
        return await self._change(lambda: self._records.tenants.enable(tenant))

    async def set_quotas(self, tenant: TenantId, quotas: Mapping[str, int | None]) -> TenantInfo:
        """The tenant with these quotas; what is not named stays. Raises NotFound."""
        return await self._change(lambda: self._records.tenants.set_quotas(tenant, quotas))

    async def _change(self, write: Callable[[], T]) -> T:
        done = await asyncio.to_thread(write)
        self._changed()
        return done

    # How far it is --------------------------------------------------------------------------

    async def reports(self, tenant: TenantId | None) -> list[IngestReport]:
        """How far the messages of one tenant are, or of each."""
        return await asyncio.to_thread(self._records.backlog.reports, tenant)

    async def usage(
        self, tenant: TenantId | None, *, since: date | None = None, until: date | None = None
    ) -> list[Usage]:
        """What model calls took per tenant, day (UTC), purpose and model."""
        return await asyncio.to_thread(self._records.usage.usage, tenant, since=since, until=until)

    def age_s(self, report: IngestReport) -> float | None:
        """How long its oldest pending message has waited; None where none does."""
        if report.oldest_pending_at is None:
            return None
        return max(0.0, (self._clock.now() - report.oldest_pending_at).total_seconds())

    async def quarantine(
        self,
        tenant: TenantId,
        *,
        state: QuarantineState,
        collection: str | None,
        after: MessageId | None,
        limit: int,
    ) -> list[QuarantineItem]:
        """Messages of the tenant that could not be extracted, by collection and sequence."""
        return await asyncio.to_thread(
            self._records.quarantine.items,
            tenant,
            state=state,
            collection=collection,
            after=after,
            limit=limit,
        )

    async def retry(self, tenant: TenantId, message: MessageId, *, by: Identity) -> QuarantineItem:
        """Sends the message in again. Raises NotFound and Conflict."""
        now = self._clock.now()
        return await asyncio.to_thread(
            self._records.quarantine.retry, tenant, message, by=by.name, now=now
        )

    async def drop(self, tenant: TenantId, message: MessageId, *, by: Identity) -> QuarantineItem:
        """Leaves the message unextracted for good. Raises NotFound and Conflict."""
        now = self._clock.now()
        return await asyncio.to_thread(
            self._records.quarantine.drop, tenant, message, by=by.name, now=now
        )
