"""Whether a tenant may send more now: how much of it waits for extraction, how much it stores.

Both are read from the record store at most once in a while per tenant and process. In between what
this process accepted counts on top, so one replica never goes past a limit by more than a request;
several may by what they accept within the second. The quota per minute is exact, in the store.
"""

import asyncio
from dataclasses import dataclass

from actors.records.backlog import SqlBacklog
from actors.records.tenants import SqlTenants
from pipeline.errors import LimitError
from pipeline.messages import TenantId
from pipeline.ports import Clock
from pipeline.tenancy import Quotas
from serve.gate import Recent

_LAG_S, _STORED_S = 1.0, 10.0
_LAG_RETRY_S, _STORED_RETRY_S = 5.0, 600.0


@dataclass(slots=True)
class _Lag:
    quotas: Quotas
    stored: int
    accepted_since: int = 0


class Backpressure:
    """Refuses messages of tenants that are over a limit."""

    def __init__(
        self, *, backlog: SqlBacklog, tenants: SqlTenants, defaults: Quotas, clock: Clock
    ) -> None:
        self._backlog = backlog
        self._tenants = tenants
        self._defaults = defaults
        self._lags: Recent[_Lag] = Recent(clock, lifetime_s=_LAG_S, size=10_000)
        self._entries: Recent[int] = Recent(clock, lifetime_s=_STORED_S, size=10_000)

    async def check(self, tenant: TenantId) -> None:
        """Returns when the tenant may send more. Raises LimitError, with the lag and the limit."""
        lag = self._lags.get(tenant) or await self._read(tenant)
        limit = lag.quotas.lag_messages
        if limit is not None and lag.stored + lag.accepted_since >= limit and lag.accepted_since:
            lag = await self._read(tenant)
        if limit is not None and lag.stored >= limit:
            raise LimitError(
                f"expected a lag below {limit} messages, {lag.stored} wait for extraction",
                retry_after_s=_LAG_RETRY_S,
                field="lag_messages",
                limit=limit,
                current=lag.stored,
            )
        await self._check_entries(tenant, lag.quotas.stored_entries)

    def accepted(self, tenant: TenantId, count: int) -> None:
        """Counts messages accepted here since the last look."""
        lag = self._lags.get(tenant)
        if lag is not None:
            lag.accepted_since += count

    def forget(self) -> None:
        """Looks everything up anew, because quotas changed."""
        self._lags.forget()
        self._entries.forget()

    async def _read(self, tenant: TenantId) -> _Lag:
        def read() -> _Lag:
            quotas = self._tenants.quotas(tenant, defaults=self._defaults)
            pending = 0 if quotas.lag_messages is None else self._backlog.pending(tenant)
            return _Lag(quotas, pending)

        lag = await asyncio.to_thread(read)
        self._lags.put(tenant, lag)
        return lag

    async def _check_entries(self, tenant: TenantId, limit: int | None) -> None:
        if limit is None:
            return
        stored = self._entries.get(tenant)
        if stored is None:
            stored = await asyncio.to_thread(self._backlog.stored_entries, tenant)
            self._entries.put(tenant, stored)
        if stored >= limit:
            raise LimitError(
                f"expected fewer than {limit} stored entries, got {stored}",
                retry_after_s=_STORED_RETRY_S,
                field="stored_entries",
                limit=limit,
                current=stored,
            )
