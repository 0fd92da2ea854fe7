"""The Python client's other half: tenants and keys, how far ingestion is, and quarantine.

>>> with Operator("http://127.0.0.1:8430", key) as operator:          # doctest: +SKIP
...     created = operator.create_tenant("acme")
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict, cast

from pydantic import JsonValue

from serve.client import Client, quoted
from serve.replies import Message

_PAGE = 500


class Key(TypedDict):
    """A key without its secret."""

    id: str
    label: str
    scopes: list[str]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None


class NewKey(TypedDict):
    """A key with its secret, shown this once."""

    secret: str
    key: Key


class Tenant(TypedDict):
    """A tenant with the quotas in force (None is no limit) and its keys."""

    name: str
    created_at: str
    disabled_at: str | None
    quotas: dict[str, int | None]
    keys: list[Key]


class Created(TypedDict):
    """A new tenant and the secret of its first key."""

    tenant: Tenant
    secret: str


class Report(TypedDict):
    """How far a tenant's messages are; ``failures`` counts those in quarantine by reason.

    ``fallbacks`` counts those whose compression failed, by reason; they are kept whole.
    ``retrying`` counts the collections that wait for an endpoint, by reason; ``usage`` sums calls,
    repairs, tokens_in, tokens_out and refused.
    """

    tenant: str
    accepted: int
    pending: int
    oldest_pending_age_s: float | None
    extracted: int
    quarantined: int
    dropped: int
    failures: dict[str, int]
    fallbacks: dict[str, int]
    retrying: dict[str, int]
    usage: dict[str, int]


class UsageRow(TypedDict):
    """The model calls of a tenant on one day, for one purpose, by one model; None: no price."""

    tenant: str
    day: str
    purpose: str
    model: str
    calls: int
    repairs: int
    tokens_in: int
    tokens_out: int
    estimated: int
    refused: dict[str, int]
    cost: float | None


class QuarantineItem(TypedDict):
    """A message in quarantine, or one that was: ``state`` is held, retried or dropped."""

    collection: str
    message: Message
    state: str
    reason: str
    raw: str | None
    quarantined_at: str
    settled_at: str | None
    settled_by: str | None


class Operator(Client):
    """A client with the calls of operators and of those who look after a tenant."""

    def tenants(self) -> list[Tenant]:
        """All tenants, by name."""
        return cast(list[Tenant], self.call("GET", "/v1/tenants")["tenants"])

    def create_tenant(
        self,
        name: str,
        *,
        scopes: Sequence[str] = (),
        quotas: Mapping[str, int | None] | None = None,
    ) -> Created:
        """A new tenant; its key may ingest, read and sleep unless other scopes are named."""
        body: dict[str, JsonValue] = {
            "name": name,
            "scopes": list(scopes),
            "quotas": dict(quotas or {}),
        }
        return cast(Created, self.call("POST", "/v1/tenants", body=body))

    def rotate_key(
        self,
        tenant: str,
        *,
        label: str = "default",
        scopes: Sequence[str] | None = None,
        grace_s: float = 0.0,
    ) -> NewKey:
        """A new key in the place of those of the label, which work ``grace_s`` seconds more."""
        body: dict[str, JsonValue] = {
            "label": label,
            "scopes": None if scopes is None else list(scopes),
            "grace_s": grace_s,
        }
        return cast(NewKey, self.call("POST", _tenant(tenant, "keys"), body=body))

    def disable_tenant(self, tenant: str) -> Tenant:
        """The tenant, let in no more."""
        return cast(Tenant, self.call("POST", _tenant(tenant, "disable"), repeatable=True))

    def enable_tenant(self, tenant: str) -> Tenant:
        """The tenant, let in again."""
        return cast(Tenant, self.call("POST", _tenant(tenant, "enable"), repeatable=True))

    def set_quotas(self, tenant: str, quotas: Mapping[str, int | None]) -> Tenant:
        """The tenant with these quotas; what is not named stays, None is no limit."""
        path = _tenant(tenant, "quotas")
        return cast(Tenant, self.call("PATCH", path, body=dict(quotas), repeatable=True))

    def ingest_reports(self) -> list[Report]:
        """How far the messages of the caller's tenant are; of each tenant for an operator."""
        return cast(list[Report], self.call("GET", "/v1/ingest")["tenants"])

    def usage(
        self,
        *,
        tenant: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> list[UsageRow]:
        """Model calls per tenant, day, purpose and model; of each tenant for an operator.

        Args:
            since: the first day (2025-06-01), in UTC.
            until: the last day.
        """
        asked = {"tenant": tenant, "since": since, "until": until}
        query: dict[str, str | list[str]] = {k: v for k, v in asked.items() if v is not None}
        return cast(list[UsageRow], self.call("GET", "/v1/usage", query=query)["usage"])

    def quarantine(
        self, *, collection: str | None = None, state: str = "held"
    ) -> Iterator[QuarantineItem]:
        """Messages that could not be extracted, by collection and sequence, page by page."""
        query: dict[str, str | list[str]] = {"state": state, "limit": str(_PAGE)}
        if collection is not None:
            query["collection"] = collection
        while True:
            reply = self.call("GET", "/v1/quarantine", query=query)
            items = cast(list[QuarantineItem], reply["items"])
            yield from items
            if len(items) < _PAGE:
                return
            query["after"] = items[-1]["message"]["id"]

    def retry(self, message: str) -> QuarantineItem:
        """Sends a message in quarantine in again. Raises NotFound and Conflict."""
        return self._settle(message, "retry")

    def drop(self, message: str) -> QuarantineItem:
        """Leaves a message in quarantine unextracted for good. Raises NotFound and Conflict."""
        return self._settle(message, "drop")

    def _settle(self, message: str, verb: str) -> QuarantineItem:
        path = f"/v1/quarantine/{quoted(message, field='message')}/{verb}"
        return cast(QuarantineItem, self.call("POST", path))


def _tenant(name: str, what: str) -> str:
    return f"/v1/tenants/{quoted(name, field='tenant')}/{what}"
