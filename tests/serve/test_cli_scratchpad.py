"""``scratchpad`` and ``restore`` as people and programs call them, against a scripted service."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scripted_server import Answer, Script, scripted

from serve.cli import run

PAD = "/v1/collections/ana/scratchpad"
ITEM = {
    "id": "i1",
    "collection": "ana",
    "version": 3,
    "slot": "profile",
    "text": "安娜住在奥斯陆。",
    "status": "active",
    "said_at": "2025-03-01T12:00:00Z",
    "sources": [],
    "entries": ["e1"],
    "conflicts": ["i2"],
    "superseded_by": None,
    "written_by": "sleep",
    "written_at": "2025-03-02T02:00:00Z",
}
FOUND = {"collection": "ana", "tokens": 9, "items": [ITEM]}
VERSIONS = {"versions": [{"item": ITEM, "why": "extracted", "run": None}]}
ENTRY = {"id": "e1", "text": "Ana lives in Oslo.", "status": "active"}


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    answers: dict[str, list[Answer | None]] = {
        f"GET {PAD}": [Answer(body=FOUND)],
        f"GET {PAD}/i1": [Answer(body=ITEM)],
        f"GET {PAD}/i1/history": [Answer(body=VERSIONS)],
        f"PATCH {PAD}/i1": [Answer(body=ITEM)],
        f"DELETE {PAD}/i1": [Answer(body=ITEM)],
        "POST /v1/entries/e1/restore": [Answer(body=ENTRY)],
    }
    with scripted(answers) as script:
        monkeypatch.setenv("SLOWWAVE_URL", script.url)
        yield script


def test_items_stand_under_their_slot_with_contradictions_marked(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scratchpad", "show", "ana", "--slot", "profile"]) == 0

    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == "profile"
    assert "安娜住在奥斯陆。 contradicted by 1" in shown.out
    assert "1 items, 9 tokens" in shown.err
    assert "slot=profile" in served.asked[0].path


def test_json_is_the_document_of_the_service(
    served: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["scratchpad", "show", "ana", "--json"]) == 0

    assert json.loads(capfd.readouterr().out) == FOUND


def test_an_edit_names_the_version_it_saw_or_the_present_one(served: Script) -> None:
    assert run(["scratchpad", "edit", "ana", "i1", "--text", "Bergen", "--version", "2"]) == 0
    assert run(["scratchpad", "remove", "ana", "i1"]) == 0

    patch, _look, removed = served.asked
    assert (patch.method, patch.headers["If-Match"], patch.body) == (
        "PATCH",
        "2",
        {"text": "Bergen"},
    )
    assert (removed.method, removed.headers["If-Match"]) == ("DELETE", "3")


def test_an_edit_of_nothing_is_refused(served: Script, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scratchpad", "edit", "ana", "i1"]) == 1
    assert "expected one of --text, --slot, --status" in capsys.readouterr().err
    assert served.asked == []


def test_history_and_restore(served: Script, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scratchpad", "history", "ana", "i1"]) == 0
    assert run(["restore", "e1"]) == 0

    shown = capsys.readouterr().out
    assert "extracted" in shown
    assert "Ana lives in Oslo." in shown
