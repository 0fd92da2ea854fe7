"""Fakes: deterministic stand-ins for models and the clock, small enough to reason about in a test.

None of them learns anything from language. They are exact where tests need exactness: similar
bags of words give similar vectors, a token is a word or a CJK character.
"""

import asyncio
import hashlib
import itertools
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from pipeline.awake.readings import Chunk, Reading, Values, unread
from pipeline.chat import ChatReply, ChatRequest
from pipeline.entries import Kind, Statement
from pipeline.errors import SlowwaveError
from pipeline.extraction import ExtractionOptions
from pipeline.messages import Batch, Message
from pipeline.ports import Purpose, Vectors
from pipeline.state import Compressed

_KNOWN_TOKENS = 50_000

_TOKENS = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿]|[^\W぀-ヿ㐀-䶿一-鿿豈-﫿]+|[^\w\s]")

_HAN = re.compile(r"[\u4e00-\u9fff]")


def fake_tokens(text: str) -> list[str]:
    """Words, CJK characters and punctuation marks, each one token."""
    return _TOKENS.findall(text)


class FakeCalls:
    """What happens around each call of a fake: it takes time, and leaves a mark while it runs.

    The mark is a file named after the process; one that stays tells of a call that was killed.
    ``log`` gets a line with the time (seconds since the epoch) of each reply.
    """

    def __init__(
        self, *, delay_s: float = 0.0, folder: Path | None = None, log: Path | None = None
    ) -> None:
        self._delay_s = delay_s
        self._folder = folder
        self._log = log

    @contextmanager
    def running(self) -> Iterator[None]:
        """The time of one call."""
        with self._marked():
            if self._delay_s:
                time.sleep(self._delay_s)
            yield

    @asynccontextmanager
    async def running_async(self) -> AsyncIterator[None]:
        """The time of one call among others on an event loop."""
        with self._marked():
            await asyncio.sleep(self._delay_s)
            yield

    @contextmanager
    def _marked(self) -> Iterator[None]:
        mark = self._folder / str(os.getpid()) if self._folder else None
        if mark is not None:
            mark.touch()
        try:
            yield
            if self._log is not None:
                with self._log.open("a", encoding="utf-8") as replies:
                    replies.write(f"{time.time()}\n")
        finally:
            if mark is not None:
                mark.unlink(missing_ok=True)


class FakeTokenizer:
    """Counts words, CJK characters and punctuation marks."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; 0 for an empty one."""
        return [len(fake_tokens(text)) for text in texts]


class FakeEmbedder:
    """A bag of hashed words: texts that share words are similar, in proportion."""

    def __init__(
        self, *, dim: int = 64, model: str = "fake-embedder", calls: FakeCalls | None = None
    ) -> None:
        self._dim = dim
        self._model = model
        self._calls = calls or FakeCalls()
        self._directions = _Directions(dim)
        self.calls = 0

    @property
    def model(self) -> str:
        """The name stored beside every vector."""
        return self._model

    @property
    def dim(self) -> int:
        """The width of its vectors."""
        return self._dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        """``(len(texts), dim)``, L2-normalised; the purpose makes no difference."""
        self.calls += 1
        with self._calls.running():
            vectors = self._sums([fake_tokens(text.casefold()) or [""] for text in texts])
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-9)
        return unit

    def _sums(self, bags: Sequence[list[str]]) -> Vectors:
        sums = np.zeros((len(bags), self._dim), dtype=np.float32)
        for row, bag in enumerate(bags):
            drawn = np.concatenate([self._directions[token] for token in bag])
            np.add.reduce(drawn.reshape(-1, self._dim), out=sums[row])
        return sums


