"""Surprisals of tokens: batches, chunks, layers and precisions, on a tiny random model."""

from typing import Any

import numpy as np
import pytest

from actors.surprisal import SurprisalModel
from pipeline.awake.readings import Values
from pipeline.errors import ConfigError, ModelError

TEXT = "the old garden behind our house grows wild tomatoes and sweet peppers every year"


@pytest.fixture(scope="module")
def model(tiny_causal: str) -> SurprisalModel:
    return SurprisalModel(tiny_causal, precision="float32")


def surprisals(model: SurprisalModel, *texts: str) -> list[Values]:
    return model.values([model.read(text).chunks[0] for text in texts])


def test_a_batch_gives_what_each_text_gives_alone(model: SurprisalModel) -> None:
    texts = [TEXT, "我们昨天在公园里放风筝吃西瓜", "short but still long enough to choose from"]

    together = surprisals(model, *texts)

    for text, values in zip(texts, together, strict=True):
        np.testing.assert_allclose(values, surprisals(model, text)[0], atol=1e-4)


def test_the_first_token_is_judged_too(model: SurprisalModel) -> None:
    [values] = surprisals(model, "abc")

    assert values.shape == (3,)
    assert (values > 0).all()


def test_a_text_is_read_in_chunks_of_what_the_model_reads(model: SurprisalModel) -> None:
    reading = model.read("x" * 300)

    assert [len(chunk) for chunk in reading.chunks] == [128, 128, 44]
    assert len(reading.starts) == len(reading.ends) == 300


def test_a_text_that_cannot_be_read_is_an_error_of_the_model(model: SurprisalModel) -> None:
    with pytest.raises(ModelError, match="tokenizer failed"):
        model.read("a lone surrogate \ud800")


def test_a_folder_without_a_model_is_refused_by_name(tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match=r"no causal model at .*empty"):
        SurprisalModel(str(tmp_path / "empty"))


def test_the_first_layers_alone_can_predict(tiny_causal: str, model: SurprisalModel) -> None:
    shallow = SurprisalModel(tiny_causal, precision="float32", layers=1)

    [deep], [early] = surprisals(model, TEXT), surprisals(shallow, TEXT)

    assert early.shape == deep.shape
    assert not np.allclose(early, deep, atol=1e-3)


def test_more_layers_than_there_are_is_refused(tiny_causal: str) -> None:
    with pytest.raises(ConfigError, match="no first 9 layers"):
        SurprisalModel(tiny_causal, layers=9)


def test_eight_bits_give_nearly_the_same_surprisals(
    tiny_causal: str, model: SurprisalModel
) -> None:
    [rounded] = surprisals(SurprisalModel(tiny_causal, precision="int8"), TEXT)

    np.testing.assert_allclose(rounded, surprisals(model, TEXT)[0], rtol=0.05, atol=0.2)
