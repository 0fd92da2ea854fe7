"""Search in one collection, and in several of the tenant."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends

from pipeline.messages import Scope, TenantId
from pipeline.names import path_name
from pipeline.recall.filters import parse_filter
from pipeline.recall.question import Question
from pipeline.text.times import time_of
from serve.ingress.access import Caller
from serve.ingress.bodies import AskIn, SearchIn, SearchManyIn
from serve.ingress.views import EntryOut, ExplainOut, HitOut, HitsOut, MessageOut
from serve.searching import Hit
from serve.service import Memory


def search_routes(memory: Memory, caller: Caller) -> APIRouter:
    """Entries that bear on a question."""
    routes = APIRouter(prefix="/v1", tags=["recall"])

    @routes.post("/collections/{collection}/search")
    async def search(body: SearchIn, scope: Annotated[Scope, Depends(caller.scope)]) -> HitsOut:
        return await _searched(memory, scope.tenant, [scope.collection], body)

    @routes.post("/search")
    async def search_many(
        body: SearchManyIn, tenant: Annotated[str, Depends(caller.tenant)]
    ) -> HitsOut:
        names = [path_name(name, field="collections") for name in body.collections]
        return await _searched(memory, caller.known(tenant), names, body)

    return routes


def question_of(body: AskIn, memory: Memory) -> Question:
    """The question that a request asks. Raises InputError."""
    return Question(
        text=body.query,
        kinds=tuple(body.kinds),
        where=None if body.filter is None else parse_filter(body.filter),
        as_of=None if body.as_of is None else time_of(body.as_of, field="as_of"),
        weights=replace(memory.searching.weights, **body.weights.model_dump(exclude_none=True)),
        min_score=body.min_score,
        rerank=body.rerank,
    )


def _search_of(body: SearchIn, memory: Memory) -> Question:
    return replace(
        question_of(body, memory),
        limit=body.limit,
        statuses=tuple(body.statuses),
        neighbours=body.neighbours,
    )


async def _searched(
    memory: Memory, tenant: TenantId, names: Sequence[str], body: SearchIn
) -> HitsOut:
    asked = memory.recalls.asked(tenant, names, body.query)
    hits = await memory.searching.search(tenant, names, _search_of(body, memory))
    return HitsOut(
        recall=memory.recalls.searched(asked, hits),
        hits=[_hit(hit, is_explained=body.explain) for hit in hits],
    )


def _hit(hit: Hit, *, is_explained: bool) -> HitOut:
    sources = {message.id: message for message in hit.sources}
    return HitOut(
        entry=EntryOut.of(hit.scope.collection, hit.entry, sources),
        score=hit.score.total,
        explain=_explain(hit) if is_explained else None,
        around=[MessageOut.of(message) for message in hit.around],
    )


def _explain(hit: Hit) -> ExplainOut:
    ranked, score = hit.ranked, hit.score
    return ExplainOut(
        match=score.match,
        strength=score.strength,
        recency=score.recency,
        rerank=score.rerank,
        dense_rank=ranked.dense_rank,
        dense_score=ranked.dense_score,
        lexical_rank=ranked.lexical_rank,
        lexical_score=ranked.lexical_score,
    )
