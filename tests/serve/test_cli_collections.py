"""``collections settings`` as people and programs call it, against a scripted service."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scripted_server import Answer, Script, scripted

from serve.cli import run

FOUND = {
    "collection": "ana",
    "settings": {"triggers": ["tokens", "turns"], "turns": 4, "compression": False},
    "in_force": {"triggers": ["tokens", "turns"], "turns": 4, "compression": False, "rate": 0.6},
}
PATH = "/v1/collections/ana/settings"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    answers: dict[str, list[Answer | None]] = {
        f"GET {PATH}": [Answer(body=FOUND)],
        f"PATCH {PATH}": [Answer(body=FOUND)],
    }
    with scripted(answers) as script:
        monkeypatch.setenv("SLOWWAVE_URL", script.url)
        yield script


def test_what_is_set_stands_beside_what_holds(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["collections", "settings", "ana"]) == 0

    rows = capsys.readouterr().out.splitlines()
    [rate] = [row.split() for row in rows if row.split()[:1] == ["rate"]]
    [compression] = [row.split() for row in rows if row.split()[:1] == ["compression"]]
    assert rate == ["rate", "-", "0.6"]
    assert compression == ["compression", "off", "off"]
    assert any("tokens, turns" in row for row in rows)


def test_json_is_the_document_of_the_service(
    served: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["collections", "settings", "ana", "--json"]) == 0

    assert json.loads(capfd.readouterr().out) == FOUND


def test_settings_are_sent_as_what_they_are(served: Script, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_text("只提取事实。\n", encoding="utf-8")
    given = ["triggers=tokens, turns", "turns=4", "compression=off", f"prompt=@{prompt}"]
    words = [word for each in given for word in ("--set", each)]

    assert run(["collections", "settings", "ana", *words, "--unset", "rate"]) == 0

    assert served.asked[0].method == "PATCH"
    assert served.asked[0].body == {
        "triggers": ["tokens", "turns"],
        "turns": 4,
        "compression": False,
        "prompt": "只提取事实。\n",
        "rate": None,
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--set", "rate"], "expected KEY=VALUE"),
        (["--set", "rate=1", "--unset", "rate"], "set by the same command"),
        (["--set", "prompt=@nowhere.md"], "cannot be read as text"),
    ],
)
def test_what_means_nothing_is_refused_before_it_is_sent(
    served: Script, words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["collections", "settings", "ana", *words]) == 1

    assert why in capsys.readouterr().err
    assert served.asked == []
