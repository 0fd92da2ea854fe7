"""The published compressor keeps word for word what the package ``llmlingua`` keeps.

The package counts words with an encoding from the network; here both count with one made on the
spot, of single bytes.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import pytest

from actors.llmlingua import TokenClassifier
from actors.llmlingua_published import PublishedCompressor
from pipeline.errors import ConfigError

TEXTS = [
    "Priya did not buy 3 lamps from the old market. She moved to Lisbon with her two dogs.",
    "So, I've been thinking: what if we took the 10:30am train, and paid $1,250.50 for it?\nOK?",
    "我昨天和李娜去了杭州，她不吃辣，我们花了320元。明天下午3点见。",
    "A mixed one: 我们 use load_index() in src/main.py, don't we? See https://a.org/b?c=d.",
    "single",
    "",
]
LONG = " ".join(TEXTS[:4] * 12)
RATES = (0.2, 0.4, 0.5, 0.6, 0.8)


class Bytes:
    """Counts bytes, two a token, for both sides."""

    def encode(self, word: str) -> list[int]:
        return [0] * ((len(word.encode()) + 1) // 2)

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self.encode(text)) for text in texts]


@pytest.fixture(scope="module", params=["bert", "xlm-roberta"])
def folder(request: pytest.FixtureRequest, tiny_classifiers: dict[str, str]) -> str:
    return tiny_classifiers[request.param]


@pytest.fixture(scope="module")
def published(folder: str) -> Any:
    """The package's own compressor on the same model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package's own, at import and at loading
        package = pytest.importorskip(
            "llmlingua.prompt_compressor", reason="the extra llmlingua is not installed"
        )
        package.tiktoken.encoding_for_model = lambda name: Bytes()
        return package.PromptCompressor(folder, device_map="cpu", use_llmlingua2=True)


def ours(folder: str, **more: Any) -> PublishedCompressor:
    model = TokenClassifier(folder, precision="float32")
    return PublishedCompressor(model, tokenizer=Bytes(), **more)


def theirs(published: Any, text: str, **more: Any) -> tuple[str, list[str], list[bool]]:
    found = published.compress_prompt_llmlingua2(
        [text], return_word_label=True, word_sep="\x1e", label_sep="\x1f", **more
    )
    pairs = [p.split("\x1f") for p in found["fn_labeled_original_prompt"].split("\x1e") if p]
    return (
        found["compressed_prompt"],
        [word for word, _ in pairs],
        [label == "1" for _, label in pairs],
    )


@pytest.mark.parametrize("rate", RATES)
def test_the_same_words_stay(folder: str, published: Any, rate: float) -> None:
    texts = [*TEXTS, LONG]
    choices = ours(folder).choose(texts, rate=rate)

    for text, choice in zip(texts, choices, strict=True):
        kept, words, labels = theirs(published, text, rate=rate)
        assert choice.text == kept
        assert list(choice.words) == words
        assert list(choice.is_kept) == labels


@pytest.mark.parametrize("rate", [0.4, 0.6])
@pytest.mark.parametrize(
    "forced", [("Lisbon", "不"), (".", "?", "!", "\n"), ("load_index", "lamps")]
)
def test_the_same_words_stay_where_some_are_forced(
    folder: str, published: Any, rate: float, forced: tuple[str, ...]
) -> None:
    texts = [*TEXTS, LONG]
    choices = ours(folder, force_tokens=forced).choose(texts, rate=rate)

    for text, choice in zip(texts, choices, strict=True):
        assert choice.text == theirs(published, text, rate=rate, force_tokens=list(forced))[0]


def test_the_same_words_stay_where_digits_do(folder: str, published: Any) -> None:
    choices = ours(folder, keep_digits=True).choose(TEXTS, rate=0.5)

    for text, choice in zip(TEXTS, choices, strict=True):
        assert choice.text == theirs(published, text, rate=0.5, force_reserve_digit=True)[0]


def test_a_text_of_which_nothing_is_left_stays_as_it_was(folder: str) -> None:
    kept = ours(folder).compress(["single", "", TEXTS[0]], rate=0.4)

    assert [(each.text, each.fallback) for each in kept[:2]] == [
        ("single", "no word would be left"),
        ("", None),
    ]
    assert 0 < len(kept[2].text) < len(TEXTS[0])


def test_a_rate_of_one_keeps_everything(folder: str) -> None:
    assert ours(folder).compress([TEXTS[1]], rate=1.0)[0].text == TEXTS[1]


def test_more_forced_tokens_than_the_package_takes_are_refused(folder: str) -> None:
    with pytest.raises(ConfigError, match="at most 100, got 101"):
        ours(folder, force_tokens=[f"t{i}" for i in range(101)])


def test_a_tokenizer_that_is_not_made_of_word_pieces_is_refused(tiny_bytes_classifier: str) -> None:
    with pytest.raises(ConfigError, match="word pieces of BERT or XLM-R, got BPE"):
        ours(tiny_bytes_classifier)
