"""Models by name: a packaged model's name, a local folder or a hub name, loaded where it runs."""

from pathlib import Path

from actors.attention import EncoderAttention
from actors.compressor import SurprisalCompressor
from actors.embedder import SentenceEmbedder
from actors.models import resolve
from actors.tokenizer import HubTokenizer


def load_embedder(name: str, *, models_dir: Path, threads: int) -> SentenceEmbedder:
    """The embedding model. Raises ConfigError."""
    return SentenceEmbedder(resolve(name, models_dir), name=name, threads=threads)


def load_compressor(name: str, *, models_dir: Path, threads: int) -> SurprisalCompressor:
    """The compressor over a causal language model. Raises ConfigError."""
    return SurprisalCompressor(resolve(name, models_dir), threads=threads)


def load_attention(name: str, *, models_dir: Path, threads: int) -> EncoderAttention:
    """The attention of an encoder. Raises ConfigError."""
    return EncoderAttention(resolve(name, models_dir), threads=threads)


def load_tokenizer(name: str, *, models_dir: Path) -> HubTokenizer:
    """The tokenizer that lengths are counted with. Raises ConfigError."""
    return HubTokenizer(resolve(name, models_dir))
