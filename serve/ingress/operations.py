"""Routes beside remembering: tenants and keys, how far ingestion is, and quarantine."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from pipeline.errors import AccessError, NotFound
from pipeline.ids import MessageId
from pipeline.messages import TenantId
from pipeline.tenancy import (
    IngestReport,
    KeyInfo,
    KeyScope,
    QuarantineItem,
    QuarantineState,
    Quotas,
    TenantInfo,
)
from pipeline.usage import Usage, total
from serve.gate import Identity
from serve.ingress.access import Caller
from serve.ingress.bodies import Body, Id, Name, Text
from serve.ingress.views import Instant, MessageOut, View
from serve.operations import DEFAULT_LABEL, NewKey, Operations

_YEAR_S = 366 * 86_400
Limit = Annotated[int, Field(ge=1, le=1_000_000_000)]


class QuotasIn(Body):
    """Quotas of one tenant: left out stays as it is, null is no limit."""

    messages_per_minute: Limit | None = None
    stored_entries: Limit | None = None
    lag_messages: Limit | None = None

    @property
    def named(self) -> dict[str, int | None]:
        """Those that the request names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class TenantIn(Body):
    """A new tenant; its key gets ingest, read and sleep unless other scopes are named."""

    name: str
    scopes: list[KeyScope] = Field(default_factory=list)
    quotas: QuotasIn = QuotasIn()


class RotateIn(Body):
    """A new key in the place of those of the label; ``scopes`` as before where left out."""

    label: Name = DEFAULT_LABEL
    scopes: list[KeyScope] | None = None
    grace_s: Annotated[float, Field(ge=0, le=_YEAR_S, allow_inf_nan=False)] = 0.0


class KeyOut(View):
    """A key without its secret."""

    id: str
    label: str
    scopes: list[str]
    created_at: Instant
    expires_at: Instant | None
    revoked_at: Instant | None
    last_used_at: Instant | None

    @classmethod
    def of(cls, key: KeyInfo) -> Self:
        """The key's view."""
        return cls(
            id=key.id,
            label=key.label,
            scopes=sorted(key.scopes),
            created_at=key.created_at,
            expires_at=key.expires_at,
            revoked_at=key.revoked_at,
            last_used_at=key.last_used_at,
        )


class NewKeyOut(View):
    """A key with its secret, shown this once."""

    secret: str
    key: KeyOut

    @classmethod
    def of(cls, new: NewKey) -> Self:
        """The new key's view."""
        return cls(secret=new.secret, key=KeyOut.of(new.info))


class QuotasOut(View):
    """What a tenant may use; null is no limit."""

    messages_per_minute: int | None
    stored_entries: int | None
    lag_messages: int | None

    @classmethod
    def of(cls, own: Mapping[str, int | None], defaults: Quotas) -> Self:
        """The quotas in force."""
        found = defaults.with_own(own)
        return cls(
            messages_per_minute=found.messages_per_minute,
            stored_entries=found.stored_entries,
            lag_messages=found.lag_messages,
        )


class TenantOut(View):
    """A tenant with the quotas in force and its keys."""

    name: str
    created_at: Instant
    disabled_at: Instant | None
    quotas: QuotasOut
    keys: list[KeyOut]

    @classmethod
    def of(cls, info: TenantInfo, defaults: Quotas) -> Self:
        """The tenant's view."""
        return cls(
            name=info.name,
            created_at=info.created_at,
            disabled_at=info.disabled_at,
            quotas=QuotasOut.of(info.quotas, defaults),
            keys=[KeyOut.of(key) for key in info.keys],
        )


class TenantsOut(View):
    """Tenants by name."""

    tenants: list[TenantOut]


class CreatedOut(View):
    """A new tenant and its first key."""

    tenant: TenantOut
    secret: str


class ReportOut(View):
    """How far a tenant's messages are; ``failures`` are those in quarantine by reason.

    ``fallbacks`` are those whose compression failed, by reason; they are kept whole. ``retrying``
    counts by reason the collections that wait for an endpoint; ``usage`` is the sum of all model
    calls made for the tenant.
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

    @classmethod
    def of(cls, report: IngestReport, age_s: float | None, usage: Sequence[Usage]) -> Self:
        """The report's view."""
        return cls(
            tenant=report.tenant,
            accepted=report.accepted,
            pending=report.pending,
            oldest_pending_age_s=age_s,
            extracted=report.extracted,
            quarantined=report.quarantined,
            dropped=report.dropped,
            failures=dict(report.failures),
            fallbacks=dict(report.fallbacks),
            retrying=dict(report.retrying),
            usage=total(each for each in usage if each.tenant == report.tenant),
        )


class IngestOut(View):
    """Ingestion per tenant, by name."""

    tenants: list[ReportOut]


