"""Routes of recalls: what was asked and returned, why, and what of it is kept."""

from typing import Annotated, Self

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from actors.records.retention import MOST_DAYS
from pipeline.ids import RecallId
from pipeline.names import path_name
from pipeline.recalls import KEPT_DAYS, KeptQuery, Reason, Recall, RecalledEntry, RecallKeeping
from serve.ingress.access import Caller
from serve.ingress.bodies import Body, Id, Text
from serve.ingress.views import EntryOut, Instant, MessageOut, View
from serve.recalls import Recalls


class RecallKeepingIn(Body):
    """What is kept of recalls: a digest of each question or its words, for so many days."""

    query: KeptQuery = KeptQuery.HASH
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = KEPT_DAYS


class RecallKeepingOut(View):
    """What is kept of recalls, and for how many days."""

    query: str
    days: int

    @classmethod
    def of(cls, keeping: RecallKeeping) -> Self:
        """The setting's view."""
        return cls(query=keeping.query.value, days=keeping.days)


class RecalledOut(View):
    """An entry that was returned, its version then, and its score where it was ranked."""

    entry: str
    collection: str
    version: int
    score: float | None

    @classmethod
    def of(cls, recalled: RecalledEntry) -> Self:
        """The entry's view."""
        return cls(
            entry=recalled.entry,
            collection=recalled.collection,
            version=recalled.version,
            score=recalled.score,
        )


class RecallOut(View):
    """One recall; ``query`` is null where only its digest is kept."""

    id: str
    kind: str
    created_at: Instant
    collections: list[str]
    query: str | None
    query_hash: str
    entries: list[RecalledOut]
    tokens: int
    seconds: float

    @classmethod
    def of(cls, recall: Recall) -> Self:
        """The recall's view."""
        return cls(
            id=recall.id,
            kind=recall.kind.value,
            created_at=recall.created_at,
            collections=list(recall.collections),
            query=recall.query,
            query_hash=recall.query_hash,
            entries=[RecalledOut.of(one) for one in recall.entries],
            tokens=recall.tokens,
            seconds=recall.seconds,
        )


class RecallsOut(View):
    """Recalls, newest first; the last one's id, as ``before``, continues the list."""

    recalls: list[RecallOut]


class ReasonOut(View):
    """Why an entry was returned: its text then; the entry and its messages as they are now.

    What was erased since is null, or missing among the messages.
    """

    recalled: RecalledOut
    text: str | None
    now: EntryOut | None
    messages: list[MessageOut]

    @classmethod
    def of(cls, reason: Reason) -> Self:
        """The reason's view."""
        sources = {message.id: message for message in reason.messages}
        now = reason.now
        return cls(
            recalled=RecalledOut.of(reason.recalled),
            text=reason.text,
            now=None if now is None else EntryOut.of(reason.recalled.collection, now, sources),
            messages=[MessageOut.of(message) for message in reason.messages],
        )


class WhyOut(View):
    """A recall and what each of its entries rests on."""

    recall: RecallOut
    reasons: list[ReasonOut]


def recalls_routes(recalls: Recalls, caller: Caller) -> APIRouter:
    """Recalls of a tenant."""
    routes = APIRouter(prefix="/v1/recalls", tags=["recall"])

    @routes.get("")
    async def list_recalls(
        tenant: Annotated[str, Depends(caller.tenant)],
        collection: Annotated[Text | None, Query(min_length=1, max_length=200)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        before: Annotated[Text | None, Query(max_length=200)] = None,
    ) -> RecallsOut:
        found = await recalls.recalls(
            caller.known(tenant),
            collection=None if collection is None else path_name(collection, field="collection"),
            limit=limit,
            before=None if before is None else RecallId(before),
        )
        return RecallsOut(recalls=[RecallOut.of(one) for one in found])

    @routes.get("/settings")
    async def get_keeping(tenant: Annotated[str, Depends(caller.tenant)]) -> RecallKeepingOut:
        return RecallKeepingOut.of(await recalls.keeping(caller.known(tenant)))

    @routes.put("/settings")
    async def put_keeping(
        body: RecallKeepingIn, tenant: Annotated[str, Depends(caller.tenant)]
    ) -> RecallKeepingOut:
        keeping = RecallKeeping(query=body.query, days=body.days)
        return RecallKeepingOut.of(await recalls.keep(caller.known(tenant), keeping))

    @routes.get("/{recall}")
    async def why(recall: Id, tenant: Annotated[str, Depends(caller.tenant)]) -> WhyOut:
        found, reasons = await recalls.why(caller.known(tenant), RecallId(recall))
        return WhyOut(
            recall=RecallOut.of(found), reasons=[ReasonOut.of(reason) for reason in reasons]
        )

    return routes
