"""``tasks`` as people and programs call it, against a scripted service."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scripted_server import Answer, Script, scripted

from serve.cli import run


def entry(name: str, text: str, state: str | None, **more: object) -> dict[str, object]:
    plain = {"id": name, "text": text, "kind": "task", "task_state": state}
    return plain | {"said_at": "2025-05-08T12:00:00Z", "superseded_by": None} | more


OPEN = entry("e1", "王芳得买台灯。", "open")
DONE = entry("e2", "Mara needs to send the report.", "done", superseded_by="e5")
FACT = entry("e3", "Mara has a cat.", None, kind="fact")
MOVED = entry("e4", "Submit it on Monday.", None, superseded_by="e9")
SENT = entry("e5", "Mara sent the report.", None, kind="event")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    page = {"entries": [OPEN, DONE, FACT, MOVED, SENT], "cursor": None}
    answers: dict[str, list[Answer | None]] = {
        "GET /v1/collections/ana/entries": [Answer(body=page)],
        "GET /v1/entries/e5": [Answer(body=SENT)],
    }
    with scripted(answers) as script:
        monkeypatch.setenv("SLOWWAVE_URL", script.url)
        yield script


def test_open_tasks_are_listed_by_themselves(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tasks", "ana"]) == 0

    told = capsys.readouterr().out
    assert "王芳得买台灯。" in told
    assert "report" not in told


def test_all_tasks_come_in_order_with_what_closed_them(
    served: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["tasks", "ana", "--state", "all", "--json"]) == 0

    listed = json.loads(capfd.readouterr().out)["tasks"]
    assert [(one["id"], one["task_state"], one["closed_by"]) for one in listed] == [
        ("e1", "open", None),
        ("e2", "done", "Mara sent the report."),
    ]


def test_where_no_task_is_in_the_state_it_says_so(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tasks", "ana", "--state", "dropped"]) == 0

    assert "no such task" in capsys.readouterr().out
