"""Models for tests: tiny random ones made on the spot, and the packaged ones where installed."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.models import installed, prepare

MODELS = Path(sys.prefix) / "share" / "slowwave" / "models"


@pytest.fixture(scope="session")
def model_folder() -> Callable[[str], str]:
    """The prepared folder of a packaged model; skips the test where its package is missing."""

    def folder(name: str) -> str:
        if not installed(name):
            pytest.skip(f"the package of {name} is not installed; run `slowwave models install`")
        return str(prepare(name, MODELS))

    return folder


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer of single bytes, 256 tokens and three special ones."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {c: i for i, c in enumerate(["<pad>", "<s>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, cls_token="<s>", sep_token="</s>", **special
    )
    folder = tmp_path_factory.mktemp("tokenizer")
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_causal(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: Path) -> str:
    """A random causal model over bytes, 128 tokens long."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=259,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    folder = tmp_path_factory.mktemp("causal")
    LlamaForCausalLM(config).save_pretrained(folder)
    PreTrainedTokenizerFast.from_pretrained(tiny_tokenizer).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: Path) -> str:
    """A random BERT over bytes, 128 tokens long."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=259,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=128,
    )
    folder = tmp_path_factory.mktemp("encoder")
    BertModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast.from_pretrained(tiny_tokenizer).save_pretrained(folder)
    return str(folder)
