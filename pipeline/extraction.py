"""What extraction is asked for and what it gives: plain values, whoever extracts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from pipeline.chat import Spent
from pipeline.entries import Statement
from pipeline.errors import LimitError, ModelError, ModelUnavailable, StoreError
from pipeline.ids import MessageId
from pipeline.messages import Role

SPEAKING = (Role.USER, Role.ASSISTANT)
"""The roles that can be extracted: what a system or a tool says was remembered or made before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionOptions:
    """What one collection wants.

    ``max_entry_tokens`` is the length that one statement may have; a longer one is split.
    ``prompt`` stands in the place of the shipped instructions. ``roles`` are those that statements
    are made of; system and tool messages never are.
    """

    max_entry_tokens: int = 200
    prompt: str | None = None
    roles: tuple[Role, ...] = SPEAKING


@dataclass(frozen=True, slots=True, kw_only=True)
class Postponed:
    """Why a batch could not be extracted now, through no fault that is known of its own.

    ``after_s`` is when to call again an endpoint that has no room or answers nobody; such a wait
    is no failed attempt.
    """

    reason: str
    after_s: float | None = None

    @classmethod
    def by(cls, error: LimitError | ModelError | StoreError) -> Self:
        """The wait that the error means: one of the endpoint's where it answers nobody."""
        reason = f"{type(error).__name__}: {error.message}"
        match error:
            case LimitError(retry_after_s=after_s) | ModelUnavailable(retry_after_s=after_s):
                return cls(reason=reason, after_s=after_s)
            case StoreError():
                return cls(reason=reason, after_s=0.0)
        return cls(reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A message that gives nothing and never will: why, and the reply that it failed by."""

    message: MessageId
    reason: str
    raw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What became of one batch.

    ``spent`` counts every answered call, repairs among them. ``refused`` counts by reason what the
    reply held and was not taken. ``postponed`` says that the whole batch is to be tried again.
    """

    statements: tuple[Statement, ...] = ()
    spent: tuple[Spent, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[Failed, ...] = ()
    postponed: Postponed | None = None
