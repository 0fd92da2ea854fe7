"""An answer from memory by a chat model: what it is asked, and what of its reply can be cited.

What was recalled is quoted as data, in a frame that nothing in it can close. Knows nothing of
models and stores.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.chat import ChatPurpose, ChatRequest
from pipeline.messages import Message, TenantId
from pipeline.prompts import PromptLanguage, prompt
from pipeline.prompts.replies import storable
from pipeline.recall.frame import words_for
from pipeline.recall.lexical import terms
from pipeline.recall.shown import Citation, Context

UNKNOWN = "UNKNOWN"
"""What the model says where memory holds no answer."""
_TAGS = re.compile(r"\[(\d{1,6}(?:\s*[,，、]\s*\d{1,6})*)\]")
_NUMBER = re.compile(r"\d+")
_CLOSING = re.compile(r"<(?=\s*/?\s*(?:memory|question)\b)", re.IGNORECASE)
_NOT_KNOWN = {
    "en": "I don't know: memory holds nothing that answers this.",
    "zh": "我不知道：记忆中没有能回答这个问题的内容。",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is told, whether memory held it, and the lines of the context that it rests on."""

    text: str
    is_known: bool
    citations: tuple[Citation, ...] = ()


def is_grounded(
    question: str,
    *,
    relevances: Iterable[float | None],
    notes: bool,
    pending: Sequence[Message],
    floor: float | None,
) -> bool:
    """Whether memory holds anything that may answer, so that a model is worth asking.

    Args:
        relevances: of the memories that were found, in 0..1; None where it is not known.
        notes: whether items of the scratchpad bear on the question.
        pending: messages that no entry holds yet; they count by a word in common.
        floor: the least relevance of the best memory; None where any will do.
    """
    if notes:
        return True
    if any(floor is None or (one is not None and one >= floor) for one in relevances):
        return True
    asked = frozenset(terms(question))
    return any(not asked.isdisjoint(terms(message.content)) for message in pending)


def answer_request(
    tenant: TenantId, question: str, context: Context, *, language: str, max_tokens: int
) -> ChatRequest:
    """What the model is asked, in the language of the question."""
    spoken = prompt_language(language)
    return ChatRequest(
        tenant=tenant,
        purpose=ChatPurpose.ANSWER,
        system=prompt("answer", language=spoken).render(),
        user=(
            f"<memory>\n{_inside(context.text)}\n</memory>\n\n"
            f"<question>\n{_inside(question)}\n</question>"
        ),
        max_tokens=max_tokens,
    )


def answer_of(reply: str, context: Context, *, language: str) -> Answer:
    """The model's reply with what it cites; tags that no line has are taken out."""
    text = storable(reply).strip()
    if not text or text.strip(" .。\"'`*").upper() == UNKNOWN:
        return unknown(language)
    lines = {citation.tag: citation for citation in context.citations}
    cited: dict[int, Citation] = {}

    def known_only(found: re.Match[str]) -> str:
        tags = [int(number) for number in _NUMBER.findall(found[1])]
        held = [tag for tag in tags if tag in lines]
        cited.update((tag, lines[tag]) for tag in held)
        return "".join(f"[{tag}]" for tag in held)

    told = _TAGS.sub(known_only, text).strip()
    if not told:
        return unknown(language)
    return Answer(text=told, is_known=True, citations=tuple(cited.values()))


def unknown(language: str) -> Answer:
    """The answer of a memory that holds none."""
    return Answer(text=_NOT_KNOWN[prompt_language(language)], is_known=False)


def prompt_language(language: str) -> PromptLanguage:
    """The language of the prompt for a question in a language."""
    return "zh" if words_for(language) is words_for("zh") else "en"


def _inside(text: str) -> str:
    """The text, without what would end the frame that it stands in."""
    return _CLOSING.sub("< ", text)