class QuarantineItemOut(View):
    """A message in quarantine, or one that was: ``state`` is held, retried or dropped.

    ``raw`` is the beginning of a model's reply that could not be used.
    """

    collection: str
    message: MessageOut
    state: str
    reason: str
    raw: str | None
    quarantined_at: Instant
    settled_at: Instant | None
    settled_by: str | None

    @classmethod
    def of(cls, item: QuarantineItem) -> Self:
        """The item's view."""
        settled_at: datetime | None = item.settled_at
        return cls(
            collection=item.scope.collection,
            message=MessageOut.of(item.message),
            state=item.state.value,
            reason=item.reason,
            raw=item.raw,
            quarantined_at=item.quarantined_at,
            settled_at=settled_at,
            settled_by=item.settled_by,
        )


class QuarantineOut(View):
    """Messages by collection and sequence; the last one's id continues the list."""

    items: list[QuarantineItemOut]


def asked_tenant(asked: str | None, caller: Identity) -> TenantId:
    """The tenant that a caller looks at: the own one, or any for an operator.

    Raises:
        AccessError: another's, and the caller is no operator.
    """
    if asked is None or asked == caller.tenant:
        return caller.tenant
    if not caller.is_operator:
        raise AccessError(
            "expected a key with the scope admin for another tenant", status=403, field="tenant"
        )
    return TenantId(asked)


def tenant_routes(operations: Operations, caller: Caller) -> APIRouter:
    """Tenants and keys, for operators."""
    routes = APIRouter(prefix="/v1/tenants", tags=["tenants"])

    @routes.get("", dependencies=[Depends(caller.identity)])
    async def list_tenants() -> TenantsOut:
        found = await operations.tenants()
        return TenantsOut(tenants=[TenantOut.of(each, operations.defaults) for each in found])

    @routes.post("", status_code=201, dependencies=[Depends(caller.identity)])
    async def create(body: TenantIn) -> CreatedOut:
        tenant, new = await operations.create_tenant(
            body.name, quotas=body.quotas.named, scopes=body.scopes
        )
        return CreatedOut(tenant=TenantOut.of(tenant, operations.defaults), secret=new.secret)

    @routes.post("/{tenant}/keys", status_code=201, dependencies=[Depends(caller.identity)])
    async def rotate(tenant: Id, body: RotateIn | None = None) -> NewKeyOut:
        asked = body or RotateIn()
        new = await operations.rotate_key(
            TenantId(tenant), label=asked.label, scopes=asked.scopes, grace_s=asked.grace_s
        )
        return NewKeyOut.of(new)

    @routes.post("/{tenant}/disable")
    async def disable(tenant: Id, who: Annotated[Identity, Depends(caller.identity)]) -> TenantOut:
        return TenantOut.of(await operations.disable(TenantId(tenant), by=who), operations.defaults)

    @routes.post("/{tenant}/enable", dependencies=[Depends(caller.identity)])
    async def enable(tenant: Id) -> TenantOut:
        return TenantOut.of(await operations.enable(TenantId(tenant)), operations.defaults)

    @routes.patch("/{tenant}/quotas", dependencies=[Depends(caller.identity)])
    async def set_quotas(tenant: Id, body: QuotasIn) -> TenantOut:
        found = await operations.set_quotas(TenantId(tenant), body.named)
        return TenantOut.of(found, operations.defaults)

    return routes


def ingest_routes(operations: Operations, caller: Caller) -> APIRouter:
    """How far ingestion is."""
    routes = APIRouter(prefix="/v1/ingest", tags=["ingest"])

    @routes.get("")
    async def ingest(
        who: Annotated[Identity, Depends(caller.identity)],
        tenant: Annotated[Text | None, Query(max_length=63)] = None,
    ) -> IngestOut:
        only = None if tenant is None and who.is_operator else asked_tenant(tenant, who)
        reports = await operations.reports(only)
        if only is not None and not reports:
            raise NotFound(f"no tenant {only!r}", field="tenant")
        usage = await operations.usage(only)
        return IngestOut(
            tenants=[ReportOut.of(each, operations.age_s(each), usage) for each in reports]
        )

    return routes


def quarantine_routes(operations: Operations, caller: Caller) -> APIRouter:
    """Messages that could not be extracted."""
    routes = APIRouter(prefix="/v1/quarantine", tags=["ingest"])

    @routes.get("")
    async def items(
        who: Annotated[Identity, Depends(caller.identity)],
        collection: Annotated[Text | None, Query(max_length=200)] = None,
        state: QuarantineState = QuarantineState.HELD,
        after: Annotated[Text | None, Query(max_length=200)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> QuarantineOut:
        found = await operations.quarantine(
            who.tenant,
            state=state,
            collection=collection,
            after=None if after is None else MessageId(after),
            limit=limit,
        )
        return QuarantineOut(items=[QuarantineItemOut.of(item) for item in found])

    @routes.post("/{message}/retry")
    async def retry(
        message: Id, who: Annotated[Identity, Depends(caller.identity)]
    ) -> QuarantineItemOut:
        item = await operations.retry(who.tenant, MessageId(message), by=who)
        return QuarantineItemOut.of(item)

    @routes.post("/{message}/drop")
    async def drop(
        message: Id, who: Annotated[Identity, Depends(caller.identity)]
    ) -> QuarantineItemOut:
        item = await operations.drop(who.tenant, MessageId(message), by=who)
        return QuarantineItemOut.of(item)

    return routes
