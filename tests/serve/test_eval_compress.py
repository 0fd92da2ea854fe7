"""``eval compress`` over small files, with a model that finds long words telling."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.compressor import WordCompressor
from actors.fakes import FakeEmbedder, FakeTokenizer
from pipeline.awake.readings import Chunk, Reading, Values
from pipeline.errors import InputError
from pipeline.evaluate.report import Report
from serve.cli import run as cli
from serve.evaluation import compression

TALK = [
    "We walked along the quiet river on Sunday and watched 3 herons that did not fly away at all.",
    "Our neighbour Mehmet keeps twelve bees hives behind the old chapel and sells very dark honey.",
    "你昨天不是说要去杭州看三个朋友吗，后来到底有没有一起坐船去湖上看晚霞和灯火呢？",
]


class LongWords:
    """A token is a word or sign; its id, and what it tells, is its length."""

    small_word_weight = 1.0
    tokenizer = FakeTokenizer()

    def read(self, text: str) -> Reading:
        spans = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
        return Reading(
            text=text,
            starts=np.array([start for start, _ in spans]),
            ends=np.array([end for _, end in spans]),
            chunks=([end - start for start, end in spans],),
        )

    def values(self, batch: Sequence[Chunk]) -> list[Values]:
        return [np.array(chunk, dtype=np.float32) for chunk in batch]

    def forward(self, batch: Sequence[Chunk]) -> None:
        self.values(batch)


def run(path: Path, *, rates: Sequence[float] = (0.5, 0.6)) -> Report:
    return compression.run(
        path,
        compressor=WordCompressor(LongWords(), tokenizer=FakeTokenizer()),
        model="long words",
        tokenizer=FakeTokenizer(),
        embedder=FakeEmbedder(),
        rates=rates,
        say=lambda _: None,
    )


def written(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    turns = [
        {"speaker": "Ana", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(TALK, 1)
    ]
    sample = {
        "sample_id": "pair",
        "qa": [
            {"question": "How many herons?", "answer": "3", "evidence": ["D1:1"], "category": 4},
            {"question": "Whose hives?", "answer": "Mehmet", "evidence": ["D1:2"], "category": 1},
        ],
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2024", "session_1": turns},
    }
    return written(tmp_path / "talk.json", [sample])


def values(report: Report) -> dict[str, float]:
    return {claim.claim: claim.value for claim in report.claims}


def test_what_is_kept_and_found_at_every_rate_is_claimed(locomo: Path) -> None:
    found = values(run(locomo))

    for rate in (0.5, 0.6):
        assert found[f"kept ratio at {rate} is within two points"] <= 0.03
        assert found[f"numbers kept at {rate}"] == 1.0
        assert found[f"negations kept at {rate}"] == 1.0
        assert found[f"evidence recall @5 at {rate}, 1.0000 uncompressed"] == 1.0
        assert found[f"throughput at {rate} of the bare forward pass"] > 0


def test_only_the_judged_rate_has_a_bar_for_its_evidence(locomo: Path) -> None:
    barred = [
        claim.claim
        for claim in run(locomo).claims
        if claim.claim.startswith("evidence") and claim.bar is not None
    ]

    assert [name.split(",")[0] for name in barred] == [
        f"evidence recall @{k} at 0.6" for k in (5, 10, 20)
    ]


def test_a_file_without_questions_says_so(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": text} for text in TALK]
    path = written(tmp_path / "chat.json", {"messages": rows})

    report = run(path)

    assert report.extra["evidence_recall"] is None
    assert not [name for name in values(report) if name.startswith("evidence")]
    assert json.loads(report.to_json())["config"]["messages"] == 3


def test_texts_that_no_rate_can_be_held_to_are_listed_apart(tmp_path: Path) -> None:
    texts = [TALK[0], TALK[2], "so be it", "abc " * 1_500]
    rows = [{"role": "user", "content": text} for text in texts]

    report = run(written(tmp_path / "chat.json", {"messages": rows}), rates=[0.6])

    assert report.extra["rates"]["0.6"]["apart"] == {  # type: ignore[index,call-overload]  # JSON
        "short": 1,
        "forced_alone_exceeds": 0,
        "too_few_words": 0,
        "over_the_limit": 1,
        "fallbacks": 0,
    }
    assert values(report)["texts apart at 0.6: 1 short, 1 over the limit"] == 2
    assert values(report)["mean kept ratio at 0.6 is within two points"] <= 0.03


@pytest.mark.parametrize("rate", [0.0, 1.0, 1.5])
def test_rates_outside_of_zero_and_one_are_refused(locomo: Path, rate: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        run(locomo, rates=[rate])


@pytest.mark.parametrize("command", ["compress", "locomo"])
def test_the_settings_that_are_named_are_read_before_anything_is_loaded(
    command: str, locomo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "wrong.yaml"
    config.write_text("applications: [{name: slowwave, args: {models: {compresor: x}}}]")

    assert cli(["eval", command, str(locomo), "--config", str(config)]) == 1
    assert "did you mean compressor?" in capsys.readouterr().err


def test_settings_without_a_compressor_leave_nothing_to_measure(
    locomo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "none.yaml"
    config.write_text("applications: [{name: slowwave, args: {models: {compressor: null}}}]")

    assert cli(["eval", "compress", str(locomo), "--config", str(config)]) == 1
    assert "expected a model to measure, got none" in capsys.readouterr().err
