"""The words that the package ``llmlingua`` keeps, from the same model, many texts at once.

Source: llmlingua 0.2.2, ``PromptCompressor(use_llmlingua2=True)``, rewritten from what it does:
chunks of 510 tokens, cut back to a full stop or a forced line break; each chunk written out and
read again; words of pieces, worth the mean of their pieces; forced words worth 1; a threshold per
chunk, the percentile over the tokens of its words; kept is what lies strictly above. Where we
differ: chunks of many texts share batches, and a text of which nothing is left stays as it was.
Knows nothing of numbers, negations and names: that is ``actors.compressor``'s part.
"""

import itertools
import json
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from actors.llmlingua import TokenClassifier
from pipeline.errors import ConfigError
from pipeline.ports import Tokenizer
from pipeline.state import Compressed

_MOST_FORCED = 100
_SEED = 42
_CHUNK_ENDS = (".", "\n")
_DIGIT = re.compile(r"\d")
_BATCH_TOKENS = 4096

_Value = np.float32 | float
"""As the package mixes them: what is forced is a Python float."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The words of a text as the model's pieces spell them, and which of them stay."""

    text: str
    words: tuple[str, ...]
    is_kept: tuple[bool, ...]


class PublishedCompressor:
    """LLMLingua-2 as published; implements ``ports.Compressor``."""

    def __init__(
        self,
        model: TokenClassifier,
        *,
        tokenizer: Tokenizer,
        force_tokens: Sequence[str] = (),
        keep_digits: bool = False,
    ) -> None:
        """
        Args:
            model: with 32-bit weights, as in the package; gets 100 more tokens where a forced
                token is none of its own, like there.
            tokenizer: how many tokens a word counts for; the package takes cl100k.
            force_tokens: at most 100 words that always stay.
            keep_digits: whether pieces with a digit always stay.

        Raises:
            ConfigError: more forced tokens, or a tokenizer that is not made of word pieces.
        """
        if len(force_tokens) > _MOST_FORCED:
            raise ConfigError(f"expected at most {_MOST_FORCED}, got {len(force_tokens)}")
        self._model = model
        self._reader = model.reader
        self._tokenizer = tokenizer
        self._forced = frozenset(force_tokens)
        self._keep_digits = keep_digits
        self._mark = _word_mark(model)
        self._special = frozenset(map(str, self._reader.special_tokens_map.values()))
        self._stand_ins = self._added(force_tokens)
        self._ends = {
            *_CHUNK_ENDS,
            *(self._stand_ins[e] for e in _CHUNK_ENDS if e in self._stand_ins),
        }

    def compress(self, texts: Sequence[str], *, rate: float) -> list[Compressed]:
        """About ``rate`` (0..1] of each text's tokens."""
        if rate >= 1.0:
            return [Compressed(text=text) for text in texts]
        chosen = [choice.text for choice in self.choose(texts, rate=rate)]
        return [
            Compressed(text=left) if left.strip() else _whole(text)
            for text, left in zip(texts, chosen, strict=True)
        ]

    def choose(self, texts: Sequence[str], *, rate: float) -> list[Choice]:
        """Per text its words and which of them the package keeps; ``rate`` is below 1."""
        chunks = [self._chunks(text) for text in texts]
        rows = [self._row(chunk) for of_text in chunks for chunk in of_text]
        made = (self._chosen(*pair, rate=rate) for pair in self._judged(rows))
        parts = [list(itertools.islice(made, len(of_text))) for of_text in chunks]
        return [
            Choice(
                text="".join(part.text for part in some),
                words=tuple(word for part in some for word in part.words),
                is_kept=tuple(kept for part in some for kept in part.is_kept),
            )
            for some in parts
        ]

    def _added(self, force_tokens: Sequence[str]) -> Mapping[str, str]:
        """Forced tokens that are not one piece, with the added tokens that stand for them."""
        alien = {
            token: f"[NEW{i}]"
            for i, token in enumerate(force_tokens)
            if len(self._reader.tokenize(token)) != 1
        }
        if alien:
            added = [f"[NEW{i}]" for i in range(_MOST_FORCED)]
            self._reader.add_tokens(added, special_tokens=True)
            with torch.random.fork_rng():
                # The package draws the embeddings of the new tokens from this seed.
                torch.manual_seed(_SEED)
                self._model.model.resize_token_embeddings(len(self._reader))
        return alien

    def _chunks(self, text: str) -> list[str]:
        for token, stand_in in self._stand_ins.items():
            text = text.replace(token, stand_in)
        pieces: list[str] = self._reader.tokenize(text)
        chunks: list[str] = []
        at, most = 0, self._model.max_tokens - 2
        while at < len(pieces):
            last = at + most
            if last > len(pieces) - 1:
                last = len(pieces) - 1
            else:
                ends = (i for i in range(last, at, -1) if pieces[i] in self._ends)
                last = next(ends, last)
            chunks.append(self._reader.convert_tokens_to_string(pieces[at : last + 1]))
            at = last + 1
        return chunks

    def _row(self, chunk: str) -> list[int]:
        # BERT's marks whatever the model: to XLM-R they are unknown tokens, in the package too.
        pieces = ["[CLS]", *self._reader.tokenize(chunk), "[SEP]"]
        ids: list[int] = self._reader.convert_tokens_to_ids(pieces[: self._model.max_tokens])
        return ids

    def _judged(self, rows: Sequence[list[int]]) -> list[tuple[list[str], list[np.float32]]]:
        """Per row its pieces and what each is worth, rows of like length together."""
        found: dict[int, tuple[list[str], list[np.float32]]] = {}
        batch: list[int] = []
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for i, after in itertools.zip_longest(order, order[1:]):
            batch.append(i)
            if after is not None and len(rows[after]) * (len(batch) + 1) <= _BATCH_TOKENS:
                continue
            kept = self._model.probabilities([rows[place] for place in batch])
            for place, values in zip(batch, kept, strict=True):
                found[place] = (self._reader.convert_ids_to_tokens(rows[place]), list(values))
            batch = []
        return [found[i] for i in range(len(rows))]

    def _chosen(self, pieces: list[str], values: list[np.float32], *, rate: float) -> Choice:
        words, worth = self._words(pieces, values)
        if not words:
            return Choice(text="", words=(), is_kept=())
        counts = self._tokenizer.count(words)
        spread = [value for value, count in zip(worth, counts, strict=True) for _ in range(count)]
        share = int(100 * max(0, 1 - rate) + 1)
        threshold = np.percentile(np.asarray(spread), share) if spread else 1.0
        kept = [value > threshold or threshold == 1.0 == value for value in worth]
        left = [word for word, stays in zip(words, kept, strict=True) if stays]
        return Choice(
            text=self._reader.convert_tokens_to_string(left),
            words=tuple(word.lstrip("▁") if self._mark == "▁" else word for word in words),
            is_kept=tuple(map(bool, kept)),
        )

    def _words(self, pieces: list[str], values: list[np.float32]) -> tuple[list[str], list[_Value]]:
        """Pieces merged into words, each worth the mean of its pieces."""
        words: list[str] = []
        parts: list[list[_Value]] = []
        alike = self._forced | set(self._stand_ins.values())
        for piece, value in zip(pieces, values, strict=True):
            if piece in self._special:
                continue
            bare = piece.lstrip(self._mark)
            if self._begins_word(piece, bare) or not words:
                words.append(self._written(piece))
                is_forced = bare in alike or self._is_kept_digit(words[-1])
                parts.append([1.0 if is_forced else value])
            else:
                words[-1] += bare
                parts[-1].append(1.0 if self._is_kept_digit(piece) else value)
        # Summed one by one in 32 bits: the threshold tells values apart that differ in the last.
        return words, [sum(part) / len(part) for part in parts]

    def _begins_word(self, piece: str, bare: str) -> bool:
        alike = self._forced | set(self._stand_ins.values())
        if self._mark == "##":
            return bare in alike or not piece.startswith("##")
        return piece in string.punctuation or piece in alike or piece.startswith("▁")

    def _is_kept_digit(self, piece: str) -> bool:
        return self._keep_digits and bool(_DIGIT.search(piece))

    def _written(self, piece: str) -> str:
        for token, stand_in in self._stand_ins.items():
            piece = piece.replace(stand_in, token)
        return piece


def _whole(text: str) -> Compressed:
    return Compressed(text=text, fallback="no word would be left" if text.strip() else None)


def _word_mark(model: TokenClassifier) -> str:
    """What tells the pieces of a word apart: ``##`` inside one, or ``▁`` at its beginning."""
    kind = json.loads(model.reader.backend_tokenizer.to_str())["model"]["type"]
    marks = {"WordPiece": "##", "Unigram": "▁"}
    if kind not in marks:
        raise ConfigError(f"expected word pieces of BERT or XLM-R, got {kind}", field="compressor")
    return marks[kind]
