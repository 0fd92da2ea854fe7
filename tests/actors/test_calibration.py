"""Thresholds per embedding model."""

from pathlib import Path

import pytest

from actors.calibration import calibrate, min_shift, thresholds
from actors.fakes import FakeEmbedder
from actors.models import E5_SMALL, MINILM
from pipeline.awake.segment import TYPICAL_SHIFT
from pipeline.errors import ConfigError, InputError

TURNS = [f"{word} {thing} we saw there" for word in ("red", "old") for thing in "abcdefghijkl"]


def test_every_packaged_embedder_has_measured_thresholds() -> None:
    assert thresholds(MINILM.name) != thresholds(E5_SMALL.name)


def test_a_prepared_folder_is_known_as_its_model(tmp_path: Path) -> None:
    assert thresholds(str(tmp_path / E5_SMALL.folder)) == thresholds(E5_SMALL.name)


def test_an_unknown_model_is_told_which_settings_to_make() -> None:
    with pytest.raises(ConfigError, match=r"BAAI/bge-m3; set segmentation\.max_similarity"):
        thresholds("BAAI/bge-m3")


def test_thresholds_of_a_model_come_from_its_own_cosines() -> None:
    found = calibrate(FakeEmbedder(), TURNS)

    assert -1 < found.max_similarity < found.min_similarity <= 1
    assert found.min_shift < TYPICAL_SHIFT


def test_an_unknown_model_has_the_typical_shift() -> None:
    assert min_shift("BAAI/bge-m3") == TYPICAL_SHIFT
    assert min_shift(E5_SMALL.name) == thresholds(E5_SMALL.name).min_shift


def test_too_few_turns_are_refused() -> None:
    with pytest.raises(InputError, match="at least 20 turns, got 2"):
        calibrate(FakeEmbedder(), TURNS[:2])
