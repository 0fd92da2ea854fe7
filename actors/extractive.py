"""Statements by rules: a baseline without a language model. Implements ``ports.Extractor``."""

from collections.abc import Sequence

from pipeline.awake.extract import statements
from pipeline.entries import Statement
from pipeline.messages import Batch
from pipeline.ports import Tokenizer

VERSION = "2"


class ExtractiveSummariser:
    """Sentences retold in the third person, dated and typed by rules; understands nothing."""

    def __init__(self, *, tokenizer: Tokenizer, max_entry_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._max_entry_tokens = max_entry_tokens

    @property
    def name(self) -> str:
        """Says that it is a baseline, with the version of its rules."""
        return f"extractive-baseline/{VERSION}"

    def extract(self, batches: Sequence[Batch]) -> list[list[Statement]]:
        """Per batch its statements in order of saying; the same input gives the same output."""
        return [
            statements(batch, measure=self._tokens, limit=self._max_entry_tokens)
            for batch in batches
        ]

    def _tokens(self, text: str) -> int:
        return self._tokenizer.count([text])[0]
