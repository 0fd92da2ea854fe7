"""Answers over HTTP, as server-sent events: what was recalled at once, then the answer.

The events are ``context``, then ``answer`` or ``error``. What is wrong with the request itself is
an ordinary reply with a status.
"""

import json
import logging
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse

from pipeline.errors import SlowwaveError
from pipeline.messages import Json, Scope
from pipeline.tenancy import KeyScope
from serve.answering import Answering, Asked, Told
from serve.gate import Identity
from serve.ingress.access import Caller
from serve.ingress.bodies import AnswerIn
from serve.ingress.context_views import ConflictOut, ContextOut, LineOut, line_of
from serve.ingress.contexts import room_of
from serve.ingress.search import question_of
from serve.ingress.views import View
from serve.service import Memory

log = logging.getLogger("slowwave")


class AnswerOut(View):
    """An answer: its text, whether memory held it, and the lines that it rests on.

    ``model`` is null where none was asked; ``messages`` are those that were kept.
    """

    text: str
    known: bool
    language: str
    citations: list[LineOut]
    conflicts: list[ConflictOut]
    context_tokens: int
    model: str | None
    tokens_in: int
    tokens_out: int
    messages: list[str]

    @classmethod
    def of(cls, asked: Asked, told: Told) -> "AnswerOut":
        """Its view."""
        recalled, reply = asked.recalled, told.reply
        return cls(
            text=told.answer.text,
            known=told.answer.is_known,
            language=recalled.language,
            citations=[line_of(cited, recalled.messages) for cited in told.answer.citations],
            conflicts=[ConflictOut.of(one, recalled.messages) for one in recalled.conflicts],
            context_tokens=recalled.context.tokens,
            model=None if reply is None else reply.model,
            tokens_in=0 if reply is None else reply.tokens_in,
            tokens_out=0 if reply is None else reply.tokens_out,
            messages=list(told.stored),
        )


def answer_routes(memory: Memory, caller: Caller) -> APIRouter:
    """The answer to a question, from one collection."""
    routes = APIRouter(prefix="/v1/collections", tags=["recall"])

    @routes.post(
        "/{collection}/answer",
        response_class=StreamingResponse,
        responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
    )
    async def answer(
        body: AnswerIn,
        scope: Annotated[Scope, Depends(caller.scope)],
        identity: Annotated[Identity, Depends(caller.identity)],
    ) -> StreamingResponse:
        if body.store:
            identity.must(KeyScope.INGEST)
        answering = memory.answering
        noted = memory.recalls.asked(scope.tenant, [scope.collection], body.query)
        asked = await answering.asked(
            scope,
            question_of(body, memory),
            room_of(body),
            body.form,
            conversation=body.conversation if body.store else None,
        )
        found = asked.recalled
        recall = memory.recalls.shown(noted, found.context, found.hits, found.others)
        events = _events(answering, asked, recall=recall)
        return StreamingResponse(events, media_type="text/event-stream")

    return routes


async def _events(answering: Answering, asked: Asked, *, recall: str) -> AsyncIterator[str]:
    yield _event("context", ContextOut.of(asked.recalled, recall=recall).model_dump(mode="json"))
    try:
        told = await answering.told(asked)
    except SlowwaveError as error:
        log.error("an answer failed: %s", error.message)
        yield _event("error", _error(error))
        return
    yield _event("answer", AnswerOut.of(asked, told).model_dump(mode="json"))


def _error(error: SlowwaveError) -> dict[str, Json]:
    """The error as a reply would have it, with the status that it comes too late for."""
    return {
        "error": {
            "type": type(error).__name__,
            "message": error.message.encode("utf-8", errors="backslashreplace").decode(),
            "field": error.field,
            "status": error.status,
        }
    }


def _event(name: str, document: Json) -> str:
    """One event; JSON on one line, since a line end would end the data."""
    return f"event: {name}\ndata: {json.dumps(document, ensure_ascii=True)}\n\n"
