"""``recalls`` and ``why`` as people and programs call them, against a scripted service."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scripted_server import Answer, Script, scripted

from serve.cli import run
from serve.client import Client
from serve.recall_client import RecallClient

SHOWN = {"entry": "e1", "collection": "ana", "version": 2, "score": 0.75}
OTHER = {"entry": "e2", "collection": "ana", "version": 1, "score": None}
RECALL = {
    "id": "abc",
    "kind": "context",
    "created_at": "2025-06-01T12:00:00Z",
    "collections": ["ana"],
    "query": None,
    "query_hash": "f" * 64,
    "entries": [SHOWN, OTHER],
    "tokens": 31,
    "seconds": 0.0125,
}
WORDS = {**RECALL, "id": "def", "query": "猫在哪里？"}
WHY = {
    "recall": WORDS,
    "reasons": [
        {
            "recalled": SHOWN,
            "text": "一只灰猫",
            "now": {"status": "active", "version": 3},
            "messages": [{"speaker": "王芳", "content": ""}],
        },
        {"recalled": OTHER, "text": None, "now": None, "messages": []},
    ],
}
KEEPING = {"query": "hash", "days": 30}


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    answers: dict[str, list[Answer | None]] = {
        "GET /v1/recalls": [
            Answer(body={"recalls": [WORDS, RECALL]}),
            Answer(body={"recalls": []}),
        ],
        "GET /v1/recalls/def": [Answer(body=WHY)],
        "GET /v1/recalls/settings": [Answer(body=KEEPING)],
        "PUT /v1/recalls/settings": [Answer(body={"query": "text", "days": 30})],
        "POST /v1/search": [Answer(body={"recall": "abc", "hits": []})],
    }
    with scripted(answers) as script:
        monkeypatch.setenv("SLOWWAVE_URL", script.url)
        yield script


def test_recalls_are_listed_with_their_question_or_its_digest(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["recalls", "ana", "--before", "zzz"]) == 0

    told = capsys.readouterr()
    assert "猫在哪里？" in told.out
    assert "#ffffffffffff" in told.out
    assert "12.5" in told.out
    assert "its hash, for 30 days" in told.err
    assert served.asked[-1].path == "/v1/recalls?limit=20&collection=ana&before=zzz"


def test_what_is_kept_is_changed_by_what_is_named(
    served: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["recalls", "--keep", "text", "--json"]) == 0

    document = json.loads(capfd.readouterr().out)
    assert document == {"keeping": {"query": "text", "days": 30}, "recalls": [WORDS, RECALL]}


def test_why_shows_what_was_returned_and_what_is_left_of_it(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", "def"]) == 0

    told = capsys.readouterr().out
    assert "0.750  一只灰猫" in told
    assert "王芳: (redacted)" in told
    assert "(erased)" in told
    assert "erased since" in told


def test_a_recall_without_a_name_is_refused(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", " "]) == 1

    assert "recall: expected some text" in capsys.readouterr().err


def test_a_search_of_the_client_carries_its_recall(served: Script) -> None:
    with Client(served.url) as client:
        found = RecallClient(client).search(["ana", "per"], "cat", {"limit": 3})

    assert found == {"recall": "abc", "hits": []}
