"""Counting tokens."""

from pathlib import Path

import pytest

from actors.tokenizer import HubTokenizer
from pipeline.errors import ConfigError


def test_tokens_are_counted_without_special_ones(tiny_tokenizer: Path) -> None:
    assert HubTokenizer(str(tiny_tokenizer)).count(["abc", "", "猫"]) == [3, 0, 3]


def test_no_text_is_too_long_to_count(tiny_tokenizer: Path) -> None:
    assert HubTokenizer(str(tiny_tokenizer)).count(["x" * 60_000]) == [60_000]


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no tokenizer\.json in"):
        HubTokenizer(str(tmp_path))
