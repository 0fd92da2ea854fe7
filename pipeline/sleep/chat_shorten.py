"""Scratchpad items made shorter by a chat model: ask, read, and take only what they really say.

Source: arXiv 2510.27246 (LIGHT), whose compression takes any reply as it comes. Here a shorter note
names the notes it was made of, and is taken only if every name and number in it stands in those,
in their language. What no reply can be used for stays as it is and is told as a failure.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pipeline.awake.chat_reply import Reply, read_reply
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest, Spent
from pipeline.errors import LimitError, MalformedReply, ModelError, StoreError
from pipeline.messages import TenantId
from pipeline.prompts import PromptLanguage, prompt
from pipeline.prompts.replies import UNREADABLE, Flaw
from pipeline.prompts.schemas import reply_schema
from pipeline.scratchpad import Item
from pipeline.sleep.kept import is_chinese, names, numbers
from pipeline.sleep.shorten import Shorter, Tokens

Ask = Callable[[ChatRequest], Awaitable[ChatReply]]

_CHARS_OF_A_TOKEN = 16
_LEAST_TOKENS = 256
_NOTHING = Flaw(
    reason="nothing usable",
    en="no note named the numbers it was made of and said only what those say",
    zh="没有一条笔记写明所用的编号并且只写其中的内容",
)
_LONGER = Flaw(reason="not shorter", en="it was no shorter", zh="没有变短")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Items of one slot and one script that are shortened by one call, and the room they get."""

    slot: str
    items: tuple[Item, ...]
    room_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """What became of a chunk: shorter notes, items left out, and what the calls took.

    ``failure`` says why no reply could be used; then nothing is shorter.
    """

    shorter: tuple[Shorter, ...] = ()
    left_out: tuple[Item, ...] = ()
    spent: tuple[Spent, ...] = ()
    failure: str | None = None


@dataclass(slots=True, kw_only=True)
class _Taken:
    """Lines taken, and the places of the items that lines named: taken, or refused."""

    shorter: list[Shorter] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)


