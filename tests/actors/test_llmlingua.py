"""Keep-probabilities of a token classifier, on tiny random models made by the tests."""

from typing import Any

import numpy as np
import pytest

from actors.compressor import WordCompressor
from actors.llmlingua import TokenClassifier
from pipeline.errors import ConfigError

TEXT = "Priya did not buy 3 lamps from the old market. She moved to Lisbon with her two dogs."


@pytest.fixture(scope="module", params=["bert", "xlm-roberta"])
def model(request: pytest.FixtureRequest, tiny_classifiers: dict[str, str]) -> TokenClassifier:
    return TokenClassifier(tiny_classifiers[request.param], precision="float32")


def test_a_batch_gives_what_each_text_gives_alone(model: TokenClassifier) -> None:
    chunks = [model.read(text).chunks[0] for text in (TEXT, "我不吃辣，住在杭州。", "a few words")]

    together = model.values(chunks)

    for chunk, values in zip(chunks, together, strict=True):
        assert values.shape == (len(chunk),)
        assert ((values > 0) & (values < 1)).all()
        np.testing.assert_allclose(values, model.values([chunk])[0], atol=1e-5)


def test_a_long_text_is_cut_behind_a_sentence(model: TokenClassifier) -> None:
    reading = model.read(f"{TEXT} " * 60)

    places = np.cumsum([len(chunk) for chunk in reading.chunks])[:-1]
    assert len(places) > 1
    assert all(reading.text[reading.starts[at - 1]] == "." for at in places)
    assert max(map(len, reading.chunks)) <= 510


def test_words_that_must_not_be_lost_stay_inside_the_budget(model: TokenClassifier) -> None:
    [result] = WordCompressor(model).compress([f"{TEXT} It was all very nice."], rate=0.6)

    assert result.fallback is None
    assert {"not", "3", "Lisbon", "two"} <= set(result.text.replace(".", " ").split())
    counted = model.tokenizer.count([result.text, f"{TEXT} It was all very nice."])
    assert counted[0] <= round(0.6 * counted[1])


def test_chinese_words_are_kept_whole(model: TokenClassifier) -> None:
    text = "我们昨天在公园里放风筝，然后一起去看电影吃西瓜。"

    [result] = WordCompressor(model, whole_below_tokens=0).compress([text], rate=0.5)

    assert 0 < len(result.text) < len(text)
    for word in ("公园", "风筝", "电影", "西瓜"):
        assert (word[0] in result.text) == (word in result.text)


def test_an_encoder_without_a_classifier_is_refused(tiny_encoder: str) -> None:
    with pytest.raises(ConfigError, match="classifies no tokens"):
        TokenClassifier(tiny_encoder)


def test_a_folder_without_a_model_is_refused_by_name(tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match="empty"):
        TokenClassifier(str(tmp_path / "empty"))
