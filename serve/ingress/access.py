"""Who calls: the tenant behind the key, what its key may do, and the collection it names."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Header, Path, Request

from pipeline.errors import AccessError, InputError
from pipeline.messages import Scope, TenantId
from pipeline.names import path_name
from pipeline.tenancy import KeyScope
from serve.gate import Gate, Identity

_COLLECTION = "/v1/collections/{collection}"

SCOPES: Mapping[tuple[str, str], KeyScope] = {
    ("POST", f"{_COLLECTION}/messages"): KeyScope.INGEST,
    ("POST", f"{_COLLECTION}/flush"): KeyScope.INGEST,
    ("PUT", f"{_COLLECTION}/settings"): KeyScope.INGEST,
    ("PATCH", f"{_COLLECTION}/settings"): KeyScope.INGEST,
    ("POST", f"{_COLLECTION}/search"): KeyScope.READ,
    ("POST", "/v1/search"): KeyScope.READ,
    ("POST", f"{_COLLECTION}/context"): KeyScope.READ,
    ("POST", f"{_COLLECTION}/answer"): KeyScope.READ,  # with store also for ingest
    ("PATCH", "/v1/entries/{entry}"): KeyScope.INGEST,
    ("POST", "/v1/entries/{entry}/restore"): KeyScope.INGEST,
    ("PUT", f"{_COLLECTION}/scratchpad/{{item}}"): KeyScope.INGEST,
    ("PATCH", f"{_COLLECTION}/scratchpad/{{item}}"): KeyScope.INGEST,
    ("DELETE", f"{_COLLECTION}/scratchpad/{{item}}"): KeyScope.INGEST,
    ("POST", "/v1/sleep/runs"): KeyScope.SLEEP,
    ("PUT", "/v1/sleep/schedule"): KeyScope.SLEEP,
    ("DELETE", "/v1/sleep/schedule"): KeyScope.SLEEP,
    ("POST", "/v1/sleep/runs/{run}/undo"): KeyScope.SLEEP,
    ("POST", "/v1/sleep/runs/{run}/redo"): KeyScope.SLEEP,
    ("POST", "/v1/quarantine/{message}/retry"): KeyScope.INGEST,
    ("POST", "/v1/quarantine/{message}/drop"): KeyScope.INGEST,
    ("GET", "/v1/tenants"): KeyScope.ADMIN,
    ("POST", f"{_COLLECTION}/conversations/{{name}}/end"): KeyScope.INGEST,
    ("DELETE", "/v1/entries/{entry}"): KeyScope.ERASE,
    ("DELETE", f"{_COLLECTION}/conversations/{{name}}"): KeyScope.ERASE,
    ("DELETE", _COLLECTION): KeyScope.ERASE,
    ("DELETE", "/v1/tenants/{name}"): KeyScope.ERASE,
    ("POST", f"{_COLLECTION}/import"): KeyScope.INGEST,
    ("POST", f"{_COLLECTION}/reindex"): KeyScope.INGEST,
    ("PUT", "/v1/retention"): KeyScope.ERASE,
    ("POST", "/v1/retention/run"): KeyScope.ERASE,
    ("POST", "/v1/fsck"): KeyScope.INGEST,
    ("PUT", "/v1/recalls/settings"): KeyScope.ERASE,
}
"""The scope that a route asks for; of the others GET asks for read, everything else for admin."""


_INSTEAD: Mapping[tuple[str, str], KeyScope] = {
    ("GET", "/v1/ingest"): KeyScope.ADMIN,
    ("POST", "/v1/fsck"): KeyScope.READ,  # which repairs nothing
}
"""Another scope that will do for a route."""


def needed_scope(method: str, path: str) -> KeyScope:
    """What a key must be allowed for the route of this template."""
    default = KeyScope.READ if method == "GET" else KeyScope.ADMIN
    return SCOPES.get((method, _plain(path)), default)


def _enough(method: str, path: str) -> list[KeyScope]:
    """The scopes of which a key must have one."""
    instead = _INSTEAD.get((method, _plain(path)))
    return [needed_scope(method, path), *([] if instead is None else [instead])]


def _plain(path: str) -> str:
    return path.replace(":path}", "}")


class Caller:
    """Dependencies that turn a request's key and path into an identity, a tenant and a scope."""

    def __init__(self, gate: Gate) -> None:
        async def identity(
            request: Request,
            authorization: Annotated[str | None, Header(max_length=500)] = None,
        ) -> Identity:
            found = await gate.identity(bearer(authorization))
            found.must(*_enough(request.method, request.scope["route"].path))
            return found

        async def tenant(found: Annotated[Identity, Depends(identity)]) -> str:
            return found.tenant

        async def scope(
            collection: Annotated[str, Path(min_length=1, max_length=200)],
            found: Annotated[Identity, Depends(identity)],
        ) -> Scope:
            if "\x00" in collection:
                raise InputError("must not contain NUL", field="collection")
            if "\ufffd" in collection:  # what a server makes of bytes that are not UTF-8
                raise InputError("expected a name in valid UTF-8", field="collection")
            named = path_name(collection, field="collection")
            return Scope(tenant=found.tenant, collection=named)

        self.identity = identity
        self.tenant = tenant
        self.scope = scope

    @staticmethod
    def known(tenant: str) -> TenantId:
        """The tenant as the domain names it."""
        return TenantId(tenant)


def bearer(header: str | None) -> str | None:
    """The key in an ``Authorization`` header, None without one. Raises AccessError."""
    if header is None:
        return None
    kind, _, key = header.partition(" ")
    if kind.lower() != "bearer" or not key.strip():
        raise AccessError("expected `Authorization: Bearer <key>`", field="authorization")
    return key.strip()