def chunks(
    items: Sequence[Item], tokens: Tokens, *, room_tokens: int, request_tokens: int
) -> list[Chunk]:
    """The items in calls of about ``request_tokens``, oldest first, each with its share of room."""
    total = max(1, sum(tokens[item.id] for item in items))
    groups: dict[tuple[str, bool], list[list[Item]]] = {}
    filled: dict[tuple[str, bool], int] = {}
    for item in items:
        key = (item.slot, is_chinese(item.text))
        if key not in groups or filled[key] + tokens[item.id] > request_tokens:
            groups.setdefault(key, []).append([])
            filled[key] = 0
        groups[key][-1].append(item)
        filled[key] += tokens[item.id]
    return [
        Chunk(
            slot=slot,
            items=tuple(some),
            room_tokens=max(1, room_tokens * sum(tokens[item.id] for item in some) // total),
        )
        for (slot, _), parts in groups.items()
        for some in parts
    ]


async def shorten(
    chunk: Chunk, *, tenant: TenantId, ask: Ask, measure: Callable[[str], int], attempts: int
) -> Shortened:
    """The chunk shortened; a reply that cannot be used is asked for again ``attempts`` times.

    An endpoint that does not answer is a failure like any other: nothing is shorter.
    """
    request = _request(chunk, tenant, measure)
    spent: list[Spent] = []
    flaw: Flaw | None = None
    for number in range(attempts + 1):
        try:
            answer = await ask(_again(request, flaw, chunk))
        except MalformedReply as error:
            if error.call is not None:
                spent.append(_spent(error.call, is_repair=number > 0))
            flaw = UNREADABLE
            continue
        except (LimitError, ModelError, StoreError) as error:
            return Shortened(spent=tuple(spent), failure=f"{type(error).__name__}: {error.message}")
        spent.append(_spent(answer, is_repair=number > 0))
        limit = request.max_tokens * _CHARS_OF_A_TOKEN
        taken, flaw = _read(read_reply(answer.text, limit_chars=limit), chunk, measure)
        if flaw is None:
            return _told(taken, chunk, spent)
    why = UNREADABLE.en if flaw is None else flaw.en
    return Shortened(spent=tuple(spent), failure=f"the reply cannot be used: {why}")


def _request(chunk: Chunk, tenant: TenantId, measure: Callable[[str], int]) -> ChatRequest:
    lines = [
        f"{number} {item.said_at.date().isoformat()}: {' '.join(item.text.split())}"
        for number, item in enumerate(chunk.items, start=1)
    ]
    user = "\n".join(["<notes>", *lines, "</notes>"])
    told = prompt("shorten", language=_language(chunk)).render(tokens=str(chunk.room_tokens))
    return ChatRequest(
        tenant=tenant,
        purpose=ChatPurpose.SUMMARISE,
        system=told,
        user=user,
        max_tokens=_LEAST_TOKENS + measure(user),
        schema=reply_schema(),
    )


def _again(request: ChatRequest, flaw: Flaw | None, chunk: Chunk) -> ChatRequest:
    if flaw is None:
        return request
    language = _language(chunk)
    problem = prompt("repair", language=language).render(problem=flaw.told(language))
    return replace(request, user=f"{request.user}\n{problem}")


def _language(chunk: Chunk) -> PromptLanguage:
    return "zh" if is_chinese(chunk.items[0].text) else "en"


def _spent(answer: ChatReply, *, is_repair: bool) -> Spent:
    return Spent(
        purpose=ChatPurpose.SUMMARISE,
        model=answer.model,
        calls=1,
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        repairs=int(is_repair),
        estimated=int(answer.is_estimated),
    )


def _read(reply: Reply, chunk: Chunk, measure: Callable[[str], int]) -> tuple[_Taken, Flaw | None]:
    """What of the reply may be taken, and what is wrong with it as a whole."""
    taken = _Taken()
    for line in reply.items:
        cited = {int(name) - 1 for name in line.s if name.isascii() and name.isdigit()}
        real = {place for place in cited if 0 <= place < len(chunk.items)}
        known = real - taken.seen
        parts = [chunk.items[place] for place in sorted(known)]
        if parts and len(real) == len(line.s) and _says_only(line.t, parts):
            taken.seen.update(known)
            taken.shorter.append(Shorter(slot=chunk.slot, text=line.t, made_of=tuple(parts)))
        else:
            taken.refused.update(known)
    if reply.flaw is not None:
        return taken, reply.flaw
    if not taken.shorter:
        return taken, _NOTHING
    before = measure("\n".join(item.text for item in chunk.items))
    after = measure("\n".join(each.text for each in taken.shorter))
    return taken, _LONGER if after >= before else None


def _says_only(text: str, parts: Sequence[Item]) -> bool:
    """Whether every name and number of the text stands in the parts, and its script is theirs."""
    texts = [part.text for part in parts]
    said = "\n".join(texts).casefold()
    days = " ".join(part.said_at.date().isoformat() for part in parts)
    counted = frozenset[str]().union(*(numbers(one) for one in texts), numbers(days))
    is_same_script = is_chinese(text) == is_chinese(parts[0].text)
    return is_same_script and numbers(text) <= counted and all(one in said for one in names(text))


def _told(taken: _Taken, chunk: Chunk, spent: Iterable[Spent]) -> Shortened:
    """A note that says one item in its own words leaves it as it is."""
    shorter = [
        each for each in taken.shorter if len(each.made_of) > 1 or each.text != each.made_of[0].text
    ]
    untouched = taken.seen | taken.refused
    return Shortened(
        shorter=tuple(shorter),
        left_out=tuple(item for place, item in enumerate(chunk.items) if place not in untouched),
        spent=tuple(spent),
    )