class _Directions(dict[str, Vectors]):
    """Token to direction, drawn when it is first asked for; not too many are kept."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self._dim = dim

    def __missing__(self, token: str) -> Vectors:
        if len(self) >= _KNOWN_TOKENS:
            self.clear()
        drawn = np.frombuffer(hashlib.shake_256(token.encode()).digest(self._dim), np.int8)
        self[token] = drawn.astype(np.float32)
        return self[token]


class FakeCompressor:
    """Keeps the first tokens of a text; texts containing ``fails_on`` fall back.

    A chunk is ``chunk_tokens`` tokens; ``judged`` notes how many tokens each call had.
    """

    def __init__(
        self,
        *,
        fails_on: str | None = None,
        chunk_tokens: int = 512,
        calls: FakeCalls | None = None,
    ) -> None:
        self._fails_on = fails_on
        self._chunk_tokens = chunk_tokens
        self._calls = calls or FakeCalls()
        self.judged: list[int] = []

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """The first ``rate`` of each text's words, at least one."""
        with self._calls.running():
            return [self._one(text, rate) for text in texts]

    def read(self, texts: Sequence[str], *, rate: float) -> list[Reading]:
        """Each text in chunks of zeros, as many as it has tokens."""
        return [replace(unread(text), chunks=tuple(self._chunks(text))) for text in texts]

    def judge(self, chunks: Sequence[Chunk]) -> list[Values | str]:
        """Nothing of each chunk; takes the time of one call."""
        with self._calls.running():
            self.judged.append(sum(map(len, chunks)))
            return [np.zeros(len(chunk), dtype=np.float32) for chunk in chunks]

    def choose(
        self, readings: Sequence[Reading], judged: Sequence[Sequence[Values | str]], *, rate: float
    ) -> list[Compressed]:
        """As ``compress``, whatever was judged."""
        return [self._one(reading.text, rate) for reading in readings]

    def _chunks(self, text: str) -> Iterator[Chunk]:
        for left in range(len(fake_tokens(text)), 0, -self._chunk_tokens):
            yield [0] * min(left, self._chunk_tokens)

    def _one(self, text: str, rate: float) -> Compressed:
        if self._fails_on is not None and self._fails_on in text:
            return Compressed(text=text, fallback=f"contains {self._fails_on}")
        matches = list(_TOKENS.finditer(text))
        if not matches:
            return Compressed(text=text, fallback="nothing to compress")
        keep = max(1, round(rate * len(matches)))
        return Compressed(text=text[: matches[keep - 1].end()])


class FakeExtractor:
    """One statement per message, in its own words."""

    name = "fake-extractor"

    def __init__(self, *, calls: FakeCalls | None = None) -> None:
        self._calls = calls or FakeCalls()

    def extract(self, batch: Batch, *, options: ExtractionOptions) -> list[Statement]:
        """A statement for each message."""
        with self._calls.running():
            return [_echo(message) for message in batch.messages]


def _echo(message: Message) -> Statement:
    return Statement(
        text=message.content,
        kind=Kind.FACT,
        speaker=message.speaker,
        said_at=message.said_at,
        zone=message.zone,
        language="zh" if _HAN.search(message.content) else "en",
        sources=(message.id,),
        sequence=message.sequence,
        ordinal=0,
    )


Scripted = str | ChatReply | SlowwaveError | Callable[[ChatRequest], "str | ChatReply"]
"""What a scripted chat model does once: say something, fail, or say what is made of the request."""


class ScriptedChat:
    """A chat model that says what it is told, in order and the last thing for ever.

    ``asked`` are the requests so far. Tokens are counted as ``FakeTokenizer`` does.
    """

    name = "scripted-chat"

    def __init__(self, *script: Scripted, delay_s: float = 0.0) -> None:
        self._script = list(script)
        self._delay_s = delay_s
        self.asked: list[ChatRequest] = []

    async def reply(self, request: ChatRequest) -> ChatReply:
        """The next thing of the script. Raises it where it is an error."""
        self.asked.append(request)
        await asyncio.sleep(self._delay_s)
        told = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if callable(told):
            told = told(request)
        if isinstance(told, SlowwaveError):
            raise told
        if isinstance(told, ChatReply):
            return told
        return ChatReply(
            text=told,
            model=self.name,
            tokens_in=len(fake_tokens(request.system)) + len(fake_tokens(request.user)),
            tokens_out=len(fake_tokens(told)),
        )


class FakeAttention:
    """Looks back at the turn before in proportion to the words it shares with it."""

    def __init__(self, *, gives_attention: bool = True) -> None:
        self._gives_attention = gives_attention

    def profiles(self, windows: Sequence[Sequence[str]]) -> list[Vectors | None]:
        """Per window ``(n,)`` Jaccard overlaps with the turn before, over their mean; or None."""
        if not self._gives_attention:
            return [None for _ in windows]
        return [_overlaps([set(fake_tokens(t.casefold())) for t in turns]) for turns in windows]


class FakeReranker:
    """The share of the question's words that a text has."""

    def __init__(self, *, calls: FakeCalls | None = None) -> None:
        self._calls = calls or FakeCalls()

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One judgement in 0..1 per (question, text)."""
        with self._calls.running():
            return [_share(question, text) for question, text in pairs]


def _share(question: str, text: str) -> float:
    asked, found = (set(fake_tokens(one.casefold())) for one in (question, text))
    return len(asked & found) / max(1, len(asked))


def _overlaps(bags: list[set[str]]) -> Vectors:
    pairs = itertools.pairwise(bags)
    values = np.array([len(a & b) / max(1, len(a | b)) for a, b in pairs], dtype=np.float32)
    ratios = values / values.mean() if values.any() else np.ones_like(values)
    return np.array([0.0, *ratios][: len(bags)], dtype=np.float32)


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)) -> None:
        self._now = now

    def now(self) -> datetime:
        """The instant it stands at, timezone-aware, in UTC."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Moves it forward."""
        self._now += by
