"""The command line as people and programs call it, against a scripted service."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scripted_server import Answer, Script, scripted

from serve.cli import run

ENTRY = {
    "id": "e1",
    "collection": "ana",
    "version": 2,
    "text": "Ana lives in Oslo. [she said]",
    "kind": "fact",
    "status": "active",
    "said_at": "2025-05-08T12:00:00Z",
    "written_by": "sleep",
    "written_at": "2025-05-09T12:00:00Z",
}
RUN = {
    "id": "r1",
    "status": "completed",
    "dry_run": False,
    "window_start": "2025-05-09T01:00:00Z",
    "started_at": "2025-05-09T01:00:00Z",
    "finished_at": "2025-05-09T01:00:09Z",
    "totals": {"targets": 1, "update": 0, "delete": 1, "ignore": 0, "model_calls": 1},
    "error": None,
    "undone": False,
    "trigger": "request",
    "deadline": None,
    "max_tokens": None,
    "tokens": 0,
    "attempt": 1,
    "stop": None,
}
NIGHTS = {
    "schedule": {
        "name": "nightly",
        "cron": "0 2 * * *",
        "zone": "Asia/Shanghai",
        "max_s": 14400.0,
        "max_tokens": None,
        "idle_s": None,
        "is_own": True,
    },
    "next": {"start": "2025-05-10T02:00:00+08:00", "end": "2025-05-10T06:00:00+08:00"},
}
DECISION = {
    "collection": "ana",
    "target": "e0",
    "action": "delete",
    "reason": "she moved",
    "state": "applied",
    "note": None,
    "text_before": "Ana lives in Bergen.",
    "text_after": None,
    "candidates": [{"entry": "e1", "version": 1, "similarity": 0.9, "text": "Ana lives in Oslo."}],
    "decider": "rules",
}
COLLECTION = {
    "collection": "ana",
    "messages": 2,
    "pending": 0,
    "entries": 1,
    "quarantined": 0,
    "index_lag": 0,
}
KEY = {
    "id": "a1b2",
    "label": "default",
    "scopes": ["ingest", "read"],
    "created_at": "2025-05-08T12:00:00Z",
    "expires_at": None,
    "revoked_at": None,
    "last_used_at": None,
}
TENANT = {
    "name": "acme",
    "created_at": "2025-05-08T12:00:00Z",
    "disabled_at": None,
    "quotas": {"messages_per_minute": 60, "stored_entries": None, "lag_messages": 100},
    "keys": [KEY],
}
REPORT = {
    "tenant": "acme",
    "accepted": 3,
    "pending": 1,
    "oldest_pending_age_s": 2.5,
    "extracted": 1,
    "quarantined": 1,
    "dropped": 0,
    "failures": {"[bold]cut short": 1},
    "fallbacks": {"the model failed": 2},
    "retrying": {},
    "usage": {"calls": 0, "repairs": 0, "tokens_in": 0, "tokens_out": 0, "refused": 0},
}
HELD = {
    "collection": "ana",
    "message": {"id": "m1", "sequence": 4, "content": "我喜欢[b]苹果"},
    "state": "held",
    "reason": "[bold]cut short",
    "quarantined_at": "2025-05-08T12:00:00Z",
    "settled_at": None,
    "settled_by": None,
}
DROPPED = {**HELD, "state": "dropped", "settled_at": "2025-05-09T12:00:00Z", "settled_by": "key"}
SAID = {"speaker": "安娜", "content": "我住在[b]奥斯陆。"}
ANSWERS: dict[str, list[Answer | None]] = {
    "GET /v1/ingest": [Answer(body={"tenants": [REPORT]})],
    "GET /v1/tenants": [Answer(body={"tenants": [TENANT]})],
    "POST /v1/tenants": [Answer(201, {"tenant": TENANT, "secret": "sw_secret"})],
    "POST /v1/tenants/acme/keys": [Answer(201, {"secret": "sw_secret", "key": KEY})],
    "POST /v1/tenants/acme/disable": [Answer(body=TENANT)],
    "POST /v1/tenants/acme/enable": [Answer(body=TENANT)],
    "PATCH /v1/tenants/acme/quotas": [Answer(body=TENANT)],
    "GET /v1/quarantine": [Answer(body={"items": [HELD]})],
    "POST /v1/quarantine/m1/retry": [Answer(body={**DROPPED, "state": "retried"})],
    "POST /v1/quarantine/m1/drop": [Answer(body=DROPPED)],
    "GET /readyz": [Answer()],
    "GET /v1/collections": [Answer(body={"collections": [COLLECTION]})],
    "GET /v1/collections/ana": [Answer(body=COLLECTION)],
    "POST /v1/collections/ana/search": [
        Answer(body={"hits": [{"entry": ENTRY, "score": 0.5, "explain": None, "around": []}]})
    ],
    "POST /v1/search": [
        Answer(body={"hits": [{"entry": ENTRY, "score": 0.5, "explain": None, "around": [SAID]}]})
    ],
    "POST /v1/collections/ana/context": [
        Answer(
            body={
                "text": "[1] 她住在奥斯陆。",
                "tokens": 9,
                "parts": {},
                "entries": ["e1"],
                "conflicts": [{"reason": "tentative", "question": "现在确定了吗？"}],
            }
        )
    ],
    "POST /v1/collections/ana/answer": [
        Answer(
            body="event: context\ndata: {}\n\nevent: answer\ndata: "
            + json.dumps({"text": "奥斯陆[1]。", "citations": [{"tag": 1, "text": "[1] 奥斯陆"}]})
            + "\n\n"
        )
    ],
    "POST /v1/collections/ana/messages": [Answer(202, {"sequences": [1], "messages": []})],
    "POST /v1/collections/ana/flush": [Answer(202, {"through": 2, "searchable": None})],
    "POST /v1/collections/ana/conversations/tea/end": [
        Answer(202, {"conversation": "tea", "through": 2})
    ],
    "GET /v1/entries/e1/history": [
        Answer(body={"versions": [{"entry": ENTRY, "why": "merged", "run": "r1"}]})
    ],
    "POST /v1/sleep/runs": [Answer(202, {**RUN, "finished_at": None})],
    "GET /v1/sleep/runs": [Answer(body={"runs": [RUN]})],
    "GET /v1/sleep/runs/r1": [Answer(body=RUN)],
    "GET /v1/sleep/runs/r1/decisions": [Answer(body={"decisions": [DECISION]})],
    "GET /v1/sleep/schedule": [Answer(body=NIGHTS)],
    "PUT /v1/sleep/schedule": [Answer(body=NIGHTS)],
    "POST /v1/sleep/runs/r1/undo": [
        Answer(body={"items": [{"entry": "e0", "done": False, "refused": "edited since"}]})
    ],
    "POST /v1/sleep/runs/r1/redo": [
        Answer(body={"items": [{"entry": "e0", "done": True, "refused": None}]})
    ],
}
EVERY_COMMAND = [
    ["status"],
    ["search", "ana", "where"],
    ["context", "ana", "哪里", "--budget", "100"],
    ["answer", "ana", "哪里", "--store", "--as-of", "2025"],
    ["history", "e1"],
    ["flush", "ana"],
    ["flush", "ana", "--no-wait"],
    ["end", "ana", "tea"],
    ["sleep"],
    ["sleep", "schedule", "show"],
    ["sleep", "schedule", "next"],
    ["sleep", "schedule", "set", "--cron", "0 2 * * *", "--zone", "Asia/Shanghai"],
    ["runs"],
    ["undo", "r1"],
    ["redo", "r1"],
    ["version"],
    ["models", "list"],
    ["tenants", "list"],
    ["tenants", "create", "acme", "--scope", "read", "--lag-messages", "9"],
    ["tenants", "rotate-key", "acme", "--grace-s", "60"],
    ["tenants", "quota", "acme", "--messages-per-minute", "0"],
    ["tenants", "disable", "acme"],
    ["tenants", "enable", "acme"],
    ["quarantine", "list", "--collection", "ana"],
    ["quarantine", "retry", "--all"],
    ["quarantine", "drop", "m1"],
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SLOWWAVE_URL", raising=False)
    return tmp_path


@pytest.fixture
def served(home: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    with scripted({line: list(answers) for line, answers in ANSWERS.items()}) as script:
        monkeypatch.setenv("SLOWWAVE_URL", script.url)
        yield script


def slowwave(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "serve.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def written(path: Path, *messages: dict[str, object]) -> Path:
    path.write_text("\n".join(json.dumps(each) for each in messages), encoding="utf-8")
    return path


@pytest.mark.parametrize("words", EVERY_COMMAND, ids=lambda words: " ".join(words))
def test_json_is_one_document_on_stdout_and_nothing_else(served: Script, words: list[str]) -> None:
    done = slowwave(*words, "--json")

    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout), dict)


@pytest.mark.parametrize("words", EVERY_COMMAND, ids=lambda words: " ".join(words))
def test_people_get_text(
    served: Script, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 0

    shown = capsys.readouterr().out
    assert shown.strip()
    assert not shown.lstrip().startswith("{")


def test_sleep_shows_the_reason_and_both_texts(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["sleep", "--dry-run", "--collection", "ana"])

    shown = capsys.readouterr().out
    assert "she moved" in shown
    assert "Ana lives in Bergen." in shown
    assert "Ana lives in Oslo." in shown
    assert served.asked[0].body == {"dry_run": True, "collection": "ana"}


def test_a_limit_of_nothing_reaches_the_service_which_refuses_it(served: Script) -> None:
    run(["sleep", "--for", "0s", "--min-similarity", "0"])

    assert served.asked[0].body == {"max_s": 0, "min_similarity": 0}


def test_a_refused_undo_says_why(served: Script, capsys: pytest.CaptureFixture[str]) -> None:
    run(["undo", "r1"])

    assert "edited since" in capsys.readouterr().out


def test_text_in_brackets_is_shown_as_it_is(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["search", "ana", "where"])

    assert "Ana lives in Oslo. [she said]" in capsys.readouterr().out


def test_where_no_service_runs_it_is_said_in_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["search", "ana", "where"])

    told = capsys.readouterr().err
    assert code == 3
    assert told == (
        f"error: No Slowwave service runs for {home / 'home'}; start one with `slowwave up`.\n"
    )


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["search", "ana", "where"], 3, "StoreError"),
        (["serach"], 2, "UsageError"),
        (["search", "ana"], 2, "UsageError"),
        (["search", "ana", "x", "--limit", "0"], 2, "UsageError"),
        (["ingest", "missing.jsonl"], 1, "InputError"),
        (["up", "--config", "missing.yaml"], 1, "ConfigError"),
        (["models", "install", "gpt-9"], 1, "ConfigError"),
        (["demo", "--examples", "missing"], 1, "ConfigError"),
    ],
)
def test_an_error_in_json_is_one_document_too(
    home: Path, words: list[str], code: int, kind: str
) -> None:
    done = slowwave(*words, "--json")

    assert done.returncode == code
    error = json.loads(done.stdout)["error"]
    assert error["type"] == kind
    assert error["message"]


def test_a_search_sends_everything_that_narrows_it(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--also", "per", "--filter", '{"speaker": "安娜"}', "--as-of", "2025-05-08"]
    more = ["--min-score", "0.5", "--neighbours", "1", "--no-rerank"]

    assert run(["search", "ana", "where", *words, *more]) == 0

    sent = served.asked[-1].body
    assert (sent["collections"], sent["filter"]) == (["ana", "per"], {"speaker": "安娜"})
    assert (sent["as_of"], sent["min_score"]) == ("2025-05-08", 0.5)
    assert (sent["neighbours"], sent["rerank"]) == (1, False)
    assert "| 安娜: 我住在[b]奥斯陆。" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_a_filter_that_is_no_object_is_refused_here(
    served: Script, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert run(["search", "ana", "where", "--filter", text]) == 1
    assert "filter" in capsys.readouterr().err
    assert served.asked == []


def test_an_empty_argument_is_named(served: Script, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "ana", "  "]) == 1
    assert "query" in capsys.readouterr().err


def test_a_wrong_setting_is_named_before_anything_starts(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = home / "wrong.yaml"
    config.write_text("applications: [{name: slowwave, args: {windw: {capacity_tokens: 1}}}]")

    assert run(["up", "--config", str(config)]) == 1
    assert "windw" in capsys.readouterr().err
    assert not (home / "home").exists()


def test_down_where_nothing_runs_is_no_error(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["down"]) == 0
    assert "No Slowwave service runs" in capsys.readouterr().out


def test_help_comes_at_once() -> None:
    spent = os.times()
    done = slowwave("--help")
    after = os.times()

    cpu_s = after.children_user + after.children_system
    cpu_s -= spent.children_user + spent.children_system
    assert done.returncode == 0
    assert "ingest" in done.stdout
    assert cpu_s < 1.5


def test_a_file_is_sent_in_batches_with_the_same_keys_each_time(served: Script, home: Path) -> None:
    said = [{"role": "user", "content": f"line {n}", "said_at": 1_700_000_000} for n in range(450)]
    file = written(home / "ana.jsonl", *said, said[0])

    assert run(["ingest", str(file)]) == 0
    assert run(["ingest", str(file), "--no-wait"]) == 0

    sent = [asked for asked in served.asked if asked.path.endswith("/messages")]
    sizes = [len(asked.body["messages"]) for asked in sent]
    ids = [each["message_id"] for asked in sent[:3] for each in asked.body["messages"]]
    assert sizes == [200, 200, 51] * 2
    assert len(set(ids)) == 451
    assert [a.headers["Idempotency-Key"] for a in sent[:3]] == [
        a.headers["Idempotency-Key"] for a in sent[3:]
    ]


def test_a_line_put_before_others_does_not_change_their_ids(served: Script, home: Path) -> None:
    first = {"role": "user", "content": "第一"}
    later = {"role": "user", "content": "后来"}
    run(["ingest", str(written(home / "ana.jsonl", later))])
    run(["ingest", str(written(home / "ana.jsonl", first, later))])

    bodies = [
        asked.body["messages"] for asked in served.asked if asked.body and "messages" in asked.body
    ]
    assert bodies[0][0]["message_id"] == bodies[1][1]["message_id"]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"role": "wizard", "content": "x"}, "role"),
        ({"role": "user", "content": " "}, "content"),
        ({"role": "user", "content": "x", "said_at": "someday"}, "said_at"),
    ],
)
def test_a_file_with_one_bad_message_is_refused_whole(
    served: Script,
    home: Path,
    bad: dict[str, object],
    named: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = written(home / "ana.jsonl", {"role": "user", "content": "fine"}, bad)

    assert run(["ingest", str(file)]) == 1

    told = capsys.readouterr().err
    assert f"messages[1].{named}" in told or f"line 2.{named}" in told
    assert served.asked == []


def test_doctor_names_what_is_lacking(home: Path) -> None:
    config = home / "profile.yaml"
    config.write_text(
        "applications: [{name: slowwave, args: {models: {embedder: /nowhere/model,"
        " tokenizer: /nowhere/model, compressor: null, attention: null}}}]"
    )

    done = slowwave("doctor", "--config", str(config), "--json")

    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert "model: embedder" in found["lacks"]
    assert {"python", "packages", "disk", "memory", "ports"} <= {c["name"] for c in found["checks"]}


def test_a_new_tenants_key_is_printed_and_its_quotas_are_sent(
    served: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tenants", "create", "acme", "--scope", "read", "--stored-entries", "0"]

    assert run(words) == 0

    assert "sw_secret" in capsys.readouterr().out
    assert served.asked[-1].body == {
        "name": "acme",
        "scopes": ["read"],
        "quotas": {"stored_entries": None},
    }


@pytest.mark.parametrize("words", [["retry"], ["drop"], ["drop", "m1", "--all"]])
def test_quarantine_asks_which_messages_are_meant(served: Script, words: list[str]) -> None:
    assert run(["quarantine", *words]) == 1

    assert not served.asked
