"""Decisions by a language model. Implements ``ports.AskingDecider``."""

from pipeline.deciding import DecisionLimits, Ruling
from pipeline.entries import Case
from pipeline.messages import TenantId
from pipeline.ports import ChatModel
from pipeline.sleep.decide_chat import decide, prompt_version
from pipeline.sleep.kept import names


class ChatDecider:
    """One call for each target; replies are checked, asked for again, and accounted for."""

    def __init__(self, *, chat: ChatModel, limits: DecisionLimits) -> None:
        self._chat = chat
        self._limits = limits
        names("用户")  # loads the lexicon now, so that no decision waits for it

    @property
    def name(self) -> str:
        """The model with the version of the prompt."""
        return f"chat/{self._chat.name}/{prompt_version()}"

    async def ask(self, case: Case, *, tenant: TenantId) -> Ruling:
        """What becomes of the case; an endpoint that does not answer fails it."""
        return await decide(case, ask=self._chat.reply, tenant=tenant, limits=self._limits)
