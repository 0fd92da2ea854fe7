"""One batch through a chat model: ask, read, ask again where a reply cannot be used, and account.

Source: LightMem (arXiv 2510.18866), section 3.2: one call for each batch. A reply that breaks off
is asked for again only from the last message that it reached; one that ran into its limit of tokens
is asked for in two halves, so that none of it is lost. Messages of which everything was refused are
asked for again, once where other messages gave something. One of which no try gave anything fails
with the reply that was the last to say nothing of it; an endpoint that does not answer postpones
the whole batch.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from pipeline.awake.chat_lines import Line, lines_of, parts_of, prompt_language, shown
from pipeline.awake.chat_reply import Reply, read_reply
from pipeline.awake.chat_statements import (
    INVENTED,
    TURNED,
    UNKNOWN_ID,
    WRONG_DATE,
    WRONG_LANGUAGE,
    Desk,
    Taken,
    counts,
    read_items,
)
from pipeline.awake.extract_split import Measure
from pipeline.chat import ChatPurpose, ChatReply, ChatRequest, Spent
from pipeline.errors import LimitError, MalformedReply, ModelError, StoreError
from pipeline.extraction import SPEAKING, Extraction, ExtractionOptions, Failed, Postponed
from pipeline.ids import MessageId
from pipeline.messages import Batch
from pipeline.prompts import PromptLanguage, prompt
from pipeline.prompts.replies import UNREADABLE, Flaw, has_lone_surrogate, visible
from pipeline.prompts.schemas import reply_schema

Ask = Callable[[ChatRequest], Awaitable[ChatReply]]

RAW_CHARS = 4_000
"""What is kept of a reply that could not be used."""

MALFORMED = "malformed item"
_CHARS_OF_A_TOKEN = 16
_LEAST_TOKENS = 256
_SPLITS = 6

_LANGUAGE = Flaw(
    reason=WRONG_LANGUAGE,
    en="statements were not in the language of their messages",
    zh="陈述没有用消息本身的语言写",
    is_once=True,
)
_REASONS_ZH = {
    UNKNOWN_ID: "编号不存在",
    INVENTED: "没有说过",
    TURNED: "与原话相反",
    WRONG_DATE: "日期或时间不对",
    WRONG_LANGUAGE: "语言不对",
    MALFORMED: "格式不对",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """``attempts`` is how often a reply is asked for again; the rest are tokens of one call."""

    attempts: int
    request_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """A reply as it came and as it is read."""

    raw: str
    reply: Reply
    is_cut: bool = False


@dataclass(slots=True)
class _Account:
    """What the calls of a batch took and gave."""

    taken: Taken = field(default_factory=Taken)
    spent: dict[str, Spent] = field(default_factory=dict)
    failed: dict[MessageId, Failed] = field(default_factory=dict)

    def book(self, reply: ChatReply, *, is_repair: bool) -> None:
        nothing = Spent.nothing(ChatPurpose.EXTRACT, reply.model)
        before = self.spent.get(reply.model, nothing)
        self.spent[reply.model] = before.and_for(reply, is_repair=is_repair)

    def fail(self, flaw: Flaw, raw: str, lines: Sequence[Line]) -> None:
        """Sets aside those of the messages of which nothing was taken."""
        why = f"the reply cannot be used: {flaw.en}"
        if has_lone_surrogate(raw):
            why += "; it held lone surrogates, which are no characters"
        raw = visible(raw[:RAW_CHARS])[:RAW_CHARS]
        for line in lines:
            id_ = line.message.id
            if id_ not in self.taken.covered:
                self.failed[id_] = Failed(message=id_, reason=why, raw=raw)

    def total(self, postponed: Postponed | None) -> Extraction:
        refused = counts(self.taken.refused)
        spent = tuple(self.spent.values())
        if postponed is not None:
            return Extraction(spent=spent, refused=refused, postponed=postponed)
        # A long message is shown in parts: one may have failed where another was taken.
        failed = (each for id_, each in self.failed.items() if id_ not in self.taken.covered)
        return Extraction(
            statements=self.taken.ordered(), spent=spent, refused=refused, failed=tuple(failed)
        )


async def extract(
    batch: Batch, *, ask: Ask, options: ExtractionOptions, limits: Limits, measure: Measure
) -> Extraction:
    """What becomes of the batch; one call, more where it is longer than a call may be."""
    roles = [role for role in options.roles if role in SPEAKING]
    # Reading texts takes time: it must not hold up whatever else the event loop does.
    lines = await asyncio.to_thread(
        lines_of, batch, roles=roles, measure=measure, limit=limits.request_tokens
    )
    talk = _Talk(batch, ask=ask, options=options, limits=limits, measure=measure, lines=lines)
    account = _Account()
    try:
        for part in parts_of(lines, measure=measure, limit=limits.request_tokens):
            await talk.hold(part, account, splits=_SPLITS)
    except (LimitError, ModelError, StoreError) as error:
        return account.total(Postponed.by(error))
    return account.total(None)


class _Talk:
    """The calls about one batch."""

    def __init__(
        self,
        batch: Batch,
        *,
        ask: Ask,
        options: ExtractionOptions,
        limits: Limits,
        measure: Measure,
        lines: Sequence[Line],
    ) -> None:
        self._tenant = batch.scope.tenant
        self._ask = ask
        self._limits = limits
        self._measure = measure
        self._language = prompt_language(lines)
        self._system = system_prompt(self._language, own=options.prompt)
        self._desk = Desk(lines, measure=measure, limit=options.max_entry_tokens)

    async def hold(self, lines: Sequence[Line], account: _Account, *, splits: int) -> None:
        """Asks for the lines until a reply covers them, the tries are used up, or it was cut."""
        flaw: Flaw | None = None
        answer: _Answer | None = None
        left = self._limits.attempts + 1
        while left > 0:
            answer = await self._asked(lines, flaw, account)
            if answer.is_cut and len(lines) > 1 and splits:
                await self._halves(lines, account, splits=splits - 1)
                return
            flaw, lines = await asyncio.to_thread(
                self._read, answer.reply, lines, account, is_first=flaw is None
            )
            if flaw is None:
                return
            left = min(left - 1, 1) if flaw.is_once else left - 1
        if flaw is not None and answer is not None:
            account.fail(flaw, answer.raw, lines)

    async def _asked(self, lines: Sequence[Line], flaw: Flaw | None, account: _Account) -> _Answer:
        request = self._request(lines, flaw)
        try:
            answer = await self._ask(request)
        except MalformedReply as error:
            if error.call is not None:
                account.book(error.call, is_repair=flaw is not None)
            return _Answer(raw=error.raw, reply=Reply(flaw=_unreadable(error)))
        account.book(answer, is_repair=flaw is not None)
        limit = request.max_tokens * _CHARS_OF_A_TOKEN
        reply = await asyncio.to_thread(read_reply, answer.text, limit_chars=limit)
        if answer.is_cut and reply.flaw is not None:
            reply = replace(reply, flaw=_cut_off(reply.flaw, request.max_tokens))
        return _Answer(raw=answer.text, reply=reply, is_cut=answer.is_cut)

    async def _halves(self, lines: Sequence[Line], account: _Account, *, splits: int) -> None:
        middle = len(lines) // 2
        for half in (lines[:middle], lines[middle:]):
            await self.hold(half, account, splits=splits)

    def _read(
        self, reply: Reply, lines: Sequence[Line], account: _Account, *, is_first: bool
    ) -> tuple[Flaw | None, Sequence[Line]]:
        """Takes the reply's statements; what is wrong with it, and the lines to ask for again."""
        taken = account.taken
        reads = read_items(reply.items, self._desk, taken)
        taken.refused[MALFORMED] += reply.malformed
        refused = [read for read in reads if read.reason is not None]
        at_fault = {id_ for read in refused for id_ in read.cited} - taken.covered
        if reply.flaw is not None:
            taken.refused[reply.flaw.reason] += 1
            return reply.flaw, _of(lines, at_fault | {x.message.id for x in _rest(lines, reply)})
        foreign = {id_ for each in refused if each.reason == WRONG_LANGUAGE for id_ in each.cited}
        if foreign and is_first:
            return _LANGUAGE, _of(lines, foreign | at_fault)
        is_nothing = len(refused) == len(reads) and bool(refused or reply.malformed)
        if is_nothing and (reply.malformed or not all(read.cited for read in refused)):
            # What names no message may have been meant for any.
            at_fault = {line.message.id for line in lines} - taken.covered
        reasons = [read.reason or "" for read in refused] + [MALFORMED] * reply.malformed
        flaw = _refusal(reasons, is_once=not is_nothing)
        return (flaw if at_fault else None), _of(lines, at_fault)

    def _request(self, lines: Sequence[Line], flaw: Flaw | None) -> ChatRequest:
        user = shown(lines, spoken=self._language)
        if flaw is not None:
            problem = flaw.told(self._language)
            again = prompt("repair", language=self._language).render(problem=problem)
            user = f"{user}\n{again}"
        return ChatRequest(
            tenant=self._tenant,
            purpose=ChatPurpose.EXTRACT,
            system=self._system,
            user=user,
            max_tokens=min(self._limits.reply_tokens, _LEAST_TOKENS + 4 * self._measure(user)),
            schema=reply_schema(),
        )


