"""A chat model behind any endpoint that speaks the chat completions API of OpenAI.

Tries again where that can help, keeps to the room that the endpoint gives, and takes in no more
of an answer than is asked for. Nothing of a request, an answer or the key enters a log or the
message of an error.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import httpx2
import openai

from actors.chat_address import check_address
from actors.chat_failures import Failed, Way, failed_with
from actors.chat_limits import ChatLimits, spread_s
from actors.chat_reading import estimated_tokens, malformed, reply_of, unread
from pipeline.chat import ChatReply, ChatRequest
from pipeline.errors import LimitError, MalformedReply, ModelError, ModelUnavailable
from pipeline.messages import Json

log = logging.getLogger("slowwave.chat")

Structured = Literal["json_schema", "json_object", "none"]
"""What an endpoint enforces of a schema: all of it, that the reply is JSON, or nothing."""

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 20.0
_BYTES_PER_CHAR = 6
_ENVELOPE_BYTES = 65_536
_QUIET = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model answers and how it is asked.

    ``timeout_s`` bounds one try from its first byte to its last; ``attempts`` counts tries,
    ``patience_s`` bounds one wait for room between them. ``tokens_field`` is what the endpoint
    calls the bound on a reply; ``has_temperature`` is false where it refuses to be given one.
    """

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    timeout_s: float = 60.0
    attempts: int = 4
    patience_s: float = 60.0
    structured: Structured = "json_schema"
    max_reply_chars: int = 200_000
    tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    has_temperature: bool = True
    plain_http: bool = False

    def __post_init__(self) -> None:
        """Raises ConfigError for an address that is none, or would carry the key unencrypted."""
        check_address(self.url, plain_http=self.plain_http)


