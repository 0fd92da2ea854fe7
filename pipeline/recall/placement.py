"""A context and its question as the messages of a prompt, the context in one place or another.

Nothing is added to the context's text, so that its tokens stay those that were counted.
"""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.messages import Role
from pipeline.recall.shown import Context


class Placement(StrEnum):
    """Where a context stands: as the system's message, or before the user's words."""

    SYSTEM = "system"
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """A message for a chat model."""

    role: Role
    content: str


def placed(context: Context, question: str, placement: Placement | None) -> list[PromptMessage]:
    """The messages of the prompt; none without a placement, the question alone without context."""
    if placement is None:
        return []
    if placement is Placement.SYSTEM and context.text:
        return [
            PromptMessage(role=Role.SYSTEM, content=context.text),
            PromptMessage(role=Role.USER, content=question),
        ]
    content = "\n\n".join(text for text in (context.text, question) if text)
    return [PromptMessage(role=Role.USER, content=content)]
