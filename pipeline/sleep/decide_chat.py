"""One case through a chat model: ask, read, ask again where a reply cannot be used, and account.

Source: LightMem (arXiv 2510.18866), section 3.3: one call for each target. Where more entries bear
on a target than a call has room for, it is asked about them in parts, the newest first, each with
the text that the parts before it made; a delete ends that.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from pipeline.chat import ChatPurpose, ChatReply, ChatRequest, Spent
from pipeline.deciding import DecisionLimits, Ruling
from pipeline.entries import Candidate, Case, Decision, Delete, Entry, Ignore, Update
from pipeline.errors import LimitError, MalformedReply, ModelError, StoreError
from pipeline.ids import EntryId
from pipeline.messages import TenantId
from pipeline.prompts import prompt
from pipeline.prompts.decide_schema import decision_schema
from pipeline.prompts.replies import UNREADABLE, Flaw
from pipeline.sleep.decide import validate
from pipeline.sleep.decide_lines import ids_of, parts_of, prompt_language, shown
from pipeline.sleep.decide_reply import read_decision, read_judgement

Ask = Callable[[ChatRequest], Awaitable[ChatReply]]

_CHARS_OF_A_TOKEN = 16


async def decide(case: Case, *, ask: Ask, tenant: TenantId, limits: DecisionLimits) -> Ruling:
    """The decision on the case; a failure where no reply came, or none that could be used."""
    talk = _Talk(case, ask=ask, tenant=tenant, limits=limits)
    try:
        return talk.ruling(await talk.decision())
    except _Unusable as error:
        return talk.ruling(failure=str(error))
    except (LimitError, ModelError, StoreError) as error:
        return talk.ruling(failure=f"{type(error).__name__}: {error.message}")


def prompt_version() -> str:
    """The version of what a decision is asked with."""
    return prompt("decide", language="en").version


class _Unusable(Exception):
    """No reply could be used, after all tries."""


class _Talk:
    """The calls about one case."""

    def __init__(self, case: Case, *, ask: Ask, tenant: TenantId, limits: DecisionLimits) -> None:
        self._case = case
        self._ask = ask
        self._tenant = tenant
        self._limits = limits
        self._ids = ids_of(case)
        self._language = prompt_language(case)
        self._system = prompt("decide", language=self._language).render()
        self._calls = 0
        self._spent: dict[str, Spent] = {}
        self._refused: Counter[str] = Counter()

    def ruling(self, decision: Decision | None = None, *, failure: str | None = None) -> Ruling:
        """The decision, or why there is none, with what it took."""
        return Ruling(
            decision=decision,
            failure=failure,
            calls=self._calls,
            spent=tuple(self._spent.values()),
            refused=dict(self._refused),
        )

    async def decision(self) -> Decision:
        """Asks about all candidates. Raises _Unusable, and what the model raises."""
        target = self._case.target
        used: list[EntryId] = []
        reasons: list[str] = []
        for candidates in parts_of(self._case):
            part = await self._part(target, candidates)
            if isinstance(part, Delete):
                return part
            if isinstance(part, Update):
                target = replace(target, text=part.text)
                used += part.used
            if isinstance(part, Update) or not used:
                reasons.append(part.reason)
        if not used:
            return Ignore(reason=reasons[0])
        return Update(text=target.text, used=tuple(used), reason=reasons[-1])

    async def _part(self, target: Entry, candidates: Sequence[Candidate]) -> Decision:
        flaw: Flaw | None = None
        for _ in range(self._limits.attempts + 1):
            outcome = await self._asked(target, candidates, flaw)
            if not isinstance(outcome, Flaw):
                return self._checked(Case(target=target, candidates=tuple(candidates)), outcome)
            flaw = outcome
            self._refused[flaw.reason] += 1
        raise _Unusable(f"the reply cannot be used: {flaw.en if flaw else ''}")

    async def _asked(
        self, target: Entry, candidates: Sequence[Candidate], flaw: Flaw | None
    ) -> Decision | Flaw:
        """What one reply means."""
        request = self._request(target, candidates, flaw)
        self._calls += 1
        try:
            reply = await self._ask(request)
        except MalformedReply as error:
            if error.call is not None:
                self._book(error.call, is_repair=flaw is not None)
            return UNREADABLE
        self._book(reply, is_repair=flaw is not None)
        limit_chars = request.max_tokens * _CHARS_OF_A_TOKEN
        judgement = read_judgement(reply.text, limit_chars=limit_chars)
        if isinstance(judgement, Flaw):
            return judgement
        named = {self._ids[one.entry.id]: one for one in candidates}
        read = read_decision(judgement, named, spoken=self._language)
        self._refused.update(read.refused)
        return read.outcome

    def _checked(self, case: Case, decision: Decision) -> Decision:
        checked = validate(case, decision)
        if checked is not decision:
            self._refused[f"{type(decision).__name__.lower()} refused"] += 1
        return checked

    def _book(self, reply: ChatReply, *, is_repair: bool) -> None:
        nothing = Spent.nothing(ChatPurpose.DECIDE, reply.model)
        before = self._spent.get(reply.model, nothing)
        self._spent[reply.model] = before.and_for(reply, is_repair=is_repair)

    def _request(
        self, target: Entry, candidates: Sequence[Candidate], flaw: Flaw | None
    ) -> ChatRequest:
        user = shown(target, candidates, ids=self._ids, spoken=self._language)
        if flaw is not None:
            again = prompt("decide_repair", language=self._language)
            user = f"{user}\n{again.render(problem=flaw.told(self._language))}"
        return ChatRequest(
            tenant=self._tenant,
            purpose=ChatPurpose.DECIDE,
            system=self._system,
            user=user,
            max_tokens=self._limits.reply_tokens,
            schema=decision_schema(),
        )
