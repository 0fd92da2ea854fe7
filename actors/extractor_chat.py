"""Statements by a language model. Implements ``ports.Extractor``."""

from pipeline.awake.chat_extract import Limits, extract, prompt_version
from pipeline.extraction import Extraction, ExtractionOptions
from pipeline.messages import Batch
from pipeline.ports import ChatModel, Tokenizer


class ChatExtractor:
    """One call for each batch; replies are checked, asked for again, and accounted for."""

    def __init__(self, *, chat: ChatModel, tokenizer: Tokenizer, limits: Limits) -> None:
        self._chat = chat
        self._tokenizer = tokenizer
        self._limits = limits

    @property
    def name(self) -> str:
        """The model with the version of the prompts."""
        return f"chat/{self._chat.name}/{prompt_version()}"

    async def extract(self, batch: Batch, *, options: ExtractionOptions) -> Extraction:
        """What becomes of the batch; an endpoint that does not answer postpones it."""
        return await extract(
            batch,
            ask=self._chat.reply,
            options=options,
            limits=self._limits,
            measure=self._tokens,
        )

    def _tokens(self, text: str) -> int:
        return self._tokenizer.count([text])[0]
