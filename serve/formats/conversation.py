"""What every reader gives: conversations whose messages are bodies of the API."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pipeline.messages import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationIn:
    """One conversation of a file.

    ``collection`` is None where the file names none. Each message holds ``role`` and ``content``
    and, where the file says so, ``speaker``, ``said_at``, ``message_id``, ``metadata``, ``zone``.
    """

    collection: str | None
    conversation: str
    zone: str | None
    messages: tuple[dict[str, Json], ...]


def message(role: str, content: str, **known: Json) -> dict[str, Json]:
    """A message body; what is None or empty is left out."""
    extra = {name: value for name, value in known.items() if value not in (None, "", {}, [])}
    return {"role": role, "content": content, **extra}


def with_distinct_ids(conversation: ConversationIn) -> ConversationIn:
    """The conversation with ``#2`` and so on added to an id that comes again with another text.

    The same message twice keeps its id, and is one message to the service.
    """
    return replace(conversation, messages=tuple(_distinct(conversation.messages)))


def _distinct(messages: Iterable[Mapping[str, Json]]) -> Iterable[dict[str, Json]]:
    first: dict[str, Mapping[str, Json]] = {}
    repeats: Counter[str] = Counter()
    for each in messages:
        name = each.get("message_id")
        if isinstance(name, str) and first.setdefault(name, each) != each:
            repeats[name] += 1
            yield {**each, "message_id": f"{name}#{repeats[name] + 1}"}
        else:
            yield dict(each)
