"""Answers: a question, its context, and what the configured chat model makes of them."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pipeline.awake.normalise import RawMessage
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest, Spent
from pipeline.errors import InputError, MalformedReply
from pipeline.ids import MessageId
from pipeline.messages import RECALLED, Message, Role, Scope
from pipeline.ports import ChatModel
from pipeline.recall.answer import Answer, answer_of, answer_request, is_grounded, unknown
from pipeline.recall.forms import Form
from pipeline.recall.question import Question
from pipeline.settings import RecallSettings
from serve.contexts import Contexts, Recalled, Room

Store = Callable[[Scope, Sequence[RawMessage], str], Awaitable[list[Message]]]
"""Accepts messages of a conversation."""
Spend = Callable[[Scope, Spent], Awaitable[None]]
"""Records what a call took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its context, ready for the model; ``conversation`` where it is to be kept."""

    scope: Scope
    question: Question
    recalled: Recalled
    conversation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer, what the model took (None where it was not asked), and the messages it became."""

    answer: Answer
    reply: ChatReply | None = None
    stored: tuple[MessageId, ...] = ()


class Answering:
    """Answers questions to one tenant's collection per call."""

    def __init__(
        self,
        *,
        contexts: Contexts,
        store: Store,
        spend: Spend,
        chat: ChatModel | None,
        recall: RecallSettings,
    ) -> None:
        self._contexts = contexts
        self._store = store
        self._spend = spend
        self._chat = chat
        self._recall = recall

    async def asked(
        self,
        scope: Scope,
        question: Question,
        room: Room,
        form: Form | None = None,
        *,
        conversation: str | None = None,
    ) -> Asked:
        """The question with its context.

        Args:
            conversation: where question and answer are kept as messages; None keeps neither.

        Raises:
            InputError: no chat model is configured, or as a search.
            NotFound: as a search.
        """
        self._model()
        recalled = await self._contexts.of(scope, question, room, form)
        return Asked(scope=scope, question=question, recalled=recalled, conversation=conversation)

    async def told(self, asked: Asked) -> Told:
        """The answer. Raises as ChatModel and as acceptance do."""
        answer, reply = await self._answered(asked)
        stored: list[Message] = []
        if asked.conversation is not None:
            said = _exchange(asked.question.text, answer.text)
            stored = await self._store(asked.scope, said, asked.conversation)
        return Told(answer=answer, reply=reply, stored=tuple(one.id for one in stored))

    async def _answered(self, asked: Asked) -> tuple[Answer, ChatReply | None]:
        recalled, text = asked.recalled, asked.question.text
        may_know = is_grounded(
            text,
            relevances=recalled.relevances,
            notes=recalled.has_notes,
            pending=recalled.pending,
            floor=self._recall.answer_min_score,
        )
        if not recalled.context.text or not may_know:
            return unknown(recalled.language), None
        request = answer_request(
            asked.scope.tenant,
            text,
            recalled.context,
            language=recalled.language,
            max_tokens=self._recall.answer_tokens,
        )
        reply = await self._reply(asked.scope, request)
        return answer_of(reply.text, recalled.context, language=recalled.language), reply

    async def _reply(self, scope: Scope, request: ChatRequest) -> ChatReply:
        """The model's reply; it counts whatever was in it."""
        try:
            reply = await self._model().reply(request)
        except MalformedReply as error:
            if error.call is not None:
                await self._spend(scope, _spent(error.call))
            raise
        await self._spend(scope, _spent(reply))
        return reply

    def _model(self) -> ChatModel:
        if self._chat is None:
            raise InputError(
                "expected a service with a chat model, got one without: set chat in its settings "
                "(configs/openai.yaml shows how); context needs none",
                field="chat",
            )
        return self._chat


def _spent(reply: ChatReply) -> Spent:
    return Spent.nothing(ChatPurpose.ANSWER, reply.model).and_for(reply, is_repair=False)


_TAG = re.compile(r"\s?\[\d+\]")


def _exchange(question: str, answer: str) -> list[RawMessage]:
    """Question and answer as messages; the answer, which repeats memory, is marked as recalled."""
    return [
        RawMessage(index=0, role=Role.USER.value, content=question),
        RawMessage(
            index=1,
            role=Role.ASSISTANT.value,
            content=_TAG.sub("", answer),
            metadata={RECALLED: True},
        ),
    ]
