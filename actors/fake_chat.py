"""A chat model that is none: it says every line again, or the least that a schema allows.

Deterministic, so that a run can be compared with another one and counted independently.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from actors.fakes import FakeCalls, fake_tokens
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest
from pipeline.messages import Json
from pipeline.text.sentences import sentences

_LINE = re.compile(r"^(?P<id>[a-z]{2,3}) (?P<speaker>[^:\n]+): (?P<text>.*)$", re.MULTILINE)


class FakeChat:
    """Implements ChatModel: one statement per message shown; a reply of any schema's least form.

    Tokens are counted as ``FakeTokenizer`` counts them.
    """

    def __init__(self, *, name: str = "fake-chat", calls: FakeCalls | None = None) -> None:
        self._name = name
        self._calls = calls or FakeCalls()

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    async def reply(self, request: ChatRequest) -> ChatReply:
        """The same for the same request."""
        text = said_by_fake(request)
        async with self._calls.running_async():
            tokens_out = len(fake_tokens(text))
        return ChatReply(
            text=text,
            model=self._name,
            tokens_in=len(fake_tokens(request.system)) + len(fake_tokens(request.user)),
            tokens_out=tokens_out,
        )


class FakeSentenceChat:
    """Implements ChatModel: one statement for each sentence shown, in the shortest form there is.

    Args:
        count: tokens of each text, as whoever reads the figures counts them.
    """

    name = "fake-sentences"

    def __init__(self, count: Callable[[Sequence[str]], list[int]]) -> None:
        self._count = count

    async def reply(self, request: ChatRequest) -> ChatReply:
        """The same for the same request."""
        said = [
            f"{line['id']} fact: {sentence.text.strip()}"
            for line in _LINE.finditer(request.user)
            for sentence in sentences(line["text"])
            if sentence.text.strip()
        ]
        text = json.dumps({"items": said}, ensure_ascii=False, separators=(",", ":"))
        system, user, out = self._count([request.system, request.user, text])
        return ChatReply(text=text, model=self.name, tokens_in=system + user, tokens_out=out)


def said_by_fake(request: ChatRequest) -> str:
    """What ``FakeChat`` says: JSON where a schema is given, else the user's last line."""
    if request.purpose is ChatPurpose.EXTRACT:
        return json.dumps({"items": items_of(request.user)}, ensure_ascii=False)
    if request.schema is not None:
        return json.dumps(least(request.schema), ensure_ascii=False)
    return request.user.rstrip().rpartition("\n")[2]


def items_of(user: str) -> list[dict[str, Json]]:
    """One item per line of the form ``id speaker: text``: what is said there, as a fact."""
    return [{"s": [line["id"]], "t": line["text"], "k": "fact"} for line in _LINE.finditer(user)]


def least(schema: Mapping[str, Json]) -> Json:
    """The smallest value that a plain JSON schema allows."""
    match schema:
        case {"const": value}:
            return value
        case {"enum": [first, *_]}:
            return first
        case {"anyOf": [Mapping() as first, *_]}:
            return least(first)
        case {"type": [str() as kind, *_]} | {"type": str() as kind}:
            return _least_of(kind, schema)
    return None


def _least_of(kind: str, schema: Mapping[str, Json]) -> Json:
    properties, required = schema.get("properties"), schema.get("required")
    match kind:
        case "object" if isinstance(properties, Mapping) and isinstance(required, Sequence):
            asked = {str(name): properties[str(name)] for name in required}
            return {name: least(of) for name, of in asked.items() if isinstance(of, Mapping)}
        case "object":
            return {}
        case "array":
            count, items = schema.get("minItems", 0), schema.get("items")
            if not isinstance(count, int) or not isinstance(items, Mapping):
                return []
            return [least(items)] * count
        case "string":
            shortest = schema.get("minLength", 0)
            return "x" * shortest if isinstance(shortest, int) else ""
        case "integer" | "number":
            lowest = schema.get("minimum", 0)
            return lowest if isinstance(lowest, int | float) else 0
        case "boolean":
            return False
    return None
