"""Models by name: a packaged model's name, a local folder or a hub name, loaded where it runs.

The adapters are imported inside the functions: a process loads torch only for a model it hosts.
A name that begins with ``fake`` loads a stand-in of ``actors.fakes``, for tests and for measuring
what the service costs beside its models: ``fake:delay_s=0.05,calls=FOLDER`` waits that long in
each call and keeps a file in the folder meanwhile; ``log=FILE`` gets the time of each reply.
"""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actors.models import resolve
from pipeline.errors import ConfigError
from pipeline.ports import AttentionModel, Compressor, Embedder, Extractor, Tokenizer

if TYPE_CHECKING:
    from actors.fakes import FakeCalls

log = logging.getLogger("slowwave")

EXTRACTIVE = "extractive-baseline"


def load_embedder(name: str, *, models_dir: Path, threads: int) -> Embedder:
    """The embedding model. Raises ConfigError."""
    if is_fake(name):
        from actors.fakes import FakeEmbedder

        return FakeEmbedder(model=name, calls=_fake_calls(name))
    from actors.embedder import SentenceEmbedder

    return SentenceEmbedder(resolve(name, models_dir), name=name, threads=threads)


def load_compressor(name: str, *, models_dir: Path, threads: int) -> Compressor:
    """The compressor over a causal language model. Raises ConfigError."""
    if is_fake(name):
        from actors.fakes import FakeCompressor

        return FakeCompressor(calls=_fake_calls(name))
    from actors.compressor import SurprisalCompressor

    return SurprisalCompressor(resolve(name, models_dir), threads=threads)


def load_attention(name: str, *, models_dir: Path, threads: int) -> AttentionModel:
    """The attention of an encoder. Raises ConfigError."""
    from actors.attention import EncoderAttention

    return EncoderAttention(resolve(name, models_dir), threads=threads)


def load_tokenizer(name: str, *, models_dir: Path) -> Tokenizer:
    """The tokenizer that lengths are counted with. Raises ConfigError."""
    if is_fake(name):
        from actors.fakes import FakeTokenizer

        return FakeTokenizer()
    from actors.tokenizer import HubTokenizer

    return HubTokenizer(resolve(name, models_dir))


def load_extractor(name: str, *, tokenizer: Tokenizer, max_entry_tokens: int) -> Extractor:
    """What makes statements of batches. Raises ConfigError for an unknown name."""
    if is_fake(name):
        from actors.fakes import FakeExtractor

        return FakeExtractor(calls=_fake_calls(name))
    if name != EXTRACTIVE:
        raise ConfigError(f"expected {EXTRACTIVE}, got {name!r}", field="models.extractor")
    from actors.extractive import ExtractiveSummariser

    return ExtractiveSummariser(tokenizer=tokenizer, max_entry_tokens=max_entry_tokens)


def is_fake(name: str) -> bool:
    """Whether the name asks for a stand-in."""
    return name == "fake" or name.startswith("fake:")


def _fake_calls(name: str) -> "FakeCalls":
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
