"""Surprisal compression: batches, chunks and texts that fail, on a tiny random model."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from actors.compressor import NoCompressor, SurprisalCompressor
from actors.fakes import FakeTokenizer
from pipeline.errors import ConfigError

TEXT = "the old garden behind our house grows wild tomatoes and sweet peppers every year"


@pytest.fixture(scope="module")
def compressor(tiny_causal: str) -> SurprisalCompressor:
    return SurprisalCompressor(tiny_causal, precision="float32")


def test_no_compressor_keeps_every_text() -> None:
    assert [c.text for c in NoCompressor().compress(["a b c", ""], rate=0.1)] == ["a b c", ""]


def test_about_the_rate_of_the_tokens_stays_in_order(tiny_causal: str) -> None:
    compressor = SurprisalCompressor(tiny_causal, precision="float32", tokenizer=FakeTokenizer())

    [result] = compressor.compress([TEXT], rate=0.5)

    words = TEXT.split()
    places = [words.index(word) for word in result.text.split()]
    assert len(places) == 7
    assert places == sorted(places)
    assert result.fallback is None


def test_a_batch_gives_what_each_text_gives_alone(compressor: SurprisalCompressor) -> None:
    texts = [TEXT, "我们昨天在公园里放风筝吃西瓜", "short but still long enough to choose from"]

    together = compressor.surprisals(texts)

    for text, judged in zip(texts, together, strict=True):
        [alone] = compressor.surprisals([text])
        assert not isinstance(judged, str)
        assert not isinstance(alone, str)
        np.testing.assert_allclose(judged[1], alone[1], atol=1e-4)


def test_the_first_token_is_judged_too(compressor: SurprisalCompressor) -> None:
    [judged] = compressor.surprisals(["abc"])

    assert not isinstance(judged, str)
    assert judged[1].shape == (3,)
    assert (judged[1] > 0).all()


def test_a_text_longer_than_the_model_reads_is_chunked(compressor: SurprisalCompressor) -> None:
    [result] = compressor.compress([TEXT + "\n" + TEXT * 20], rate=0.6)

    assert result.fallback is None
    assert 0 < len(result.text) < len(TEXT) * 21 * 0.3


@pytest.mark.parametrize("text", ["", "  \n ", "yes", "好的"])
def test_texts_with_nothing_to_drop_stay(compressor: SurprisalCompressor, text: str) -> None:
    [result] = compressor.compress([text], rate=0.3)

    assert (result.text, result.fallback) == (text, None)


def test_a_text_that_fails_keeps_its_original_and_takes_none_along(
    compressor: SurprisalCompressor,
) -> None:
    broken = "a lone surrogate \ud800 in a text of some length"

    first, second = compressor.compress([broken, TEXT], rate=0.5)

    assert first.text == broken
    assert "tokenizer failed" in (first.fallback or "")
    assert second.fallback is None
    assert second.text != TEXT


def test_a_model_that_fails_on_one_text_fails_on_that_one_only(
    compressor: SurprisalCompressor, monkeypatch: pytest.MonkeyPatch
) -> None:
    bits: Callable[[Any], Any] = compressor._bits

    def breaks_on_long(batch: list[list[int]]) -> Any:
        if max(map(len, batch)) > 100:
            raise RuntimeError("out of memory")
        return bits(batch)

    monkeypatch.setattr(compressor, "_bits", breaks_on_long)

    long, short = compressor.compress([TEXT * 2, TEXT], rate=0.5)

    assert long.fallback == "the model failed: out of memory"
    assert long.text == TEXT * 2
    assert short.fallback is None


def test_a_rate_of_one_asks_no_model(compressor: SurprisalCompressor) -> None:
    assert compressor.compress([TEXT], rate=1.0)[0].text == TEXT


def test_a_folder_without_a_model_is_refused_by_name(tmp_path: Any) -> None:
    with pytest.raises(ConfigError, match=r"no causal model at .*empty"):
        SurprisalCompressor(str(tmp_path / "empty"))


@pytest.mark.models
def test_the_packaged_model_drops_what_goes_without_saying(
    model_folder: Callable[[str], str],
) -> None:
    compressor = SurprisalCompressor(model_folder("SmolLM2-135M-Instruct"))
    texts = [
        "I was just thinking that it would be really nice to grow some kohlrabi at home.",
        "我昨天和李娜去了杭州，她不吃辣，我们花了320元。",
    ]

    english, chinese = compressor.compress(texts, rate=0.6)

    assert "kohlrabi" in english.text
    assert all(part in chinese.text for part in ("杭州", "不", "320元"))
    assert len(english.text) < len(texts[0])


def test_the_first_layers_alone_can_predict(tiny_causal: str) -> None:
    whole = SurprisalCompressor(tiny_causal, precision="float32")
    shallow = SurprisalCompressor(tiny_causal, precision="float32", layers=1)

    [deep], [early] = whole.surprisals([TEXT]), shallow.surprisals([TEXT])

    assert not isinstance(deep, str)
    assert not isinstance(early, str)
    assert early[1].shape == deep[1].shape
    assert not np.allclose(early[1], deep[1], atol=1e-3)


def test_more_layers_than_there_are_is_refused(tiny_causal: str) -> None:
    with pytest.raises(ConfigError, match="no first 9 layers"):
        SurprisalCompressor(tiny_causal, layers=9)


def test_eight_bits_give_nearly_the_same_surprisals(tiny_causal: str) -> None:
    [exact] = SurprisalCompressor(tiny_causal, precision="float32").surprisals([TEXT])
    [rounded] = SurprisalCompressor(tiny_causal, precision="int8").surprisals([TEXT])

    assert not isinstance(exact, str)
    assert not isinstance(rounded, str)
    np.testing.assert_allclose(rounded[1], exact[1], rtol=0.05, atol=0.2)