def _rest(lines: Sequence[Line], reply: Reply) -> Sequence[Line]:
    """The lines from the last one that a broken reply reached; all where it reached none."""
    cited = {id_ for item in reply.items for id_ in item.s}
    places = [place for place, line in enumerate(lines) if line.id in cited]
    return lines[places[-1] :] if places else lines


def _of(lines: Sequence[Line], ids: Collection[MessageId]) -> list[Line]:
    return [line for line in lines if line.message.id in ids]


def _refusal(reasons: Sequence[str], *, is_once: bool) -> Flaw:
    """The flaw of a reply whose statements about some message were all refused."""
    distinct = dict.fromkeys(reasons)
    return Flaw(
        reason="nothing usable",
        en=f"what it said was refused: {', '.join(distinct)}",
        zh=f"其中的陈述被拒绝：{'、'.join(_REASONS_ZH[each] for each in distinct)}",
        hint_en="name messages by their ids and say only what they say",
        hint_zh="用所给的编号引用消息，只写说过的内容",
        is_once=is_once,
    )


def _unreadable(error: MalformedReply) -> Flaw:
    return replace(
        UNREADABLE,
        en=f"{UNREADABLE.en}: {error.message}",
        zh=f"{UNREADABLE.zh}：{error.message}",
    )


def _cut_off(flaw: Flaw, tokens: int) -> Flaw:
    return replace(
        flaw,
        en=f"{flaw.en}, at its limit of {tokens} tokens",
        zh=f"{flaw.zh}，已达到 {tokens} 个词元的上限",
    )


def system_prompt(language: PromptLanguage, *, own: str | None) -> str:
    """The instructions, a collection's own where it has some, and the form of the reply."""
    asked = prompt("extract", language=language).render() if own is None else own.strip()
    return f"{asked}\n\n{prompt('reply', language=language).render()}"


def prompt_version() -> str:
    """The versions of what an extraction is asked with, in one word."""
    names = (prompt("extract", language="en"), prompt("reply", language="en"))
    return ".".join(each.version for each in names)
