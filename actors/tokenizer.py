"""Counting tokens with the tokenizer of a model. Knows nothing of what is counted."""

from collections.abc import Sequence
from pathlib import Path

import tokenizers

from pipeline.errors import ConfigError


class HubTokenizer:
    """The ``tokenizer.json`` of a local folder or a hub name; implements ``ports.Tokenizer``."""

    def __init__(self, path: str) -> None:
        """Raises ConfigError where there is no tokenizer."""
        self._tokenizer = _load(path)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens; 0 for an empty text."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]


def _load(path: str) -> tokenizers.Tokenizer:
    folder = Path(path)
    try:
        if folder.is_dir():
            return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        return tokenizers.Tokenizer.from_pretrained(path)
    except Exception as error:  # the library raises bare Exception, whatever went wrong
        raise ConfigError(f"no tokenizer.json in {path}: {error}", field="tokenizer") from error
