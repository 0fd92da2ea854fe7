"""Compression by surprisal: batches, chunks and texts that fail, on a tiny random model."""

from collections.abc import Callable
from typing import Any

import pytest

from actors.compressor import NoCompressor, WordCompressor
from actors.fakes import FakeTokenizer
from actors.surprisal import SurprisalModel

TEXT = "the old garden behind our house grows wild tomatoes and sweet peppers every year"


@pytest.fixture(scope="module")
def model(tiny_causal: str) -> SurprisalModel:
    return SurprisalModel(tiny_causal, precision="float32")


@pytest.fixture(scope="module")
def compressor(model: SurprisalModel) -> WordCompressor:
    return WordCompressor(model, max_tokens=128)


def test_no_compressor_keeps_every_text() -> None:
    assert [c.text for c in NoCompressor().compress(["a b c", ""], rate=0.1)] == ["a b c", ""]


def test_about_the_rate_of_the_tokens_stays_in_order(model: SurprisalModel) -> None:
    compressor = WordCompressor(model, tokenizer=FakeTokenizer(), whole_below_tokens=0)

    [result] = compressor.compress([TEXT], rate=0.5)

    words = TEXT.split()
    places = [words.index(word) for word in result.text.split()]
    assert len(places) == 7
    assert places == sorted(places)
    assert result.fallback is None


@pytest.mark.parametrize("text", [TEXT, "我们昨天在公园里放风筝，然后一起去看电影。"])
def test_a_short_text_stays_whole(model: SurprisalModel, text: str) -> None:
    tokens = FakeTokenizer().count([text])[0]
    whole, less = (
        WordCompressor(model, tokenizer=FakeTokenizer(), whole_below_tokens=below)
        for below in (tokens + 1, tokens)
    )

    assert whole.compress([text], rate=0.4)[0].text == text
    assert less.compress([text], rate=0.4)[0].text != text


def test_a_text_longer_than_the_model_reads_is_chunked(compressor: WordCompressor) -> None:
    [result] = compressor.compress([TEXT + "\n" + TEXT * 20], rate=0.6)

    assert result.fallback is None
    assert 0 < len(result.text) < len(TEXT) * 21 * 0.3


@pytest.mark.parametrize("text", ["", "  \n ", "yes", "好的"])
def test_texts_with_nothing_to_drop_stay(compressor: WordCompressor, text: str) -> None:
    [result] = compressor.compress([text], rate=0.3)

    assert (result.text, result.fallback) == (text, None)


def test_a_text_that_fails_keeps_its_original_and_takes_none_along(
    compressor: WordCompressor,
) -> None:
    broken = "a lone surrogate \ud800 in a text of some length"

    first, second = compressor.compress([broken, TEXT], rate=0.5)

    assert first.text == broken
    assert "tokenizer failed" in (first.fallback or "")
    assert second.fallback is None
    assert second.text != TEXT


def test_a_model_that_fails_on_one_text_fails_on_that_one_only(
    compressor: WordCompressor, model: SurprisalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: Callable[[Any], Any] = model.values

    def breaks_on_long(batch: list[list[int]]) -> Any:
        if max(map(len, batch)) > 100:
            raise RuntimeError("out of memory")
        return values(batch)

    monkeypatch.setattr(model, "values", breaks_on_long)

    long, short = compressor.compress([TEXT * 2, TEXT], rate=0.5)

    assert long.fallback == "the model failed: out of memory"
    assert long.text == TEXT * 2
    assert short.fallback is None


def test_a_rate_of_one_asks_no_model(compressor: WordCompressor) -> None:
    assert compressor.compress([TEXT], rate=1.0)[0].text == TEXT


@pytest.mark.models
def test_the_packaged_model_drops_what_goes_without_saying(
    model_folder: Callable[[str], str],
) -> None:
    compressor = WordCompressor(SurprisalModel(model_folder("SmolLM2-135M-Instruct")))
    texts = [
        "I was just thinking that it would be really nice to grow some kohlrabi at home.",
        "我昨天和李娜去了杭州，她不吃辣，我们花了320元。",
    ]

    english, chinese = compressor.compress(texts, rate=0.6)

    assert "kohlrabi" in english.text
    assert all(part in chinese.text for part in ("杭州", "不", "320元"))
    assert len(english.text) < len(texts[0])
