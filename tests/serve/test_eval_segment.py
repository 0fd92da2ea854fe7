"""``eval segment`` over dialogues small enough to see, with fakes."""

import json
from pathlib import Path

import pytest

from actors.fakes import FakeAttention, FakeCompressor, FakeEmbedder, FakeTokenizer
from pipeline.awake.segment import Rule
from pipeline.errors import ConfigError, InputError
from pipeline.evaluate.report import Report
from serve.commands.evaluation import _rates
from serve.evaluation.segmentation import Choice, Models, choice_of, load_models, run
from serve.settings import parse

CATS = ["red cats sleep here", "red cats eat here", "red cats play here"]
TRAINS = ["blue trains run fast", "blue trains stop there", "blue trains run there"]
DIALOGUES = [
    {"dial_id": 0, "utterances": CATS + TRAINS, "segments": [3, 3]},
    {"dial_id": 1, "utterances": TRAINS + CATS + TRAINS, "segments": [3, 3, 3]},
]
RULES = [
    "attention alone",
    "similarity alone",
    "the paper's rule",
    "similarity, attention and wording",
    "the shipped default",
    "the floor (depth score)",
]


def report(tmp_path: Path, *, window_tokens: int = 512, rates: tuple[float, ...] = ()) -> Report:
    file = tmp_path / "talks.json"
    file.write_text(json.dumps(DIALOGUES))
    models = Models(
        embedder=FakeEmbedder(),
        attention=FakeAttention(),
        tokenizer=FakeTokenizer(),
        compressor=FakeCompressor(),
    )
    choice = Choice(
        rule=Rule.COMBINED, min_shift=0.6, max_similarity=0.5, window_tokens=window_tokens
    )
    return run(file, models=models, choice=choice, rates=rates, say=lambda _: None)


def test_every_rule_and_the_floor_are_measured_in_one_run(tmp_path: Path) -> None:
    document = json.loads(report(tmp_path).to_json())

    assert list(document["rules"]) == RULES
    assert document["rules"]["the shipped default"] == {
        "pk": 0.0,
        "windowdiff": 0.0,
        "f1": 1.0,
        "cuts": 3,
    }
    assert document["config"]["embedder"] == "fake-embedder"
    assert document["config"]["labelled_boundaries"] == 3


def test_the_shipped_default_is_held_against_each_signal_and_the_floor(tmp_path: Path) -> None:
    bars = [claim.claim for claim in report(tmp_path).claims if claim.bar is not None]

    assert bars == [
        f"Pk of the shipped default is at most that of {other}"
        for other in ("attention alone", "similarity alone", "the floor (depth score)")
    ]


def test_whole_dialogues_and_windows_of_a_few_turns_are_both_measured(tmp_path: Path) -> None:
    wide = json.loads(report(tmp_path, window_tokens=512).to_json())
    narrow = json.loads(report(tmp_path, window_tokens=18).to_json())

    assert wide["windows"] == wide["rules"]["the shipped default"]
    assert narrow["windows"]["f1"] == 1.0


def test_windows_that_hold_one_turn_cut_after_each(tmp_path: Path) -> None:
    assert json.loads(report(tmp_path, window_tokens=1).to_json())["windows"]["cuts"] == 13


def test_text_compressed_at_each_rate_is_held_against_the_original(tmp_path: Path) -> None:
    found = report(tmp_path, rates=(0.5, 1.0))

    assert set(json.loads(found.to_json())["compressed"]) == {"0.5", "1.0"}
    whole = [claim for claim in found.claims if "compressed to 1.0" in claim.claim]
    assert [(claim.value, claim.holds) for claim in whole] == [(0.0, True), (0.0, None)]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ([], "dialogues"),
        ({}, "dialogues"),
        ([{"utterances": ["a"]}], "dialogues.0"),
        ([{"utterances": ["a", "b"], "segments": [1]}], "dialogues.0"),
        ([{"utterances": ["a", "b"], "segments": [2, 0]}], "dialogues.0"),
        ([{"utterances": [], "segments": []}], "dialogues.0"),
        (["a"], "dialogues.0"),
    ],
)
def test_a_file_of_another_form_is_refused_by_name(
    tmp_path: Path, document: object, field: str
) -> None:
    file = tmp_path / "talks.json"
    file.write_text(json.dumps(document))

    with pytest.raises(InputError) as refused:
        run(file, models=None, choice=None, rates=(), say=print)  # type: ignore[arg-type]

    assert refused.value.field == field


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "talks.json"
    file.write_text("utterances:")

    with pytest.raises(InputError, match="cannot be read as JSON"):
        run(file, models=None, choice=None, rates=(), say=print)  # type: ignore[arg-type]


def test_models_and_thresholds_come_from_the_settings(tmp_path: Path) -> None:
    fakes = {"embedder": "fake", "tokenizer": "fake", "compressor": "fake"}
    settings = parse(
        {
            "home": tmp_path,
            "models_dir": tmp_path,
            "models": fakes,
            "segmentation": {"max_similarity": 0.4, "min_shift": 0.7},
        }
    )

    models, choice = load_models(settings, compress=False), choice_of(settings)

    assert (models.embedder.model, models.compressor) == ("fake", None)
    assert choice == Choice(
        rule=Rule.COMBINED, min_shift=0.7, max_similarity=0.4, window_tokens=512
    )
    assert load_models(settings, compress=True).compressor is not None


def test_rates_are_numbers_or_none() -> None:
    assert _rates("0.4,0.8") == [0.4, 0.8]
    assert _rates("none") == []
    for wrong in ("many", "0.4,2", "0"):
        with pytest.raises(InputError, match="expected") as refused:
            _rates(wrong)
        assert refused.value.field == "rates"


def test_an_embedder_without_weights_is_refused(tmp_path: Path) -> None:
    settings = parse(
        {
            "home": tmp_path,
            "models_dir": tmp_path,
            "models": {"embedder": str(tmp_path / "none")},
            "segmentation": {"max_similarity": 0.4},
        }
    )

    with pytest.raises(ConfigError, match="embedding model"):
        load_models(settings, compress=False)
