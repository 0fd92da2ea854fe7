"""A causal language model in a GGUF file to a transformers folder. Knows nothing of its use."""

import contextlib
import io
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from actors.quiet import quiet_loading


def convert(gguf_file: Path, target: Path) -> None:
    """Writes the dequantised model in float32, which is exact, and its tokenizer to ``target``."""
    folder, name = str(gguf_file.parent), gguf_file.name
    # The GGUF reader draws its own progress bar on stderr, which no setting turns off.
    with quiet_loading(), contextlib.redirect_stderr(io.StringIO()):
        tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
        model = AutoModelForCausalLM.from_pretrained(
            folder,
            gguf_file=name,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
        )
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
