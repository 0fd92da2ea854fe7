"""Models by name: a packaged model's name, a local folder or a hub name, loaded where it runs.

The adapters are imported inside the functions: a process loads torch only for a model it hosts.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from actors.models import resolve

if TYPE_CHECKING:
    from actors.attention import EncoderAttention
    from actors.compressor import SurprisalCompressor
    from actors.embedder import SentenceEmbedder
    from actors.tokenizer import HubTokenizer


def load_embedder(name: str, *, models_dir: Path, threads: int) -> "SentenceEmbedder":
    """The embedding model. Raises ConfigError."""
    from actors.embedder import SentenceEmbedder

    return SentenceEmbedder(resolve(name, models_dir), name=name, threads=threads)


def load_compressor(name: str, *, models_dir: Path, threads: int) -> "SurprisalCompressor":
    """The compressor over a causal language model. Raises ConfigError."""
    from actors.compressor import SurprisalCompressor

    return SurprisalCompressor(resolve(name, models_dir), threads=threads)


def load_attention(name: str, *, models_dir: Path, threads: int) -> "EncoderAttention":
    """The attention of an encoder. Raises ConfigError."""
    from actors.attention import EncoderAttention

    return EncoderAttention(resolve(name, models_dir), threads=threads)


def load_tokenizer(name: str, *, models_dir: Path) -> "HubTokenizer":
    """The tokenizer that lengths are counted with. Raises ConfigError."""
    from actors.tokenizer import HubTokenizer

    return HubTokenizer(resolve(name, models_dir))
