"""``eval decide`` over cases small enough to see, with the baseline and with a scripted model."""

import json
import os
from pathlib import Path

import pytest

from actors.fakes import ScriptedChat
from pipeline.chat import ChatRequest
from pipeline.errors import ConfigError, InputError, ModelError
from pipeline.evaluate.report import Report
from pipeline.settings import DecisionSettings
from serve.cli import run as command
from serve.evaluation.decisions import load, run
from serve.loading import load_decider
from serve.settings import AppSettings, parse

FRIDAY = "2024-03-01T09:00:00+00:00"
MONDAY = "2024-03-04T09:00:00+00:00"
ROWS = [
    ("en", "Ida lives in Bergen.", "Ida moved to Oslo.", "delete", []),
    ("en", "Ida has a boat named Petrel.", "Ida's boat Petrel is 9 m long.", "update", ["Petrel"]),
    ("en", "Ida has a boat.", "Rolf paints walls.", "ignore", []),
    ("zh", "林夏住在杭州。", "林夏搬到了苏州。", "delete", []),
    ("zh", "林夏喜欢喝茶。", "林夏养了一只猫。", "ignore", []),
]


def line(number: int, row: tuple[str, str, str, str, list[str]]) -> str:
    language, target, newer, action, must_keep = row
    case = {
        "id": f"k{number}",
        "language": language,
        "target": {"text": target, "said_at": FRIDAY},
        "candidates": [{"text": newer, "said_at": MONDAY}],
        "action": action,
        "must_keep": must_keep,
    }
    return json.dumps(case, ensure_ascii=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(line(n, row) for n, row in enumerate(ROWS)) + "\n\n", "utf-8")
    return path


def settings(tmp_path: Path, decider: str) -> AppSettings:
    chat = {"model": "fake"} if decider == "chat" else None
    models = {"decider": decider}
    return parse({"home": tmp_path, "models_dir": tmp_path, "models": models, "chat": chat})


def measured(
    file: Path, decider: str = "rules-baseline", chat: ScriptedChat | None = None
) -> Report:
    return run(file, settings=settings(file.parent, decider), chat=chat, say=lambda _: None)


def test_the_baseline_is_measured_by_action_and_language_and_held_to_its_bars(file: Path) -> None:
    report = measured(file)

    document = json.loads(report.to_json())
    assert (document["n"], document["destructive_errors"], document["failed"]) == (5, 0, 0)
    assert document["accuracy"] == 1.0
    assert document["by_action"]["delete"] == {"n": 2, "right": 2, "accuracy": 1.0}
    assert document["by_language"]["zh"] == {
        "n": 2,
        "right": 2,
        "accuracy": 1.0,
        "always_ignore": 0.5,
    }
    assert [each["got"] for each in document["cases"]] == [row[3] for row in ROWS]
    assert [(claim.claim, claim.bar, claim.holds) for claim in report.claims] == [
        ("wrong deletes", 0.0, True),
        ("accuracy in en", 0.7, True),
        ("above always-ignore in en", 0.25, True),
        ("accuracy in zh", 0.7, True),
        ("above always-ignore in zh", 0.25, True),
    ]


def deleting(request: ChatRequest) -> str:
    """Lets whatever is newer replace the target."""
    short = request.user.rpartition("\n# ")[2].splitlines()[1].split(" | ")[0]
    verdicts = [{"id": short, "verdict": "conflicts"}]
    return json.dumps({"verdicts": verdicts, "action": "delete", "text": "", "reason": "newer"})


def test_a_chat_model_gets_figures_without_bars_and_what_it_took(file: Path) -> None:
    report = measured(file, "chat", ScriptedChat(deleting))

    document = json.loads(report.to_json())
    assert (document["accuracy"], document["wrong_deletes"]) == (0.4, 3)
    assert document["destructive_errors"] == 3
    assert document["model_calls"] == 5
    assert document["tokens_in"] > document["tokens_out"] > 0
    assert document["config"]["decider"] == "chat/scripted-chat/1"
    assert {claim.bar for claim in report.claims} == {None}
    assert not report.failed


def test_a_case_whose_call_fails_is_wrong_and_told(file: Path) -> None:
    document = json.loads(measured(file, "chat", ScriptedChat(ModelError("down"))).to_json())

    assert (document["failed"], document["accuracy"]) == (5, 0.0)
    assert {each["reason"] for each in document["cases"]} == {"ModelError: down"}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "file"),
        ("no json", "line 1"),
        (line(1, ROWS[0]).replace('"delete"', '"explode"'), "line 1.action"),
        (line(1, ROWS[0]).replace("+00:00", ""), "line 1.target.said_at"),
        (line(1, ROWS[0]) + "\n{}", "line 2.id"),
    ],
)
def test_a_file_of_another_form_is_refused_by_its_line(
    tmp_path: Path, text: str, field: str
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(text, "utf-8")

    with pytest.raises(InputError) as refused:
        load(path)

    assert refused.value.field == field


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "none.jsonl")


def test_a_decider_that_asks_nobody_is_refused(tmp_path: Path, file: Path) -> None:
    with pytest.raises(ConfigError, match="no section chat"):
        parse({"home": tmp_path, "models_dir": tmp_path, "models": {"decider": "chat"}})
    with pytest.raises(ConfigError, match=r"models\.decider"):
        parse({"home": tmp_path, "models_dir": tmp_path, "models": {"decider": "oracle"}})
    with pytest.raises(ConfigError, match="needs a chat model"):
        measured(file, "chat", None)


def test_the_command_prints_one_line_of_json(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = command(["eval", "decide", str(file), "--json"])

    assert code == 0
    assert json.loads(capfd.readouterr().out)["n"] == 5


@pytest.mark.skipif("SLOWWAVE_TEST_DATA" not in os.environ, reason="SLOWWAVE_TEST_DATA is not set")
def test_the_baseline_holds_its_bars_on_the_shared_cases() -> None:
    path = Path(os.environ["SLOWWAVE_TEST_DATA"]) / "cases" / "decisions.jsonl"

    report = run(path, settings=settings(path.parent, "rules-baseline"), chat=None, say=print)

    assert not report.failed
    assert report.extra["destructive_errors"] == 0


def test_a_decider_of_another_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected rules-baseline or chat, got 'oracle'"):
        load_decider("oracle", settings=DecisionSettings())
