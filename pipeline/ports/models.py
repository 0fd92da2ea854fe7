"""The models and the clock: batches in, batches of the same length and order out."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from pipeline.entries import (
    Case,
    Decision,
    Statement,
)
from pipeline.messages import Batch
from pipeline.state import (
    Compressed,
)
from pipeline.vectors import Vectors

Purpose = Literal["query", "passage", "topic"]
"""What a vector is for: asking, being found, or comparing what two passages are about."""


class Clock(Protocol):
    """The time, as a thing that can be given."""

    def now(self) -> datetime:
        """The current instant, timezone-aware, in UTC."""
        ...


class Tokenizer(Protocol):
    """The one measure of length: every threshold and budget counts its tokens."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens; 0 for an empty text."""
        ...


class Embedder(Protocol):
    """Texts to vectors of one model."""

    @property
    def model(self) -> str:
        """Its name, stored beside every vector."""
        ...

    @property
    def dim(self) -> int:
        """The width of its vectors."""
        ...

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """``(len(texts), dim)``, L2-normalised. Raises ModelError on any other width.

        For ``topic``, what all texts of a language share is taken out, so that cosines of texts
        in any language and of any length can be held against one threshold.
        """
        ...


class Compressor(Protocol):
    """Texts to the words worth keeping (arXiv 2510.18866, section 3.1)."""

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """About ``rate`` (0..1] of each text's tokens; a text that fails keeps its original."""
        ...


class AttentionModel(Protocol):
    """How much each turn of a window looks back at the turn before it."""

    def profiles(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        """Per window ``(n,)``: attention of turn i to turn i-1, entry 0 ignored.

        The decay with distance is removed. None where the model gives no attention.
        """
        ...


class Extractor(Protocol):
    """Batches of segments to standalone statements; a language model or a baseline without one."""

    @property
    def name(self) -> str:
        """Which one it is; a baseline says so in its name."""
        ...

    def extract(self, batches: Sequence[Batch]) -> list[list[Statement]]:
        """Per batch its statements in order of saying; system text gives none."""
        ...


class Decider(Protocol):
    """Targets with their candidates to decisions; a language model or a rule-based baseline."""

    @property
    def name(self) -> str:
        """Which one it is, with its version; replies are cached under it."""
        ...

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """One decision per case. Unsure means ignore."""
        ...
