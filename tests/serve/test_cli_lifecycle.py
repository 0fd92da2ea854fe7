"""The commands of memory as a whole, against a scripted service."""

import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scripted_server import Answer, scripted

from serve.cli import run

RECEIPT = {"entries": 1, "messages": 2}
DIFFERENCE = {
    "collection": "ana",
    "kind": "missing point",
    "subject": "entry e1 version 1",
    "detail": "expected point p1, found none",
    "repaired": False,
}
ANSWERS: dict[str, list[Answer | None]] = {
    "DELETE /v1/entries/e1": [Answer(body=RECEIPT)],
    "DELETE /v1/collections/ana": [Answer(body=RECEIPT)],
    "DELETE /v1/collections/ana/conversations/a%2Fb": [Answer(body=RECEIPT)],
    "DELETE /v1/tenants/acme": [Answer(body=RECEIPT)],
    "POST /v1/fsck": [Answer(body={"differences": [DIFFERENCE]}), Answer(body={"differences": []})],
    "GET /v1/retention": [Answer(body={"days": 30})],
    "PUT /v1/retention": [Answer(body={"days": 30})],
    "POST /v1/retention/run": [Answer(body={"redacted": 3})],
    "GET /v1/collections": [Answer(body={"collections": [{"collection": "ana"}]})],
    "POST /v1/collections/ana/reindex": [Answer(body={"points": 7})],
    "POST /v1/collections/ana/import": [Answer(body={"added": {"entries": 2}, "known": 0})],
    "GET /v1/collections/nobody/export": [
        Answer(404, {"error": {"type": "NotFound", "message": "no collection", "field": None}})
    ],
}


@pytest.fixture(autouse=True)
def service(monkeypatch: pytest.MonkeyPatch):
    with scripted({line: list(answers) for line, answers in ANSWERS.items()}) as script:
        monkeypatch.setenv("SLOWWAVE_URL", script.url)
        yield script


@pytest.mark.parametrize(
    "words",
    [
        ["entry", "e1"],
        ["entry", "e1", "--siblings"],
        ["collection", "ana"],
        ["conversation", "ana", "a/b"],
        ["tenant", "acme"],
    ],
)
def test_an_erasure_prints_its_receipt(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["erase", *words, "--yes", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"erased": RECEIPT}


def test_an_erasure_that_nobody_confirmed_does_nothing(
    monkeypatch: pytest.MonkeyPatch, service
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))

    assert run(["erase", "collection", "ana"]) == 130
    assert service.asked == []


def test_fsck_ends_with_one_where_something_differs_and_zero_where_nothing_does(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run(["fsck", "--json"]) == 1
    assert json.loads(capfd.readouterr().out) == {"differences": [DIFFERENCE]}
    assert run(["fsck"]) == 0
    assert "all agrees" in capfd.readouterr().out


def test_retention_sets_the_days_and_redacts(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["retention", "--days", "30", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"days": 30, "redacted": 3}
    assert run(["retention", "--days", "30", "--forever"]) == 1


def test_reindex_takes_every_collection(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["reindex", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"points": {"ana": 7}}


def test_an_import_takes_the_name_of_its_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ana.ndjson").write_bytes(b"{}\n")

    assert run(["import", str(tmp_path / "ana.ndjson"), "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"added": {"entries": 2}, "known": 0}
    assert run(["import", str(tmp_path / "none.ndjson")]) == 1


def test_a_failed_export_leaves_no_file(tmp_path: Path) -> None:
    assert run(["export", "nobody", "-o", str(tmp_path / "x.ndjson")]) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["erase", "conversation", "trip", "..", "--yes"], "conversation"),
        (["erase", "collection", ".", "--yes"], "collection"),
        (["erase", "entry", "..", "--yes"], "entry"),
        (["erase", "tenant", "..", "--yes"], "tenant"),
        (["reindex", ".."], "collection"),
        (["search", "..", "tea"], "collection"),
        (["tenants", "rotate-key", ".."], "tenant"),
        (["quarantine", "drop", ".."], "message"),
    ],
)
def test_a_step_of_a_path_is_refused_before_anything_is_sent(
    words: list[str], field: str, service, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--json"]) == 1

    assert json.loads(capfd.readouterr().out)["error"]["field"] == field
    assert service.asked == []
