"""A cross-encoder made here, too small to know anything: labels, shapes and refusals."""

import json
from pathlib import Path

import pytest
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

from actors.entailment import CrossEncoderEntailment
from pipeline.errors import ConfigError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ida", "sails", "住", "在", "."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nli")
    (path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    labels = {0: "CONTRADICTION", 1: "entailment", 2: "neutral"}
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=32,
        id2label=labels,
        label2id={label: place for place, label in labels.items()},
    )
    model = BertForSequenceClassification(config)
    model.classifier.weight.data.zero_()
    model.classifier.bias.data[1] = 3.0
    model.save_pretrained(path)
    BertTokenizerFast(vocab=str(path / "vocab.txt"), model_max_length=32).save_pretrained(path)
    return path


def test_each_pair_gets_the_probabilities_of_its_labels_whatever_their_order(folder: Path) -> None:
    model = CrossEncoderEntailment(str(folder), name="tiny", threads=1)

    found = model.judge([("Ida sails.", "Ida."), ("住在", "住")])

    assert model.name == "tiny"
    assert len(found) == 2
    for each in found:
        assert each.entailment > 0.8
        assert each.neutral == pytest.approx(each.contradiction)
        assert each.entailment + each.neutral + each.contradiction == pytest.approx(1.0)
    assert model.judge([]) == []


def test_a_model_of_other_labels_is_refused(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    config["id2label"] = {"0": "bad", "1": "good", "2": "odd"}
    config["label2id"] = {"bad": 0, "good": 1, "odd": 2}
    (tmp_path / "config.json").write_text(json.dumps(config))

    with pytest.raises(ConfigError, match="expected the labels"):
        CrossEncoderEntailment(str(tmp_path))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model of inference"):
        CrossEncoderEntailment(str(tmp_path))
