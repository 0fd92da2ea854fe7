"""Who calls: the tenant behind the key, and the collection inside that tenant."""

from typing import Annotated

from fastapi import Depends, Header, Path

from pipeline.errors import AccessError, InputError
from pipeline.messages import Scope, TenantId
from serve.service import Memory


class Caller:
    """Dependencies that turn a request's key and path into a tenant and a scope."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

        async def tenant(
            authorization: Annotated[str | None, Header(max_length=500)] = None,
        ) -> str:
            return await self._memory.tenant_of(_key(authorization))

        async def scope(
            collection: Annotated[str, Path(min_length=1, max_length=200)],
            found: Annotated[str, Depends(tenant)],
        ) -> Scope:
            if "\x00" in collection:
                raise InputError("must not contain NUL", field="collection")
            return Scope(tenant=TenantId(found), collection=collection)

        self.tenant = tenant
        self.scope = scope

    @staticmethod
    def known(tenant: str) -> TenantId:
        """The tenant as the domain names it."""
        return TenantId(tenant)


def _key(header: str | None) -> str | None:
    if header is None:
        return None
    kind, _, key = header.partition(" ")
    if kind.lower() != "bearer" or not key.strip():
        raise AccessError("expected `Authorization: Bearer <key>`", field="authorization")
    return key.strip()
