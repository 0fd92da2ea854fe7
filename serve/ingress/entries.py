"""Routes of one entry: read, correct, history."""

from typing import Annotated

from fastapi import APIRouter, Depends, Header

from pipeline.entries import EntryChange
from pipeline.errors import InputError
from pipeline.ids import EntryId
from serve.ingress.access import Caller
from serve.ingress.bodies import EntryPatch, Id
from serve.ingress.views import EntryOut, HistoryOut, VersionOut
from serve.service import Memory


def expected_version(header: str | None) -> int:
    """The version that If-Match names. Raises InputError."""
    if header is None:
        raise InputError("expected the version that was read, got no header", field="If-Match")
    digits = header.strip().removeprefix("W/").strip('"')
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise InputError("expected a version number", field="If-Match")
    return int(digits)


def entry_routes(memory: Memory, caller: Caller) -> APIRouter:
    """Read, correct and look back."""
    routes = APIRouter(prefix="/v1/entries", tags=["entries"])

    @routes.get("/{entry}")
    async def get_entry(entry: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> EntryOut:
        scope, found = await memory.entry(caller.known(tenant), EntryId(entry))
        return EntryOut.of(scope.collection, found, await memory.sources(scope, [found]))

    @routes.patch("/{entry}")
    async def patch_entry(
        entry: Id,
        body: EntryPatch,
        tenant: Annotated[str, Depends(caller.tenant)],
        if_match: Annotated[str | None, Header(max_length=50)] = None,
    ) -> EntryOut:
        scope, found = await memory.revise(
            caller.known(tenant),
            EntryId(entry),
            EntryChange(text=body.text, status=body.status, metadata=body.metadata),
            expected_version=expected_version(if_match),
        )
        return EntryOut.of(scope.collection, found, await memory.sources(scope, [found]))

    @routes.get("/{entry}/history")
    async def get_history(entry: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> HistoryOut:
        known = caller.known(tenant)
        scope, _ = await memory.entry(known, EntryId(entry))
        versions = await memory.history(known, EntryId(entry))
        sources = await memory.sources(scope, [version.entry for version in versions])
        return HistoryOut(
            versions=[VersionOut.of(scope.collection, each, sources) for each in versions]
        )

    return routes
