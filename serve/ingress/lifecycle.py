"""Routes of memory as a whole: erase, export, import, retention, reindex, check."""

import tempfile
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from actors.records.imports import Imported
from actors.records.retention import MOST_DAYS
from pipeline.errors import AccessError
from pipeline.ids import EntryId
from pipeline.messages import Scope
from pipeline.names import path_name
from pipeline.state import Difference
from pipeline.tenancy import KeyScope
from serve.gate import Identity
from serve.ingress.access import Caller
from serve.ingress.bodies import Id, PathName, Text
from serve.ingress.views import View
from serve.lifecycle import Lifecycle

_CHUNK_BYTES = 64 * 1024
NDJSON = "application/x-ndjson"

Sources = Literal["redact", "entries"]
"""What becomes of an erased entry's messages: redacted, or also their other entries erased."""


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RetentionIn(_Body):
    """How many days raw messages are kept; null for ever."""

    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] | None


class FsckIn(_Body):
    """What to check: one collection or all, and whether to repair what is derived."""

    collection: PathName | None = None
    repair: bool = False


class ImportedOut(View):
    """Rows per table that were added, and how many were there already."""

    added: dict[str, int]
    known: int

    @classmethod
    def of(cls, imported: Imported) -> Self:
        """The import's view."""
        return cls(added=dict(imported.added), known=imported.known)


class RetentionOut(View):
    """How many days raw messages are kept; null for ever."""

    days: int | None


class RedactedOut(View):
    """How many messages were redacted."""

    redacted: int


class ReindexOut(View):
    """How many points the index holds for the collection."""

    points: int


class DifferenceOut(View):
    """Something that does not agree."""

    collection: str
    kind: str
    subject: str
    detail: str
    repaired: bool

    @classmethod
    def of(cls, difference: Difference) -> Self:
        """The difference's view."""
        return cls(
            collection=difference.scope.collection,
            kind=difference.kind,
            subject=difference.subject,
            detail=difference.detail,
            repaired=difference.repaired,
        )


class FsckOut(View):
    """Everything that does not agree; empty where all does."""

    differences: list[DifferenceOut]


def lifecycle_routes(lifecycle: Lifecycle, caller: Caller) -> APIRouter:
    """Every route of this module."""
    routes = APIRouter(prefix="/v1")
    _erase(routes, lifecycle, caller)
    _move(routes, lifecycle, caller)
    _keep(routes, lifecycle, caller)
    _check(routes, lifecycle, caller)
    return routes


def _erase(routes: APIRouter, lifecycle: Lifecycle, caller: Caller) -> None:
    @routes.delete("/entries/{entry}", tags=["erasure"])
    async def erase_entry(
        entry: Id,
        tenant: Annotated[str, Depends(caller.tenant)],
        sources: Annotated[Sources, Query()] = "redact",
    ) -> dict[str, int]:
        return await lifecycle.erase_entry(
            caller.known(tenant), EntryId(entry), siblings=sources == "entries"
        )

    @routes.delete("/collections/{collection}/conversations/{name:path}", tags=["erasure"])
    async def erase_conversation(
        name: Annotated[Text, Path(min_length=1, max_length=500)],
        scope: Annotated[Scope, Depends(caller.scope)],
    ) -> dict[str, int]:
        named = path_name(name, field="conversation")
        return await lifecycle.erase_conversation(scope, named)

    @routes.delete("/collections/{collection}", tags=["erasure"])
    async def erase_collection(scope: Annotated[Scope, Depends(caller.scope)]) -> dict[str, int]:
        return await lifecycle.erase_collection(scope)

    @routes.delete("/tenants/{name}", tags=["erasure"])
    async def erase_tenant(
        name: Id, who: Annotated[Identity, Depends(caller.identity)]
    ) -> dict[str, int]:
        if name != who.tenant and not who.is_operator:
            raise AccessError(
                "expected the tenant of the key, or an operator's key", status=403, field="tenant"
            )
        return await lifecycle.erase_tenant(caller.known(name))


def _move(routes: APIRouter, lifecycle: Lifecycle, caller: Caller) -> None:
    @routes.get("/collections/{collection}/export", tags=["export"])
    async def export_collection(
        scope: Annotated[Scope, Depends(caller.scope)],
    ) -> StreamingResponse:
        lines = await lifecycle.export(scope)
        return StreamingResponse(_joined(lines), media_type=NDJSON)

    @routes.post("/collections/{collection}/import", tags=["export"])
    async def import_collection(
        request: Request, scope: Annotated[Scope, Depends(caller.scope)]
    ) -> ImportedOut:
        with tempfile.TemporaryFile() as file:
            async for some in request.stream():
                file.write(some)
            return ImportedOut.of(await lifecycle.load(scope, file))


def _joined(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines in pieces worth sending."""
    held = bytearray()
    for line in lines:
        held += line
        if len(held) >= _CHUNK_BYTES:
            yield bytes(held)
            held.clear()
    yield bytes(held)


def _keep(routes: APIRouter, lifecycle: Lifecycle, caller: Caller) -> None:
    @routes.get("/retention", tags=["retention"])
    async def get_retention(tenant: Annotated[str, Depends(caller.tenant)]) -> RetentionOut:
        return RetentionOut(days=await lifecycle.retention_days(caller.known(tenant)))

    @routes.put("/retention", tags=["retention"])
    async def put_retention(
        body: RetentionIn, tenant: Annotated[str, Depends(caller.tenant)]
    ) -> RetentionOut:
        await lifecycle.keep(caller.known(tenant), body.days)
        return RetentionOut(days=body.days)

    @routes.post("/retention/run", tags=["retention"])
    async def run_retention(tenant: Annotated[str, Depends(caller.tenant)]) -> RedactedOut:
        return RedactedOut(redacted=await lifecycle.redact_old(caller.known(tenant)))


def _check(routes: APIRouter, lifecycle: Lifecycle, caller: Caller) -> None:
    @routes.post("/collections/{collection}/reindex", tags=["check"])
    async def reindex(scope: Annotated[Scope, Depends(caller.scope)]) -> ReindexOut:
        return ReindexOut(points=await lifecycle.reindex(scope))

    @routes.post("/fsck", tags=["check"])
    async def fsck(
        who: Annotated[Identity, Depends(caller.identity)], body: FsckIn | None = None
    ) -> FsckOut:
        asked = body or FsckIn()
        if asked.repair:
            who.must(KeyScope.INGEST)
        found = await lifecycle.fsck(who.tenant, asked.collection, repair=asked.repair)
        return FsckOut(differences=[DifferenceOut.of(each) for each in found])
