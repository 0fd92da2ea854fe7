"""Replies of a context: its lines by section, and where it is not of one mind."""

from collections.abc import Mapping, Sequence
from typing import Self

from pipeline.ids import MessageId
from pipeline.messages import Message
from pipeline.recall.conflicts import Conflict, Evidence, Layer
from pipeline.recall.placement import PromptMessage
from pipeline.recall.shown import Citation
from serve.contexts import Recalled
from serve.ingress.views import Instant, SourceOut, View


class LineOut(View):
    """One line of a context: the tag it carries there, and what it rests on."""

    tag: int
    text: str
    entries: list[str]
    sources: list[SourceOut]


class EvidenceOut(View):
    """One side of a conflict: what it says, the layer it is known from, and what it rests on."""

    text: str
    layer: str
    said_at: Instant | None
    entries: list[str]
    sources: list[SourceOut]

    @classmethod
    def of(cls, evidence: Evidence, messages: Mapping[MessageId, Message]) -> Self:
        """Its view; what the question itself asks for was said at no time before."""
        is_now = evidence.layer is Layer.QUESTION
        return cls(
            text=evidence.text,
            layer=evidence.layer.name.lower(),
            said_at=None if is_now else evidence.said_at,
            entries=list(evidence.entries),
            sources=[SourceOut.of(source, messages) for source in evidence.messages],
        )


class ConflictOut(View):
    """Two that disagree, or one that is unsure, with a question that the agent could ask."""

    reason: str
    question: str
    stands: EvidenceOut
    against: EvidenceOut | None

    @classmethod
    def of(cls, conflict: Conflict, messages: Mapping[MessageId, Message]) -> Self:
        """Its view."""
        against = conflict.against
        return cls(
            reason=conflict.reason.value,
            question=conflict.question,
            stands=EvidenceOut.of(conflict.stands, messages),
            against=None if against is None else EvidenceOut.of(against, messages),
        )


class PromptOut(View):
    """A message for a chat model."""

    role: str
    content: str


class ContextOut(View):
    """What a model should read: text ready for a prompt, and its lines by section.

    ``prompt`` holds it with the question as messages, where a placement was asked for.
    """

    recall: str
    text: str
    tokens: int
    language: str
    parts: dict[str, list[LineOut]]
    entries: list[str]
    messages: list[str]
    conflicts: list[ConflictOut]
    form: str
    prompt: list[PromptOut]

    @classmethod
    def of(cls, recalled: Recalled, *, recall: str, prompt: Sequence[PromptMessage] = ()) -> Self:
        """The context's view."""
        context, messages = recalled.context, recalled.messages
        return cls(
            recall=recall,
            text=context.text,
            tokens=context.tokens,
            language=recalled.language,
            parts={
                part.section.value: [line_of(cited, messages) for cited in part.citations]
                for part in context.parts
            },
            entries=list(context.entries),
            messages=list(context.messages),
            conflicts=[ConflictOut.of(one, messages) for one in recalled.conflicts],
            form=recalled.form.value,
            prompt=[PromptOut(role=one.role.value, content=one.content) for one in prompt],
        )


def line_of(cited: Citation, messages: Mapping[MessageId, Message]) -> LineOut:
    """The view of a line."""
    return LineOut(
        tag=cited.tag,
        text=cited.text,
        entries=list(cited.entries),
        sources=[SourceOut.of(source, messages) for source in cited.messages],
    )
