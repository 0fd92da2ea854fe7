"""Contexts over HTTP: what a model should read to answer a question."""

from typing import Annotated

from fastapi import APIRouter, Depends

from pipeline.messages import Scope
from pipeline.recall.placement import placed
from serve.contexts import Room
from serve.ingress.access import Caller
from serve.ingress.bodies import ContextIn
from serve.ingress.context_views import ContextOut
from serve.ingress.search import question_of
from serve.service import Memory


def context_routes(memory: Memory, caller: Caller) -> APIRouter:
    """The context of a question to one collection."""
    routes = APIRouter(prefix="/v1/collections", tags=["recall"])

    @routes.post("/{collection}/context")
    async def context(
        body: ContextIn, scope: Annotated[Scope, Depends(caller.scope)]
    ) -> ContextOut:
        asked = memory.recalls.asked(scope.tenant, [scope.collection], body.query)
        question = question_of(body, memory)
        recalled = await memory.context(scope, question, room_of(body), body.form)
        recall = memory.recalls.shown(asked, recalled.context, recalled.hits, recalled.others)
        prompt = placed(recalled.context, body.query, body.placement)
        return ContextOut.of(recalled, recall=recall, prompt=prompt)

    return routes


def room_of(body: ContextIn) -> Room:
    """The room that a request gives a context."""
    return Room(
        tokens=body.budget_tokens,
        working_memory_tokens=body.working_memory_tokens,
        episodic_tokens=body.episodic_tokens,
        instruction_tokens=body.instruction_tokens,
        scratchpad_tokens=body.scratchpad_tokens,
    )
