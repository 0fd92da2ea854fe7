"""The route of what model calls took."""

from datetime import date
from typing import Annotated, Self

from fastapi import APIRouter, Depends, Query

from pipeline.usage import Price, Usage, cost
from serve.gate import Identity
from serve.ingress.access import Caller
from serve.ingress.bodies import Text
from serve.ingress.operations import asked_tenant
from serve.ingress.views import View
from serve.operations import Operations


class UsageRowOut(View):
    """The answered calls of a tenant on one day (UTC), for one purpose, by one model.

    ``repairs`` are those of the calls that asked again, ``estimated`` those whose tokens the
    endpoint did not count; ``refused`` counts by reason what replies
    held and was not taken; ``cost`` is null for a model without a price in the settings.
    """

    tenant: str
    day: date
    purpose: str
    model: str
    calls: int
    repairs: int
    tokens_in: int
    tokens_out: int
    estimated: int
    refused: dict[str, int]
    cost: float | None

    @classmethod
    def of(cls, usage: Usage, prices: dict[str, Price]) -> Self:
        """The row's view."""
        return cls(
            tenant=usage.tenant,
            day=usage.day,
            purpose=usage.purpose,
            model=usage.model,
            calls=usage.calls,
            repairs=usage.repairs,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            estimated=usage.estimated,
            refused=dict(usage.refused),
            cost=cost(usage, prices),
        )


class UsageOut(View):
    """Usage by tenant, day, purpose and model."""

    usage: list[UsageRowOut]


def usage_routes(operations: Operations, caller: Caller) -> APIRouter:
    """What model calls took."""
    routes = APIRouter(prefix="/v1/usage", tags=["ingest"])

    @routes.get("")
    async def usage(
        who: Annotated[Identity, Depends(caller.identity)],
        tenant: Annotated[Text | None, Query(max_length=63)] = None,
        since: date | None = None,
        until: date | None = None,
    ) -> UsageOut:
        only = None if tenant is None and who.is_operator else asked_tenant(tenant, who)
        found = await operations.usage(only, since=since, until=until)
        prices = dict(operations.prices)
        return UsageOut(usage=[UsageRowOut.of(each, prices) for each in found])

    return routes
