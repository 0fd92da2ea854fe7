"""Models for tests: tiny random ones made on the spot, and the packaged ones where installed."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


SPOKEN = [
    "Priya did not buy three lamps from the old market. She moved to Lisbon with her two dogs.",
    "So, I have been thinking: what if we took the early train and paid for it? OK?",
    "我昨天和李娜去了杭州，她不吃辣，我们花了很多钱。明天下午见。",
    "We use the index in the main file, don't we? See the link for more.",
]
"""What the tokenizers of tiny models are trained on."""


def _word_pieces() -> Any:
    """A tokenizer like BERT's, cased."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=special, initial_alphabet=list("!?.,:$_/()-0123456789")
    )
    tokenizer.train_from_iterator(SPOKEN, trainer)
    return tokenizer


def _unigrams() -> Any:
    """A tokenizer like XLM-R's."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=300,
        special_tokens=special,
        unk_token="<unk>",
        show_progress=False,
        initial_alphabet=list("!?.,:$_/()-0123456789"),
    )
    tokenizer.train_from_iterator(SPOKEN * 5, trainer)
    return tokenizer


def _classifier(folder: Path, tokenizer: Any, kind: Any, **special: str) -> str:
    import torch
    from transformers import AutoModelForTokenClassification, PreTrainedTokenizerFast

    torch.manual_seed(1)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    config = kind(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=514,
        pad_token_id=fast.pad_token_id,
        num_labels=2,
        initializer_range=0.5,
    )
    AutoModelForTokenClassification.from_config(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def tiny_classifiers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Random token classifiers, in folders named as the package llmlingua wants them."""
    from transformers import BertConfig, XLMRobertaConfig

    folder = tmp_path_factory.mktemp("classifiers")
    bert = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
    xlm = {
        "bos": "<s>",
        "eos": "</s>",
        "unk": "<unk>",
        "sep": "</s>",
        "pad": "<pad>",
        "cls": "<s>",
        "mask": "<mask>",
    }
    return {
        "bert": _classifier(
            folder / "bert-base-multilingual-cased", _word_pieces(), BertConfig, **_named(bert)
        ),
        "xlm-roberta": _classifier(
            folder / "xlm-roberta-large", _unigrams(), XLMRobertaConfig, **_named(xlm)
        ),
    }


def _named(special: dict[str, str]) -> dict[str, str]:
    return {f"{name}_token": token for name, token in special.items()}


@pytest.fixture(scope="session")
def tiny_bytes_classifier(tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: Path) -> str:
    """A random token classifier over bytes."""
    from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

    config = BertConfig(
        vocab_size=259,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        max_position_embeddings=128,
        num_labels=2,
    )
    folder = tmp_path_factory.mktemp("bytes")
    BertForTokenClassification(config).save_pretrained(folder)
    PreTrainedTokenizerFast.from_pretrained(tiny_tokenizer).save_pretrained(folder)
    return str(folder)
