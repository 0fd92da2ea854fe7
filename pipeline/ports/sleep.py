"""When tenants sleep."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from pipeline.messages import TenantId
from pipeline.sleep.windows import Schedule


class Schedules(Protocol):
    """What a scheduler asks of the record store."""

    def schedules(self, *, default: Schedule | None) -> Mapping[TenantId, Schedule]:
        """The schedule in force of every tenant that has one and is not switched off, by name.

        The default is read in the tenant's zone.
        """
        ...

    def last_message_at(self, tenant: TenantId) -> datetime | None:
        """When the tenant's newest message was accepted; None before the first one."""
        ...

    def is_busy(self, tenant: TenantId) -> bool:
        """Whether a run of the tenant is under way, previews apart."""
        ...
