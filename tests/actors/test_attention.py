"""Attention between turns: free of distance, robust to long and empty windows."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from actors.attention import EncoderAttention, profile
from pipeline.awake.segment import Rule, Signals, boundaries
from pipeline.errors import ConfigError


@pytest.fixture(scope="module")
def attention(tiny_encoder: str) -> EncoderAttention:
    return EncoderAttention(tiny_encoder)


def test_a_profile_has_one_value_per_turn(attention: EncoderAttention) -> None:
    [values] = attention.profiles([["red apples", "green pears", "我喜欢猫"]])

    assert values is not None
    assert values.shape == (3,)
    assert values.dtype == np.float32
    assert (values > 0).all()


def test_windows_in_a_batch_do_not_change_each_other(attention: EncoderAttention) -> None:
    windows = [["one", "two", "three"], ["a much longer turn", "and its answer"]]

    together = attention.profiles(windows)

    for window, values in zip(windows, together, strict=True):
        [alone] = attention.profiles([window])
        assert values is not None
        assert alone is not None
        np.testing.assert_allclose(values, alone, atol=1e-4)


def test_a_window_longer_than_the_encoder_still_has_a_profile(attention: EncoderAttention) -> None:
    [values] = attention.profiles([["long " * 100, "short", "long " * 60]])

    assert values is not None
    assert values.shape == (3,)


def test_a_window_of_more_turns_than_tokens_has_none(attention: EncoderAttention) -> None:
    assert attention.profiles([["x"] * 200]) == [None]


@pytest.mark.parametrize("window", [[], ["alone"], ["", ""]])
def test_windows_without_a_turn_before_are_neutral(
    attention: EncoderAttention, window: list[str]
) -> None:
    [values] = attention.profiles([window])

    assert values is not None
    assert values.tolist() == [1.0] * len(window)


def test_attention_that_only_decays_with_distance_is_flat() -> None:
    places = np.arange(12)
    decaying = (0.5 ** np.abs(places[:, None] - places[None, :])).astype(np.float32)
    owner = np.repeat(np.arange(4), 3)

    values = profile(decaying, owner, count=4)

    np.testing.assert_allclose(values, 1.0, atol=0.2)


def test_a_turn_that_looks_back_more_than_others_stands_out() -> None:
    even = np.full((9, 9), 0.1, dtype=np.float32)
    even[3:6, 0:3] = 0.4

    values = profile(even, np.repeat(np.arange(3), 3), count=3)

    assert values[1] > 1.2
    assert values[2] < 0.8


def test_masked_tokens_count_for_nothing() -> None:
    even = np.full((6, 6), 0.1, dtype=np.float32)
    even[:, 0] = 9.0

    values = profile(even, np.array([-1, 0, 0, 1, 1, -1]), count=2)

    np.testing.assert_allclose(values, 1.0)


def test_boundaries_are_those_of_attention_that_is_forced_to_be_eager(
    tiny_encoder: str, attention: EncoderAttention
) -> None:
    turns = ["red apples", "green pears", "the train", "我喜欢猫", "a bus", "again a train"]
    reader = AutoTokenizer.from_pretrained(tiny_encoder)
    forced = AutoModel.from_pretrained(tiny_encoder, attn_implementation="eager").eval()
    pieces = [reader(turn, add_special_tokens=False)["input_ids"] for turn in turns]
    ids = [reader.cls_token_id, *itertools.chain.from_iterable(pieces), reader.sep_token_id]
    given = forced(torch.tensor([ids]), output_attentions=True).attentions
    lower = torch.stack(given[: len(given) // 2]).mean((0, 2))[0].detach().numpy()
    owner = np.full(len(ids), -1)
    owner[1:-1] = np.repeat(np.arange(len(turns)), [len(piece) for piece in pieces])
    marks = [i for i, token in enumerate(reader.convert_ids_to_tokens(ids)) if token == "Ġ"]
    owner[marks] = -1

    expected = profile(lower, owner, count=len(turns))
    [found] = attention.profiles([turns])

    assert found is not None
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    vectors = np.eye(len(turns), dtype=np.float32)
    assert boundaries(Signals(vectors=vectors, attention=found), rule=Rule.ATTENTION) == boundaries(
        Signals(vectors=vectors, attention=expected), rule=Rule.ATTENTION
    )


def test_a_folder_without_a_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no encoder at .*empty"):
        EncoderAttention(str(tmp_path / "empty"))
