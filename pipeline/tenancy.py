"""Tenants, what their keys may do, how much they may send, and how far their messages are."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum

from pipeline.errors import InputError
from pipeline.messages import Json, Message, Scope, TenantId

_NAME = re.compile(r"[a-z0-9_-]{1,63}")


class KeyScope(StrEnum):
    """What a key may do; ``admin`` makes it an operator's, over all tenants."""

    INGEST = "ingest"
    READ = "read"
    SLEEP = "sleep"
    ERASE = "erase"
    ADMIN = "admin"


OWN_SCOPES = (KeyScope.INGEST, KeyScope.READ, KeyScope.SLEEP, KeyScope.ERASE)
"""What a tenant's first key may do."""


def tenant_name(name: str) -> TenantId:
    """The name as a tenant's: it travels in paths and settings, and ``*`` means all tenants.

    Raises:
        InputError: it is not 1 to 63 of a-z, 0-9, dash and underscore.
    """
    if _NAME.fullmatch(name) is None:
        raise InputError(
            f"expected 1 to 63 of a-z, 0-9, dash and underscore, got {name[:80]!r}", field="name"
        )
    return TenantId(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """What a tenant may use; None is no limit.

    ``lag_messages`` are accepted messages whose extraction is still to come.
    """

    messages_per_minute: int | None = None
    stored_entries: int | None = None
    lag_messages: int | None = None

    def with_own(self, own: Mapping[str, int | None]) -> "Quotas":
        """These, with a tenant's own in their place where it has some."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return Quotas(**{name: own.get(name, value) for name, value in values.items()})


def own_quotas(settings: Mapping[str, Json]) -> dict[str, int | None]:
    """The quotas that a tenant's settings name."""
    found = settings.get("quotas")
    if not isinstance(found, Mapping):
        return {}
    return {name: value for name, value in found.items() if value is None or isinstance(value, int)}


def refilled(tokens: float, *, capacity: int, elapsed_s: float) -> float:
    """The tokens of a bucket that fills once a minute; time that runs backwards adds none."""
    return min(float(capacity), tokens + max(0.0, elapsed_s) * capacity / 60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInfo:
    """A key without its secret; ``id`` is the beginning of its digest."""

    id: str
    label: str
    scopes: frozenset[KeyScope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantInfo:
    """A tenant with its own quotas and its keys, oldest first."""

    name: TenantId
    created_at: datetime
    disabled_at: datetime | None
    quotas: Mapping[str, int | None]
    keys: tuple[KeyInfo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Whom a key, or a call without one, acts for."""

    tenant: TenantId
    key: KeyInfo | None
    disabled_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """How far a tenant's messages are.

    ``accepted`` counts all ever accepted, erased ones too; ``failures`` the messages in quarantine
    by reason, the most frequent first; ``fallbacks`` those kept whole because their compression
    failed, in the same way; ``retrying`` the collections that wait for an endpoint that did not
    answer, by what it said.
    """

    tenant: TenantId
    accepted: int
    pending: int
    oldest_pending_at: datetime | None
    quarantined: int
    dropped: int
    failures: Mapping[str, int]
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    retrying: Mapping[str, int] = field(default_factory=dict)

    @property
    def extracted(self) -> int:
        """Messages that neither wait nor failed."""
        return self.accepted - self.pending - self.quarantined - self.dropped


class QuarantineState(StrEnum):
    """What became of a message that could not be extracted."""

    HELD = "held"
    RETRIED = "retried"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineItem:
    """A message in quarantine, or one that was, and by whom and when it was settled.

    ``raw`` is the beginning of the reply that could not be used, where there was one.
    """

    scope: Scope
    message: Message
    state: QuarantineState
    reason: str
    quarantined_at: datetime
    settled_at: datetime | None
    settled_by: str | None
    raw: str | None = None
