"""The ``Chat`` deployment: one chat model per replica, whichever it is, and the room it is given.

A request travels as plain values: what crosses between processes says what it is by itself.
"""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from actors.chat_limits import ChatLimits, EndpointLimits
from actors.models import resolve
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest
from pipeline.errors import ConfigError
from pipeline.ports import ChatModel
from serve.chat_turns import Turns
from serve.handles import Handle, answer
from serve.loading import fake_calls, is_fake
from serve.settings import ChatSettings

log = logging.getLogger("slowwave.chat")

Row = dict[str, Any]
"""A request or a reply between two processes."""

_URGENT = (ChatPurpose.ANSWER, ChatPurpose.CAPTION)
"""What a person waits for."""


class Chat:
    """Asks the model that the settings name; many requests are in flight at once."""

    def __init__(
        self, *, settings: ChatSettings, models_dir: Path, limits: Handle | None = None
    ) -> None:
        """
        Args:
            limits: who keeps the endpoint's room for all replicas; None where this is the only one.
        """
        room = ServeLimits(limits) if limits is not None else limits_of(settings)
        self._model = load_chat(settings, models_dir=models_dir, limits=room)
        self._turns = Turns(settings.in_flight)

    async def reply(self, row: Row) -> Row:
        """The reply to a request, both as plain values. Raises as ChatModel does."""
        request = request_of(row)
        urgent = request.purpose in _URGENT
        async with self._turns.taken(request.tenant, is_urgent=urgent):
            return asdict(await self._model.reply(request))

    async def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def close(self) -> None:
        """Ends connections and engines; Serve ends the process a moment later in any case."""
        close = getattr(self._model, "close", None)
        if close is not None:
            ending = close()
            if ending is not None:
                await ending

    async def check_health(self) -> None:
        """Raises what ended an engine, so that Serve replaces the replica."""
        check = getattr(self._model, "check", None)
        if check is not None:
            await check()


class ChatRoom:
    """The room of the endpoint, kept in one place for all replicas of ``Chat``."""

    def __init__(self, *, settings: ChatSettings) -> None:
        self._limits = limits_of(settings)

    async def reserve(self, tokens: int, *, patience_s: float) -> float:
        """As ChatLimits says."""
        return await self._limits.reserve(tokens, patience_s=patience_s)

    async def settle(self, tokens: int) -> None:
        """As ChatLimits says."""
        await self._limits.settle(tokens)

    async def pause(self, seconds: float) -> None:
        """As ChatLimits says."""
        await self._limits.pause(seconds)


class ServeLimits:
    """Implements ChatLimits over the ``ChatRoom`` deployment."""

    def __init__(self, room: Handle) -> None:
        self._room = room

    async def reserve(self, tokens: int, *, patience_s: float) -> float:
        wait: float = await answer(self._room.reserve.remote(tokens, patience_s=patience_s))
        return wait

    async def settle(self, tokens: int) -> None:
        await answer(self._room.settle.remote(tokens))

    async def pause(self, seconds: float) -> None:
        await answer(self._room.pause.remote(seconds))


class ServeChat:
    """Implements ChatModel over the ``Chat`` deployment."""

    def __init__(self, chat: Handle, *, name: str) -> None:
        """
        Args:
            name: of the model, as the settings have it.
        """
        self._chat = chat
        self._name = name

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    async def reply(self, request: ChatRequest) -> ChatReply:
        """As ChatModel says; StoreError while no replica answers."""
        row: Row = await answer(self._chat.reply.remote(row_of(request)))
        return ChatReply(**row)


def chat_model(settings: ChatSettings | None, chat: Handle | None) -> ChatModel | None:
    """The chat model of these settings behind its deployment; None where there is none."""
    if settings is None or chat is None:
        return None
    return ServeChat(chat, name=settings.name)


def row_of(request: ChatRequest) -> Row:
    """The request as plain values."""
    schema = dict(request.schema) if request.schema is not None else None
    return asdict(request) | {"purpose": request.purpose.value, "schema": schema}


def request_of(row: Mapping[str, Any]) -> ChatRequest:
    """The request that plain values stand for."""
    return ChatRequest(**{**row, "purpose": ChatPurpose(row["purpose"])})


def limits_of(settings: ChatSettings) -> EndpointLimits:
    """The room that the settings give the endpoint."""
    return EndpointLimits(
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
    )


def load_chat(
    settings: ChatSettings,
    *,
    models_dir: Path,
    limits: ChatLimits,
    secret: Callable[[str], str | None] = os.environ.get,
) -> ChatModel:
    """The chat model that the settings name: a stand-in, vLLM's engine or an endpoint.

    Args:
        secret: the value of an environment variable.

    Raises:
        ConfigError: the variable of the key is not set, or the model cannot be had.
    """
    if settings.vllm is not None:
        from actors.vllm_chat import VllmChat

        name = settings.vllm.model
        return VllmChat(resolve(name, models_dir), name=name, engine=settings.vllm.engine)
    if is_fake(settings.model):
        from actors.fake_chat import FakeChat

        return FakeChat(name=settings.model, calls=fake_calls(settings.model))
    return _endpoint_chat(settings, limits, secret)


def chat_here(settings: ChatSettings | None, *, models_dir: Path) -> ChatModel | None:
    """The chat model of these settings in this process; None where there is none.

    Raises:
        ConfigError: the variable of the key is not set, or the model cannot be had.
    """
    if settings is None:
        return None
    return load_chat(settings, models_dir=models_dir, limits=limits_of(settings))


def _endpoint_chat(
    settings: ChatSettings, limits: ChatLimits, secret: Callable[[str], str | None]
) -> ChatModel:
    from actors.chat import Endpoint, EndpointChat

    key = None
    if settings.key_env is not None:
        key = secret(settings.key_env)
        if not key:
            raise ConfigError(
                f"expected the endpoint's key in the variable {settings.key_env}, which is not set",
                field="chat.key_env",
            )
    endpoint = Endpoint(
        url=settings.endpoint or "",
        model=settings.model,
        key=key,
        timeout_s=settings.timeout_s,
        attempts=settings.attempts,
        patience_s=settings.patience_s,
        structured=settings.structured,
        max_reply_chars=settings.max_reply_chars,
        tokens_field=settings.tokens_field,
        has_temperature=settings.has_temperature,
        plain_http=settings.plain_http,
    )
    return EndpointChat(endpoint, limits=limits)
