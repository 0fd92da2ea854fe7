from pathlib import Path

import pytest

from actors.reranker import CrossEncoderReranker
from pipeline.errors import ConfigError

transformers = pytest.importorskip("transformers")


def tiny_cross_encoder(folder: Path, tokenizer: Path, *, labels: int) -> str:
    """A small random encoder with so many outputs for a pair."""
    loaded = transformers.PreTrainedTokenizerFast.from_pretrained(tokenizer)
    config = transformers.BertConfig(
        vocab_size=len(loaded),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=labels,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    loaded.model_max_length = 64
    loaded.save_pretrained(folder)
    return str(folder)


@pytest.fixture
def reranker(tmp_path: Path, tiny_tokenizer: Path) -> CrossEncoderReranker:
    return CrossEncoderReranker(tiny_cross_encoder(tmp_path / "one", tiny_tokenizer, labels=1))


PAIRS = [
    ("Where does Mara live?", "Mara lives in Lisbon."),
    ("王芳住在哪里？", "王芳住在上海。"),
    ("tea?", "a very long text " * 100),
]


def test_every_pair_gets_a_judgement_between_0_and_1_in_its_place(
    reranker: CrossEncoderReranker,
) -> None:
    together = reranker.scores(PAIRS)

    assert len(together) == 3
    assert all(0.0 < value < 1.0 for value in together)
    assert together == pytest.approx([reranker.scores([pair])[0] for pair in PAIRS], abs=1e-5)
    assert reranker.scores([]) == []


def test_a_model_with_several_outputs_is_refused(tmp_path: Path, tiny_tokenizer: Path) -> None:
    folder = tiny_cross_encoder(tmp_path / "three", tiny_tokenizer, labels=3)

    with pytest.raises(ConfigError, match="one output"):
        CrossEncoderReranker(folder)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no cross-encoder"):
        CrossEncoderReranker(str(tmp_path))
