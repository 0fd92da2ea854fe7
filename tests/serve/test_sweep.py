"""A sweep over a tiny conversation with stand-in models: every cell adds up."""

import json
from pathlib import Path

import pytest

from actors.extractor_threads import ThreadedExtractor
from actors.fakes import FakeCompressor, FakeEmbedder, FakeExtractor, FakeTokenizer
from pipeline.errors import InputError
from serve.commands.sweeping import _numbers
from serve.evaluation import locomo, sweep
from serve.evaluation.sweep_place import Known, Models
from serve.walk import WalkSettings

SETTINGS = WalkSettings(
    compress=True, rate=0.6, window_tokens=20, shortterm_tokens=20, model="fake-embedder"
)
SAID = [
    ("Ana", "I moved to Lisbon in March."),
    ("Bo", "My cat is called Biscuit."),
    ("Ana", "我在杭州学过茶道。"),
    ("Bo", "The library closes at nine."),
]
SAMPLE = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": speaker, "dia_id": f"D1:{n}", "text": text}
            for n, (speaker, text) in enumerate(SAID, start=1)
        ],
    },
    "qa": [
        {"question": "What is the cat called?", "evidence": ["D1:2"], "category": 1},
        {"question": "茶道在哪里学的？", "evidence": ["D1:3"], "category": 1},
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([SAMPLE], ensure_ascii=False), encoding="utf-8")
    return path


def models() -> Models:
    return Models(
        embedder=FakeEmbedder(),
        compressor=FakeCompressor(),
        tokenizer=FakeTokenizer(),
        extractor=ThreadedExtractor(FakeExtractor(), threads=2),
        min_shift=0.1,
        max_similarity=0.5,
    )


def test_every_cell_finds_the_evidence_and_counts_what_it_cost(file: Path) -> None:
    samples = locomo.load(file, quick=False)
    lines: list[str] = []

    cells = sweep.run(
        samples, models(), SETTINGS, rates=[0.5, 1.0], thresholds=[2, 500], say=lines.append
    )

    assert [(cell.rate, cell.threshold) for cell in cells] == [
        (0.5, 2),
        (0.5, 500),
        (1.0, 2),
        (1.0, 500),
    ]
    told = sum(FakeTokenizer().count([text for _, text in SAID]))
    for cell in cells:
        assert cell.recall["@10"] == 1.0
        assert cell.output_tokens == told
        assert (cell.entries, cell.missed) == (len(SAID), 0)
    assert [cell.calls for cell in cells if cell.threshold == 500] == [1, 1]
    assert cells[0].calls > 1
    assert cells[2].input_tokens == told > cells[0].input_tokens
    assert len(lines) == 4


def test_a_report_holds_the_six_axes_of_each_cell(file: Path) -> None:
    samples = locomo.load(file, quick=False)
    cells = sweep.run(samples, models(), SETTINGS, rates=[0.5], thresholds=[500], say=print)

    found = json.loads(sweep.report(cells, samples, models(), file).to_json())

    [row] = found["cells"]
    axes = {"recall", "input_tokens", "output_tokens", "total_tokens", "calls", "seconds"}
    assert axes <= set(row)
    assert row["total_tokens"] == row["input_tokens"] + row["output_tokens"]
    assert found["claims"][0]["holds"] is True


def test_what_is_known_is_asked_once_and_its_time_is_counted_again() -> None:
    asked: list[list[str]] = []
    known = Known()

    def ask(texts: list[str]) -> list[str]:
        asked.append(list(texts))
        return [text.upper() for text in texts]

    first = known.of("a", ["x", "y", "x"], ask)
    assert known.lent_s == 0.0
    second = known.of("a", ["y", "z"], ask)
    other = known.of("b", ["x"], ask)

    assert (first, second, other) == (["X", "Y", "X"], ["Y", "Z"], ["X"])
    assert asked == [["x", "y"], ["z"], ["x"]]
    assert known.lent_s > 0.0


def test_a_sweep_over_nothing_is_refused_by_name(file: Path) -> None:
    samples = locomo.load(file, quick=False)

    with pytest.raises(InputError) as refused:
        sweep.run(samples, models(), SETTINGS, rates=[], thresholds=[1], say=print)
    assert refused.value.field == "rates"
    for given in ("", "0.5,x", "2"):
        with pytest.raises(InputError):
            _numbers("rates", given, float, lambda rate: 0 < rate <= 1)
