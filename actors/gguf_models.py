"""A Llama model in a GGUF file to a transformers folder in float32. Knows nothing of its use.

The file is read directly: the reader in transformers needs a package more and parses the file
three times over, which takes most of a minute.

Source: the GGUF format and its names of Llama tensors; rotary weights are stored interleaved there
and in halves here.
"""

import re
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoTokenizer, GenerationConfig, LlamaConfig, LlamaForCausalLM

from actors.quiet import quiet_loading
from pipeline.errors import ModelError

Weights = NDArray[np.float32]

_WHOLE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
}
_IN_LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def convert(gguf_file: Path, target: Path) -> None:
    """Writes the dequantised model, which is exact in float32, and its tokenizer to ``target``.

    Raises:
        ModelError: the file holds another architecture, or an output layer of its own.
    """
    reader = gguf.GGUFReader(gguf_file)
    if (architecture := _field(reader, "general.architecture")) != "llama":
        raise ModelError(f"expected a llama model in {gguf_file.name}, got {architecture}")
    config = _config(reader)
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    weights = dict(_weight(tensor, config) for tensor in reader.tensors)
    model.load_state_dict(weights, strict=False, assign=True)
    model.tie_weights()
    model.generation_config = GenerationConfig.from_model_config(config)
    with quiet_loading():
        model.save_pretrained(target)
        folder, name = str(gguf_file.parent), gguf_file.name
        AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(target)


def _field(reader: Any, name: str) -> Any:
    if name not in reader.fields:
        raise ModelError(f"the GGUF file has no field {name}")
    return reader.fields[name].contents()


def _config(reader: Any) -> LlamaConfig:
    def of(name: str) -> Any:
        return _field(reader, f"llama.{name}")

    def token(name: str) -> int:
        return int(_field(reader, f"tokenizer.ggml.{name}_token_id"))

    return LlamaConfig(
        vocab_size=of("vocab_size"),
        hidden_size=of("embedding_length"),
        intermediate_size=of("feed_forward_length"),
        num_hidden_layers=of("block_count"),
        num_attention_heads=of("attention.head_count"),
        num_key_value_heads=of("attention.head_count_kv"),
        max_position_embeddings=of("context_length"),
        rms_norm_eps=of("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": of("rope.freq_base")},
        tie_word_embeddings=True,
        bos_token_id=token("bos"),
        eos_token_id=token("eos"),
        pad_token_id=token("padding"),
        dtype="float32",
    )


def _weight(tensor: Any, config: LlamaConfig) -> tuple[str, torch.Tensor]:
    values: Weights = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    if tensor.name in _WHOLE:
        return _WHOLE[tensor.name], torch.from_numpy(values.copy())
    match = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", tensor.name)
    if match is None or match[2] not in _IN_LAYER:
        raise ModelError(f"no place is known for the tensor {tensor.name}")
    if match[2] == "attn_q":
        values = _in_halves(values, int(config.num_attention_heads))
    if match[2] == "attn_k":
        values = _in_halves(values, int(config.num_key_value_heads or config.num_attention_heads))
    name = f"model.layers.{match[1]}.{_IN_LAYER[match[2]]}.weight"
    return name, torch.from_numpy(values.copy())


def _in_halves(weights: Weights, heads: int) -> Weights:
    """Rotary dimensions of each head from pairs side by side to first and second halves."""
    pairs = weights.reshape(heads, -1, 2, weights.shape[1])
    return pairs.swapaxes(1, 2).reshape(weights.shape)
