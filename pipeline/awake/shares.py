"""How many messages of each collection go into one step, so that nobody waits behind a crowd.

Knows nothing of leases and stores.
"""

from collections.abc import Mapping, Sequence

from pipeline.messages import Scope, TenantId

MOST_IN_STEP = 1_000
"""No step takes more accepted messages of one collection than this."""


def shares(waiting: Mapping[Scope, int], *, total: int) -> dict[Scope, int]:
    """Messages per collection, about ``total`` in all and none above what is waiting.

    Tenants share equally, then the collections of each; what one does not need goes to the
    others, but no tenant gets more than half while another one waits. A collection with waiting
    messages gets at least one.
    """
    of_tenant: dict[TenantId, list[Scope]] = {}
    for scope in waiting:
        of_tenant.setdefault(scope.tenant, []).append(scope)
    needs = [sum(waiting[scope] for scope in scopes) for scopes in of_tenant.values()]
    most = total if sum(need > 0 for need in needs) < 2 else total // 2
    found: dict[Scope, int] = {}
    for scopes, share in zip(of_tenant.values(), filled(needs, total, most), strict=True):
        parts = filled([waiting[scope] for scope in scopes], share, share)
        for scope, part in zip(scopes, parts, strict=True):
            found[scope] = max(part, min(1, waiting[scope]))
    return found


def filled(needs: Sequence[int], total: int, most: int) -> list[int]:
    """``total`` shared equally, none above its need or ``most``, the smallest served first."""
    given = [0] * len(needs)
    left = total
    order = sorted(range(len(needs)), key=lambda place: needs[place])
    for rank, place in enumerate(order):
        given[place] = min(needs[place], most, left // (len(order) - rank))
        left -= given[place]
    return given