class EndpointChat:
    """Implements ChatModel; many replies at once on one event loop."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        limits: ChatLimits,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """
        Args:
            draw: a number in 0..1 for the jitter of a pause.
        """
        self._endpoint = endpoint
        self._limits = limits
        self._sleep = sleep
        self._draw = draw
        self._answered = 0
        self._most_bytes = endpoint.max_reply_chars * _BYTES_PER_CHAR + _ENVELOPE_BYTES
        self._client = self._opened()

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._endpoint.model

    async def reply(self, request: ChatRequest) -> ChatReply:
        """As ChatModel says; ``retried`` holds a status or a word per try that failed."""
        answered = self._answered
        failures: list[Failed] = []
        while True:
            await self._room(request)
            try:
                reply = await self._once(request)
            except Failed as failed:
                failures.append(failed)
            else:
                self._answered += 1
                return replace(reply, retried=tuple(each.sign for each in failures))
            others = self._answered > answered
            await self._before_another_try(failures, others=others)

    async def close(self) -> None:
        """Closes its connections."""
        await self._client.close()

    async def _room(self, request: ChatRequest) -> None:
        tokens = estimated_tokens(request) + request.max_tokens
        wait = await self._limits.reserve(tokens, patience_s=self._endpoint.patience_s)
        if wait > 0:
            await self._sleep(wait)

    async def _once(self, request: ChatRequest) -> ChatReply:
        """One try. Raises Failed, or MalformedReply for what would come the same again."""
        endpoint = self._endpoint
        try:
            body = await self._sent(request)
            reply = reply_of(
                body, request=request, model=endpoint.model, most_chars=endpoint.max_reply_chars
            )
        except MalformedReply as error:
            if error.call is not None:
                await self._settle(request, error.call)
            raise
        await self._settle(request, reply)
        return reply

    async def _settle(self, request: ChatRequest, reply: ChatReply) -> None:
        taken = reply.tokens_in + reply.tokens_out
        await self._limits.settle(taken - estimated_tokens(request) - request.max_tokens)

    async def _sent(self, request: ChatRequest) -> bytes:
        # Causes are cut off on purpose: they hold the request and what the endpoint says of it.
        try:
            async with asyncio.timeout(self._endpoint.timeout_s):
                raw = await self._client.chat.completions.with_raw_response.create(
                    **self._parameters(request)
                )
            return bytes(raw.content)
        except TimeoutError:
            raise Failed("timeout", Way.PASSING) from None
        except _TooLong as error:
            call = unread(request, model=self._endpoint.model, seen=error.seen)
            what = f"more than {self._most_bytes} bytes" if error.seen else "what is compressed"
            raise malformed(what, error.beginning, call) from None
        except openai.OpenAIError as error:
            raise failed_with(error) from None

    async def _before_another_try(self, failures: Sequence[Failed], *, others: bool) -> None:
        """Waits, or raises what the failures come to.

        Args:
            others: whether other requests were answered meanwhile.
        """
        last, endpoint = failures[-1], self._endpoint
        signs = ", ".join(each.sign for each in failures)
        asked = last.after_s or 0.0
        if asked:
            await self._limits.pause(asked)
        is_last = len(failures) >= endpoint.attempts or asked > endpoint.patience_s
        if last.way in (Way.PASSING, Way.FULL) and not is_last:
            log.warning("the chat endpoint failed (%s), try %d follows", signs, len(failures) + 1)
            wait = spread_s(asked, self._draw())
            await self._sleep(max(wait, self._pause_s(len(failures))))
            return
        raise _error(last, f"the chat endpoint failed: {signs}", others=others)

    def _pause_s(self, tries: int) -> float:
        """Twice as long after each try, up to half more or less by chance."""
        return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (tries - 1)) * (0.5 + self._draw())

    def _parameters(self, request: ChatRequest) -> dict[str, Any]:
        endpoint = self._endpoint
        parameters: dict[str, Any] = {
            "model": endpoint.model,
            "messages": _messages(request),
            endpoint.tokens_field: request.max_tokens,
        }
        if endpoint.has_temperature:
            parameters["temperature"] = request.temperature
        if request.schema is not None and endpoint.structured != "none":
            parameters["response_format"] = _format(
                request.purpose.value, request.schema, endpoint.structured
            )
        return parameters

    def _opened(self) -> openai.AsyncOpenAI:
        for name in _QUIET:
            # At their lower levels these print whole requests, and one can be set from outside.
            logging.getLogger(name).setLevel(logging.WARNING)
        endpoint = self._endpoint
        http = openai.DefaultAsyncHttpxClient(
            timeout=endpoint.timeout_s,
            follow_redirects=False,
            event_hooks={"response": [self._bound]},
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
        )
        return openai.AsyncOpenAI(
            base_url=endpoint.url,
            api_key=endpoint.key or "none",
            max_retries=0,
            # A compressed answer would have no size before it is unpacked.
            default_headers={"Accept-Encoding": "identity"},
            http_client=http,
        )

    async def _bound(self, response: httpx2.Response) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise _TooLong(b"", 0)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream, self._most_bytes)


def _error(last: Failed, message: str, *, others: bool) -> LimitError | ModelError:
    match last.way:
        case Way.FULL:
            after_s = last.after_s or _LONGEST_PAUSE_S
            return LimitError(message, retry_after_s=after_s, field="chat")
        case Way.CLOSED:
            return ModelUnavailable(message, retry_after_s=_LONGEST_PAUSE_S, field="chat")
        case Way.PASSING if not others:
            after_s = last.after_s or _LONGEST_PAUSE_S
            return ModelUnavailable(message, retry_after_s=after_s, field="chat")
    return ModelError(message, field="chat")


def _messages(request: ChatRequest) -> list[dict[str, Any]]:
    shown: Any = request.user
    if request.images:
        shown = [{"type": "text", "text": request.user}]
        shown += [{"type": "image_url", "image_url": {"url": url}} for url in request.images]
    spoken = [{"role": "user", "content": shown}]
    return [{"role": "system", "content": request.system}, *spoken] if request.system else spoken


def _format(purpose: str, schema: Json, structured: Structured) -> dict[str, Any]:
    if structured == "json_object":
        return {"type": "json_object"}
    named = {"name": purpose, "schema": schema, "strict": is_strict(schema)}
    return {"type": "json_schema", "json_schema": named}


def is_strict(schema: Json) -> bool:
    """Whether every object in it has all its properties and no others.

    Endpoints that enforce a schema to the letter refuse any other one.
    """
    if isinstance(schema, Mapping):
        if "properties" in schema:
            properties, required = schema["properties"], schema.get("required")
            is_closed = schema.get("additionalProperties") is False
            if not is_closed or set(properties or ()) != set(required or ()):  # type: ignore[arg-type]  # a schema's own form
                return False
        return all(is_strict(each) for each in schema.values())
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return all(is_strict(each) for each in schema)
    return True


class _TooLong(Exception):
    """An answer went over its bound; ``beginning`` is how it began, of ``seen`` bytes."""

    def __init__(self, beginning: bytes, seen: int) -> None:
        super().__init__("too long")
        self.beginning = beginning
        self.seen = seen


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error when it becomes too long."""

    def __init__(self, stream: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._stream = stream
        self._most = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken, beginning = 0, b""
        async for chunk in self._stream:
            beginning = beginning or bytes(chunk[:2_000])
            taken += len(chunk)
            if taken > self._most:
                raise _TooLong(beginning, taken)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
