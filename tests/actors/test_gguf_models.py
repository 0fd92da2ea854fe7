"""A GGUF file becomes the same model in a transformers folder."""

from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest

from actors.gguf_models import convert
from pipeline.errors import ModelError

HIDDEN, HEADS, KV_HEADS, WIDE = 32, 4, 2, 64
TOKENS = ["<unk>", "<s>", "</s>", "a", "b", "Ġ", "ab"]


def write(path: Path, *, architecture: str = "llama", extra: str | None = None) -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_vocab_size(len(TOKENS))
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(WIDE)
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(TOKENS)
    writer.add_token_merges(["a b"])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    for name, shape in shapes().items():
        writer.add_tensor(name, numbered(shape))
    if extra:
        writer.add_tensor(extra, numbered((HIDDEN,)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def shapes() -> dict[str, tuple[int, ...]]:
    narrow = HIDDEN // HEADS * KV_HEADS
    layer = {"attn_q": (HIDDEN, HIDDEN), "attn_output": (HIDDEN, HIDDEN)}
    layer |= {"attn_k": (narrow, HIDDEN), "attn_v": (narrow, HIDDEN)}
    layer |= {"ffn_gate": (WIDE, HIDDEN), "ffn_up": (WIDE, HIDDEN), "ffn_down": (HIDDEN, WIDE)}
    whole: dict[str, tuple[int, ...]] = {"token_embd.weight": (len(TOKENS), HIDDEN)}
    whole |= {"output_norm.weight": (HIDDEN,)}
    whole |= {f"blk.0.{name}.weight": (HIDDEN,) for name in ("attn_norm", "ffn_norm")}
    return whole | {f"blk.0.{name}.weight": shape for name, shape in layer.items()}


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) / 1000


def test_every_tensor_finds_its_place(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    convert(write(tmp_path / "tiny.gguf"), tmp_path / "out")

    weights = load_file(tmp_path / "out" / "model.safetensors")
    layer = "model.layers.0."
    np.testing.assert_array_equal(weights[layer + "mlp.down_proj.weight"], numbered((HIDDEN, WIDE)))
    query = weights[layer + "self_attn.q_proj.weight"]
    interleaved = numbered((HIDDEN, HIDDEN))
    np.testing.assert_array_equal(query[:4], interleaved[[0, 2, 4, 6]])
    np.testing.assert_array_equal(query[4:8], interleaved[[1, 3, 5, 7]])


def test_the_folder_loads_with_its_tokenizer(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    convert(write(tmp_path / "tiny.gguf"), tmp_path / "out")

    model = AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")

    assert model.config.num_key_value_heads == KV_HEADS
    assert tokenizer("ab", add_special_tokens=False)["input_ids"] == [TOKENS.index("ab")]


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"expected a llama model in other\.gguf, got qwen2"):
        convert(write(tmp_path / "other.gguf", architecture="qwen2"), tmp_path)


def test_a_tensor_without_a_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no place is known for the tensor output\.weight"):
        convert(write(tmp_path / "tiny.gguf", extra="output.weight"), tmp_path)


@pytest.mark.models
def test_the_packaged_model_is_small_and_whole(model_folder: Callable[[str], str]) -> None:
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(model_folder("SmolLM2-135M-Instruct"))

    assert (config.num_hidden_layers, config.hidden_size, config.vocab_size) == (30, 576, 49152)
