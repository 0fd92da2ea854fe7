"""What an endpoint sent to a reply: the envelope is trusted in nothing.

Knows nothing of HTTP; source of the shape: the chat completions API of OpenAI.
"""

import json
import math
from dataclasses import replace
from typing import Any

from pipeline.chat import ChatReply, ChatRequest
from pipeline.errors import MalformedReply

_MOST_TOKENS = 10_000_000
"""A count above it is nonsense."""

_RAW_CHARS = 2_000
_BYTES_OF_A_TOKEN = 4


def reply_of(body: bytes, *, request: ChatRequest, model: str, most_chars: int) -> ChatReply:
    """The reply that a body of status 200 holds; what is missing around the text is made good.

    Tokens that the server did not count, or not credibly, are estimated.

    Args:
        model: the name that the reply is recorded under; an answer's own may change by the day.
        most_chars: the longest text that is taken.

    Raises:
        MalformedReply: it is no chat completion, or its text is longer.
    """
    try:
        document = _document(body)
    except _Unread as error:
        raise malformed(str(error), body, unread(request, model=model, seen=len(body))) from None
    usage = document.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    choice = _first(document.get("choices"))
    try:
        text = _text(choice, most_chars)
    except _Unread as error:
        guess = unread(request, model=model, seen=len(body))
        raise malformed(str(error), body, _counted(guess, counts)) from None
    guess = ChatReply(
        text=text,
        model=model,
        tokens_in=estimated_tokens(request),
        tokens_out=_estimated(text),
        is_cut=choice.get("finish_reason") == "length",
    )
    return _counted(guess, counts)


def unread(request: ChatRequest, *, model: str, seen: int) -> ChatReply:
    """What a call took whose answer cannot be read, estimated from the bytes that were seen."""
    return ChatReply(
        text="",
        model=model,
        tokens_in=estimated_tokens(request),
        tokens_out=min(math.ceil(seen / _BYTES_OF_A_TOKEN), request.max_tokens),
        is_estimated=True,
    )


def _counted(guess: ChatReply, counts: dict[str, Any]) -> ChatReply:
    """With the server's counts in the place of estimates, as far as they can be believed."""
    tokens_in, tokens_out = (_count(counts.get(f"{of}_tokens")) for of in ("prompt", "completion"))
    return replace(
        guess,
        tokens_in=guess.tokens_in if tokens_in is None else tokens_in,
        tokens_out=guess.tokens_out if tokens_out is None else tokens_out,
        is_estimated=tokens_in is None or tokens_out is None,
    )


class _Unread(Exception):
    """What an endpoint sent instead of a reply."""


def _text(choice: dict[str, Any], most_chars: int) -> str:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise _Unread("a reply without a message")
    text = message.get("content") or ""
    if not isinstance(text, str):
        raise _Unread(f"a reply whose content is a {type(text).__name__}")
    if len(text) > most_chars:
        raise _Unread(f"a reply of {len(text)} characters, at most {most_chars} are taken")
    return text


def estimated_tokens(request: ChatRequest) -> int:
    """About how many tokens a request has: one for four bytes, which suits Chinese as well."""
    return _estimated(request.system) + _estimated(request.user)


def malformed(what: str, body: bytes, call: ChatReply) -> MalformedReply:
    """The error for a body that is no reply; it keeps the beginning of it, and what it took."""
    raw = body[:_RAW_CHARS].decode("utf-8", errors="replace")
    return MalformedReply(f"the chat endpoint sent {what}", raw=raw, field="chat", call=call)


def _estimated(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", errors="surrogatepass")) / _BYTES_OF_A_TOKEN)


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise _Unread("what is no JSON") from None
    if not isinstance(document, dict):
        raise _Unread(f"a JSON {type(document).__name__}")
    return document


def _first(choices: object) -> dict[str, Any]:
    match choices:
        case [dict() as choice, *_]:
            return choice
    return {}


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None
