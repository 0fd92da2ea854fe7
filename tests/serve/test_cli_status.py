"""What ``status`` and ``doctor`` show, against a scripted service."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scripted_server import Answer, scripted

from serve.cli import run
from serve.local.ports import choose

COUNTS = {"messages": 2, "pending": 0, "entries": 1, "quarantined": 0, "index_lag": 0}
REPORT = {
    "tenant": "acme",
    "accepted": 2,
    "pending": 0,
    "oldest_pending_age_s": None,
    "extracted": 2,
    "quarantined": 0,
    "dropped": 0,
    "failures": {},
    "fallbacks": {},
    "retrying": {},
    "usage": {"calls": 0, "repairs": 0, "tokens_in": 0, "tokens_out": 0, "refused": 0},
}
ANSWERS: dict[str, list[Answer | None]] = {
    "GET /readyz": [Answer(body={})],
    "GET /v1/ingest": [Answer(body={"tenants": [REPORT]})],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    return tmp_path


def test_status_shows_an_operators_key_ingestion_without_collections(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    denied = Answer(403, {"error": {"type": "AccessError", "message": "no", "field": "key"}})

    with scripted({**ANSWERS, "GET /v1/collections": [denied]}) as script:
        monkeypatch.setenv("SLOWWAVE_URL", script.url)
        code = run(["status"])

    shown = capsys.readouterr().out
    assert code == 0
    assert "acme" in shown
    assert "index lag" not in shown


def test_a_name_cannot_break_or_turn_a_line(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    named = {**COUNTS, "collection": "旅行\u202eabc\nana"}
    script = {**ANSWERS, "GET /v1/collections": [Answer(body={"collections": [named]})]}

    with scripted(script) as service:
        monkeypatch.setenv("SLOWWAVE_URL", service.url)
        run(["status"])

    assert "旅行\\u202eabc\\nana" in capsys.readouterr().out


def test_doctor_names_the_port_that_was_asked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    port = choose().metrics
    monkeypatch.setenv("SLOWWAVE_PORT", str(port))

    run(["doctor", "--quick"])

    assert f"the API would take {port}" in capsys.readouterr().out
