"""What is asked of a chat model and what comes back: plain values, whoever answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from pipeline.messages import Json, TenantId


class ChatPurpose(StrEnum):
    """What a call is for; tokens and cost are recorded by it."""

    EXTRACT = "extract"
    DECIDE = "decide"
    SUMMARISE = "summarise"
    ANSWER = "answer"
    CAPTION = "caption"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One call. Never logged: it holds what people said.

    ``schema`` is the JSON schema that the reply's text must follow; a server that can enforces it,
    the caller checks it in any case. ``images`` are URLs, ``data:`` ones included, shown with the
    user's text. ``temperature`` is 0 where a reply is to be the same every time.
    """

    tenant: TenantId
    purpose: ChatPurpose
    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, Json] | None = None
    images: tuple[str, ...] = ()
    temperature: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What the model said and what it took.

    ``is_cut`` says that it ran into ``max_tokens``. ``model`` is the name that answered; tokens
    are those the server counted, of the prompt (``tokens_in``) and of the reply (``tokens_out``).
    ``is_estimated`` says that it did not, or not credibly, and tokens are about so many.
    ``retried`` says why each try before the one that was answered was not, such as ``429``.
    """

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    is_cut: bool = False
    is_estimated: bool = False
    retried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Calls that were answered, with their tokens, by purpose and model.

    ``repairs`` are those of the calls that asked again for what a reply should have held,
    ``estimated`` those whose tokens the server did not count.
    """

    purpose: ChatPurpose
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    repairs: int = 0
    estimated: int = 0

    @classmethod
    def nothing(cls, purpose: ChatPurpose, model: str) -> Self:
        """What no call took."""
        return cls(purpose=purpose, model=model, calls=0, tokens_in=0, tokens_out=0)

    def and_for(self, reply: ChatReply, *, is_repair: bool) -> Self:
        """With one call more."""
        return replace(
            self,
            calls=self.calls + 1,
            tokens_in=self.tokens_in + reply.tokens_in,
            tokens_out=self.tokens_out + reply.tokens_out,
            repairs=self.repairs + is_repair,
            estimated=self.estimated + reply.is_estimated,
        )
