"""Sleep over HTTP: when, how, and the ledger as a file."""

import io
from datetime import timedelta
from typing import Any

import pyarrow.parquet as pq

from actors.ledger_parquet import SCHEMA
from pipeline.messages import TenantId
from pipeline.runs import Trigger
from pipeline.sleep.windows import Schedule
from serve.scheduler import Windows

BEARER = {"Authorization": "Bearer sw_operators-key-of-the-tests-0123456789"}


def _say(house: Any, *texts: str) -> None:
    said = [{"role": "user", "speaker": "Ida", "content": text} for text in texts]
    body = {"messages": said}
    assert house.client.post(
        "/v1/collections/garden/messages", json=body, headers=BEARER
    ).is_success
    house.client.post("/v1/collections/garden/flush", json={}, headers=BEARER)
    house.work()


def test_a_tenant_gets_windows_sees_the_next_one_and_gives_them_up(house: Any) -> None:
    none = house.client.get("/v1/sleep/schedule").json()
    body = {"cron": "0 3 * * *", "zone": "Europe/Oslo", "max_s": 7200, "max_tokens": 500}
    given = house.client.put("/v1/sleep/schedule", json=body).json()
    again = house.client.put("/v1/sleep/schedule", json={"idle_s": 1800}).json()
    dropped = house.client.delete("/v1/sleep/schedule").json()

    assert none == dropped == {"schedule": None, "next": None}
    assert given["next"] == {"start": "2025-06-02T01:00:00Z", "end": "2025-06-02T03:00:00Z"}
    assert given["schedule"] == {**body, "name": "nightly", "idle_s": None, "is_own": True}
    assert (again["schedule"]["zone"], again["next"]) == ("Europe/Oslo", None)


def test_a_schedule_that_could_not_work_is_refused_by_its_field(house: Any) -> None:
    refused = [
        house.client.put("/v1/sleep/schedule", json=body)
        for body in ({}, {"cron": "at three"}, {"cron": "0 3 * * *", "zone": "Mars"})
    ]

    assert [one.status_code for one in refused] == [422, 422, 422]
    assert [one.json()["error"]["field"] for one in refused] == ["cron", "cron", "zone"]


def test_a_run_over_no_kinds_speakers_or_topics_and_a_schedule_in_no_zone_are_refused(
    house: Any,
) -> None:
    refused = [
        house.client.post("/v1/sleep/runs", json={name: []})
        for name in ("kinds", "speakers", "topics")
    ]
    nowhere = house.client.put("/v1/sleep/schedule", json={"cron": "0 3 * * *", "zone": ""})

    assert [one.status_code for one in refused] == [422] * 3
    assert [one.json()["error"]["field"] for one in refused] == ["kinds", "speakers", "topics"]
    assert nowhere.json()["error"]["message"] == "zone: expected at least 1 character, got 0"


def test_a_run_says_its_limits_and_what_began_it(house: Any) -> None:
    body = {"max_s": 60, "max_tokens": 1000, "full": True, "kinds": ["fact"], "wait": True}

    run = house.client.post("/v1/sleep/runs", json=body).json()

    assert (run["trigger"], run["max_tokens"], run["tokens"]) == ("asked", 1000, 0)
    assert (run["deadline"], run["stop"]) == ("2025-06-01T12:01:00Z", None)


def test_the_ledger_of_a_run_is_a_file_of_one_row_per_decision(each_closed: Any) -> None:
    _say(each_closed, "I grow peas behind the house.", "I moved my bees to the lake.")
    run = each_closed.client.post("/v1/sleep/runs", json={"wait": True}, headers=BEARER).json()
    path = f"/v1/sleep/runs/{run['id']}"

    reply = each_closed.client.get(f"{path}/ledger", headers=BEARER)
    told = each_closed.client.get(f"{path}/decisions", headers=BEARER).json()["decisions"]

    table = pq.read_table(io.BytesIO(reply.content))
    (row,) = [one for one in table.to_pylist() if one["kind"] == "decision"]
    assert table.schema.equals(SCHEMA)
    assert len(told) == 1
    assert (row["run"], row["collection"], row["action"]) == (run["id"], "garden", "delete")
    assert row["text_before"] == told[0]["text_before"]
    assert [one["text"] for one in row["candidates"]] == [
        one["text"] for one in told[0]["candidates"]
    ]


def test_what_followed_the_decisions_stands_in_the_ledger_behind_them(each_closed: Any) -> None:
    _say(each_closed, "I grow peas.", "I grow the peas!", "奶奶有一只猫。", "奶奶有一只猫啊")
    run = each_closed.client.post("/v1/sleep/runs", json={"wait": True}, headers=BEARER).json()
    path = f"/v1/sleep/runs/{run['id']}"

    content = each_closed.client.get(f"{path}/ledger", headers=BEARER).content
    told = each_closed.client.get(f"{path}/changes", headers=BEARER).json()["changes"]

    table = pq.read_table(io.BytesIO(content))
    decision, *changes = table.to_pylist()
    assert table.schema.equals(SCHEMA)
    assert (decision["kind"], decision["action"]) == ("decision", "delete")
    shared = ("kind", "version_after", "partner", "reason", "state")
    assert [{name: row[name] for name in shared} for row in changes] == [
        {name: row[name] for name in shared} for row in told
    ]
    assert [row["target"] for row in changes] == [row["subject"] for row in told]
    assert {row["kind"] for row in changes} == {"merge", "item"}
    (gone,) = [row for row in changes if row["partner"] is not None]
    assert gone["text_before"] == gone["text_after"]
    assert "奶奶有一只猫啊" in gone["text_after"]

    each_closed.client.delete(f"/v1/entries/{gone['target']}", headers=BEARER)
    content = each_closed.client.get(f"{path}/ledger", headers=BEARER).content

    assert "奶奶有一只猫啊" not in str(pq.read_table(io.BytesIO(content)).to_pylist())


def test_what_was_erased_is_in_no_ledger_file(each_closed: Any) -> None:
    _say(each_closed, "I grow peas behind the house.", "I moved my bees to the lake.")
    run = each_closed.client.post("/v1/sleep/runs", json={"wait": True}, headers=BEARER).json()
    path = f"/v1/sleep/runs/{run['id']}"
    (told,) = each_closed.client.get(f"{path}/decisions", headers=BEARER).json()["decisions"]

    each_closed.client.delete(f"/v1/entries/{told['target']}", headers=BEARER)
    content = each_closed.client.get(f"{path}/ledger", headers=BEARER).content

    row, *changes = pq.read_table(io.BytesIO(content)).to_pylist()
    assert (row["text_before"], row["text_after"], row["reason"]) == ("", None, "")
    assert all(one["text"] != told["text_before"] for one in row["candidates"])
    assert told["text_before"] not in str(changes)


def test_a_silence_opens_a_window_once_and_only_where_something_is_due(closed: Any) -> None:
    tenant, records, clock = TenantId("default"), closed.records, closed.clock
    records.schedules.set_schedule(tenant, Schedule(idle_s=1800, max_s=600))
    windows = Windows(store=records.sleep, schedules=records.schedules, clock=clock)

    clock.advance(timedelta(hours=1))
    empty = windows.begun()
    _say(closed, "I grow peas behind the house.")
    early = windows.begun()
    clock.advance(timedelta(minutes=31))
    (begun,) = windows.begun()
    runs = [windows.opened(begun), windows.opened(begun)]

    assert (empty, early) == ([], [])
    assert begun.trigger is Trigger.IDLE
    assert runs[0] is not None
    assert runs[0].window_start == clock.now() - timedelta(minutes=1)
    assert runs[1] is None
