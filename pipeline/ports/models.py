"""The models and the clock: batches in, batches of the same length and order out."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

from pipeline.awake.readings import Chunk, Reading, Values
from pipeline.chat import ChatReply, ChatRequest
from pipeline.deciding import Ruling
from pipeline.entailment import Entailment
from pipeline.entries import (
    Case,
    Decision,
)
from pipeline.extraction import Extraction, ExtractionOptions
from pipeline.messages import Batch, TenantId
from pipeline.state import Compressed
from pipeline.vectors import Indices, Vectors

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


class ChunkedCompressor(Compressor, Protocol):
    """A compressor whose work at the model comes in chunks, so that long texts can take turns."""

    def read(self, texts: Sequence[str], *, rate: float) -> list[Reading]:
        """Each text cut into what the model reads at once; asks no model."""
        ...

    def judge(self, chunks: Sequence[Chunk]) -> list[Values | str]:
        """Per chunk a value per token, or why there is none; a chunk that fails fails alone."""
        ...

    def choose(
        self, readings: Sequence[Reading], judged: Sequence[Sequence[Values | str]], *, rate: float
    ) -> list[Compressed]:
        """The texts that are left, each from the judgements of all its chunks."""
        ...


class AttentionModel(Protocol):
    """How much each turn of a window looks back at the turn before it."""

    def profiles(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        """Per window ``(n,)``: attention of turn i to turn i-1, entry 0 ignored.

        The decay with distance is removed. None where the model gives no attention.
        """
        ...


class Reranker(Protocol):
    """Judges how well a text answers a question by reading both together."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One judgement in 0..1 per (question, text). Raises ModelError."""
        ...


class ChatModel(Protocol):
    """A language model that is asked one request at a time, many in flight."""

    @property
    def name(self) -> str:
        """Which model, as usage and replies are recorded under."""
        ...

    async def reply(self, request: ChatRequest) -> ChatReply:
        """The model's reply, its text unchecked.

        Raises:
            LimitError: the endpoint has no room, after all retries.
            ModelUnavailable: it answers nobody, after all retries.
            MalformedReply: what came is no reply at all, or far too long; it says what that took.
            ModelError: it refused this request, or failed at it alone, after all retries.
        """
        ...


class EntailmentModel(Protocol):
    """Natural language inference: whether one text follows from another."""

    @property
    def name(self) -> str:
        """Which model."""
        ...

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """One judgement per pair of a premise and a hypothesis. Raises ModelError."""
        ...


class Extractor(Protocol):
    """A batch of segments to standalone statements; a language model or a baseline without one."""

    @property
    def name(self) -> str:
        """Which one it is; a baseline says so in its name."""
        ...

    async def extract(self, batch: Batch, *, options: ExtractionOptions) -> Extraction:
        """The batch's statements in order of saying; what system and tools said gives none.

        What cannot be extracted is a value: a failure of its messages, or a wait. Many at once.
        """
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


@runtime_checkable
class AskingDecider(Protocol):
    """One target with its candidates to a decision by a model that is waited for, many at once."""

    @property
    def name(self) -> str:
        """The model, with the version of what it is asked; replies are cached under it."""
        ...

    async def ask(self, case: Case, *, tenant: TenantId) -> Ruling:
        """The decision, checked, or why there is none. Unsure means ignore."""
        ...


class Products(Protocol):
    """Dot products of a collection's vectors with each other, some rows by some columns at a time.

    Rows and columns are indices of the vectors, ascending; an index that is smaller is older.
    """

    def reaching(
        self, rows: Indices, columns: Indices, *, bars: Vectors, top_k: int
    ) -> tuple[Indices, Indices, Vectors]:
        """The pairs of a row with an older column whose product reaches the row's bar.

        Args:
            rows: ``(r,)``. columns: ``(c,)``. bars: ``(r,)``.
            top_k: of each row those below its ``top_k``-th best may be left out, none equal to it.

        Returns:
            Places in ``rows``, places in ``columns`` and products, each ``(hits,)``; pairs of one
            row by ascending column.
        """
        ...
