"""Statements by rules: a baseline without a language model."""

from pipeline.awake.extract import statements
from pipeline.entries import Statement
from pipeline.extraction import ExtractionOptions
from pipeline.messages import Batch
from pipeline.ports import Tokenizer

VERSION = "2"


class ExtractiveSummariser:
    """Sentences retold in the third person, dated and typed by rules; understands nothing."""

    def __init__(self, *, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @property
    def name(self) -> str:
        """Says that it is a baseline, with the version of its rules."""
        return f"extractive-baseline/{VERSION}"

    def extract(self, batch: Batch, *, options: ExtractionOptions) -> list[Statement]:
        """Its statements in order of saying; the same input gives the same output."""
        return statements(batch, measure=self._tokens, limit=options.max_entry_tokens)

    def _tokens(self, text: str) -> int:
        return self._tokenizer.count([text])[0]
