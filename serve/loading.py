"""Models by name: a packaged model's name, a local folder or a hub name, loaded where it runs.

The adapters are imported inside the functions: a process loads torch only for a model it hosts.
A name that begins with ``fake`` loads a stand-in of ``actors.fakes``, for tests and for measuring
what the service costs beside its models: ``fake:delay_s=0.05,calls=FOLDER`` waits that long in
each call and keeps a file in the folder meanwhile; ``log=FILE`` gets the time of each reply.
"""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from actors.extractor_threads import ThreadedExtractor
from actors.models import resolve
from pipeline.awake.chat_extract import Limits
from pipeline.deciding import DecisionLimits
from pipeline.errors import ConfigError
from pipeline.ports import (
    AskingDecider,
    AttentionModel,
    ChatModel,
    ChunkedCompressor,
    Decider,
    Embedder,
    EntailmentModel,
    Extractor,
    Reranker,
    Tokenizer,
)
from pipeline.settings import DecisionSettings, ExtractionSettings

if TYPE_CHECKING:
    from actors.fakes import FakeCalls

log = logging.getLogger("slowwave")

EXTRACTIVE = "extractive-baseline"
RULES: Final = "rules-baseline"
"""The decider without a language model."""

CHAT = "chat"
"""The extractor, or the decider, that asks the chat model of the settings."""


def load_embedder(name: str, *, models_dir: Path, threads: int) -> Embedder:
    """The embedding model. Raises ConfigError."""
    if is_fake(name):
        from actors.fakes import FakeEmbedder

        return FakeEmbedder(model=name, calls=fake_calls(name))
    from actors.embedder import SentenceEmbedder

    return SentenceEmbedder(resolve(name, models_dir), name=name, threads=threads)


def load_reranker(name: str, *, models_dir: Path, threads: int) -> Reranker:
    """The cross-encoder that orders hits. Raises ConfigError."""
    if is_fake(name):
        from actors.fakes import FakeReranker

        return FakeReranker(calls=fake_calls(name))
    from actors.reranker import CrossEncoderReranker

    return CrossEncoderReranker(resolve(name, models_dir), threads=threads)


def load_compressor(
    name: str, *, models_dir: Path, threads: int, tokenizer: str | None = None
) -> ChunkedCompressor:
    """The compressor over a causal language model, or over a token classifier as LLMLingua-2 is.

    Args:
        tokenizer: the name of what counts the tokens of the rate; None counts the model's own.

    Raises:
        ConfigError: there is no such model, or it is of another kind.
    """
    if is_fake(name):
        from actors.fakes import FakeCompressor

        return FakeCompressor(calls=fake_calls(name))
    from actors.compressor import TokenModel, WordCompressor
    from actors.llmlingua import TokenClassifier, is_classifier
    from actors.surprisal import SurprisalModel

    path = resolve(name, models_dir)
    model: TokenModel
    if is_classifier(path):
        model = TokenClassifier(path, threads=threads)
    else:
        model = SurprisalModel(path, threads=threads)
    counted = None if tokenizer is None else load_tokenizer(tokenizer, models_dir=models_dir)
    return WordCompressor(model, tokenizer=counted)


def load_attention(name: str, *, models_dir: Path, threads: int) -> AttentionModel:
    """The attention of an encoder. Raises ConfigError."""
    if is_fake(name):
        from actors.fakes import FakeAttention

        return FakeAttention()
    from actors.attention import EncoderAttention

    return EncoderAttention(resolve(name, models_dir), threads=threads)


def load_entailment(name: str, *, models_dir: Path) -> EntailmentModel:
    """The model of natural language inference. Raises ConfigError."""
    from actors.entailment import CrossEncoderEntailment

    return CrossEncoderEntailment(resolve(name, models_dir), name=name)


def load_tokenizer(name: str, *, models_dir: Path) -> Tokenizer:
    """The tokenizer that lengths are counted with. Raises ConfigError."""
    if is_fake(name):
        from actors.fakes import FakeTokenizer

        return FakeTokenizer()
    from actors.tokenizer import HubTokenizer

    return HubTokenizer(resolve(name, models_dir))


def load_extractor(
    name: str, *, tokenizer: Tokenizer, settings: ExtractionSettings, chat: ChatModel | None = None
) -> Extractor:
    """What makes statements of batches.

    Args:
        chat: what the extractor ``chat`` asks.

    Raises:
        ConfigError: the name is unknown, or ``chat`` and there is none to ask.
    """
    if is_fake(name):
        from actors.fakes import FakeExtractor

        return ThreadedExtractor(FakeExtractor(calls=fake_calls(name)), threads=settings.calls)
    if name == CHAT:
        return _chat_extractor(chat, tokenizer=tokenizer, settings=settings)
    if name != EXTRACTIVE:
        raise ConfigError(
            f"expected {EXTRACTIVE} or {CHAT}, got {name!r}", field="models.extractor"
        )
    from actors.extractive import ExtractiveSummariser

    return ThreadedExtractor(ExtractiveSummariser(tokenizer=tokenizer), threads=settings.calls)


def _chat_extractor(
    chat: ChatModel | None, *, tokenizer: Tokenizer, settings: ExtractionSettings
) -> Extractor:
    if chat is None:
        raise ConfigError("the extractor chat needs a chat model, got none", field="models.chat")
    from actors.extractor_chat import ChatExtractor

    limits = Limits(
        attempts=settings.attempts,
        request_tokens=settings.request_tokens,
        reply_tokens=settings.reply_tokens,
    )
    return ChatExtractor(chat=chat, tokenizer=tokenizer, limits=limits)


def load_decider(
    name: str, *, settings: DecisionSettings, chat: ChatModel | None = None
) -> Decider | AskingDecider:
    """What decides the cases of sleep.

    Args:
        chat: what the decider ``chat`` asks.

    Raises:
        ConfigError: the name is unknown, or ``chat`` and there is none to ask.
    """
    if name == RULES:
        from actors.rules import RuleDecider

        return RuleDecider()
    if name != CHAT:
        raise ConfigError(f"expected {RULES} or {CHAT}, got {name!r}", field="models.decider")
    if chat is None:
        raise ConfigError("the decider chat needs a chat model, got none", field="models.chat")
    from actors.decider_chat import ChatDecider

    limits = DecisionLimits(attempts=settings.attempts, reply_tokens=settings.reply_tokens)
    return ChatDecider(chat=chat, limits=limits)


def is_fake(name: str) -> bool:
    """Whether the name asks for a stand-in."""
    return name == "fake" or name.startswith("fake:")


def fake_calls(name: str) -> "FakeCalls":
    """What happens around the calls of a stand-in of this name. Raises ConfigError."""
    from actors.fakes import FakeCalls

    log.warning("%s is a stand-in for a model: for tests alone", name)
    options: dict[str, Any] = dict(
        part.split("=", 1) for part in name.partition(":")[2].split(",") if "=" in part
    )
    if unknown := options.keys() - {"delay_s", "calls", "log"}:
        raise ConfigError(f"unknown options {sorted(unknown)} in {name!r}", field="models")
    folder, replies = options.get("calls"), options.get("log")
    return FakeCalls(
        delay_s=float(options.get("delay_s", 0.0)),
        folder=Path(folder) if folder else None,
        log=Path(replies) if replies else None,
    )
